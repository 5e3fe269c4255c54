"""The fields of Label Studio's own templates for comparisons and rankings need no option."""

from pathlib import Path

from study import Study
from study.importing.file_import import import_file
from tests.annotate_ui.label_studio.export_builder import annotation, result, written


def test_the_templates_for_comparisons_and_rankings_are_understood(
    study: Study, tmp_path: Path
) -> None:
    compared = {
        "id": 1,
        "data": {"prompt": "Q?", "answer1": "One.", "answer2": "Two."},
        "annotations": [
            {
                **annotation(1, 5),
                "result": [
                    {"from_name": "pw", "type": "pairwise", "value": {"selected": "right"}},
                ],
            }
        ],
    }
    items = [{"id": f"i{n}", "title": f"T{n}", "body": f"Text {n}."} for n in range(2)]
    ranked = {
        "id": 2,
        "data": {"prompt": "R?", "items": items},
        "annotations": [
            {**annotation(2, 5), "result": [result("rank", "ranker", {"rank": ["i1", "i0"]})]}
        ],
    }
    import_file(study, written(tmp_path, compared), controls={"pw": "AC"})
    import_file(study, written(tmp_path, ranked), controls={"rank": "CC"})
    table = study.preference_table().set_index("construct")
    assert table["value"].to_dict() == {"AC": 1, "CC": 1}
    assert table["response_b"].to_dict() == {"AC": "task-1/b", "CC": "task-2/i1"}


def test_a_question_comes_before_a_prompt(study: Study, tmp_path: Path) -> None:
    both = {"question": "Q?", "prompt": "You are a helper. Q?", "response": "A."}
    path = written(tmp_path, {"id": 1, "data": both, "annotations": [annotation(1, 5, QR=5)]})
    import_file(study, path)
    assert study.score_table()["value"].tolist() == [5]
