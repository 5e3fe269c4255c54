"""Import of responses with their judgments: both go in, or it is said what is missing."""

import json
from pathlib import Path

import pytest

from study import Study, import_file
from study.errors import InputError


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


SIDE_BY_SIDE = "question,answer,llm_score,human_score\nQ1,A1,80,90\nQ2,A2,10,\nQ2,A3,30,40\n"


def test_responses_and_judgments_are_imported(tmp_path: Path, study: Study) -> None:
    summary = import_file(study, written(tmp_path, SIDE_BY_SIDE), construct="QR")
    lines = "\n".join(summary.lines())
    assert "2 queries, 3 responses, 6 scores added" in lines


@pytest.mark.parametrize("form", ["side by side", "rows", "nested"])
def test_judgments_on_no_known_construct_are_refused_and_not_dropped(
    tmp_path: Path, study: Study, form: str
) -> None:
    text, name = SIDE_BY_SIDE, "t.csv"
    if form == "rows":
        text = "question,answer,annotator,rating\nQ1,A1,kim,5\nQ1,A1,gpt-4o,4\n"
    if form == "nested":
        row = {"question": "Q1", "answer": "A1", "judge": {"label": "good", "reason": "so"}}
        rows = [
            row | {"human": {"label": "good"}},
            row | {"question": "Q2", "human": {"label": "bad"}},
        ]
        text, name = "\n".join(map(json.dumps, rows)), "t.jsonl"
    with pytest.raises(InputError, match=r"--construct KEY .* or --as responses"):
        import_file(study, written(tmp_path, text, name))
    summary = import_file(study, written(tmp_path, text, name), importer="responses")
    assert any("left out" in line.casefold() for line in summary.lines())


def test_a_judgment_a_row_is_imported_with_its_response(tmp_path: Path, study: Study) -> None:
    text = "question,answer,annotator,rating\nQ1,A1,kim,50\nQ1,A1,gpt-4o,40\nQ2,A2,kim,30\n"
    summary = import_file(study, written(tmp_path, text), construct="QR")
    assert "2 queries, 2 responses, 3 scores added" in "\n".join(summary.lines())


def test_a_construct_in_the_names_is_the_studys(tmp_path: Path, study: Study) -> None:
    text = "question,answer,llm_QR,human_question_relevance\nQ1,A1,80,90\n"
    import_file(study, written(tmp_path, text))
    unknown = "question,answer,llm_style,human_style\nQ1,A1,80,90\n"
    with pytest.raises(InputError, match="judgments on 'style', which is not a construct"):
        import_file(study, written(tmp_path, unknown))


def test_texts_beside_responses_are_no_judgments(tmp_path: Path, study: Study) -> None:
    text = "question,answer,human_remark\n" + "".join(
        f"Q{i},A{i},A long remark on the answer number {i}\n" for i in range(12)
    )
    summary = import_file(study, written(tmp_path, text))
    assert "human_remark" in "\n".join(summary.lines())
