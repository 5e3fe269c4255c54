"""Values of passages in an export of Label Studio are relevance judgments."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge.metrics.relevance_judgments import read_relevance
from study import Study
from study.errors import InputError
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from tests.ccrs_command import in_process

PASSAGES = [{"document": "d1", "text": "One."}, {"document": "d2", "text": "Two."}]


def task(*annotations: Any, **data: Any) -> dict[str, Any]:
    """Return a task as Label Studio exports it."""
    return {
        "id": 1,
        "data": {"query_id": "q", "query": "?", "passages": PASSAGES, **data},
        "annotations": [*annotations],
    }


def given(*grades: Any, control: str = "relevance", **more: Any) -> dict[str, Any]:
    """Return an annotation with a value for each passage."""
    result = [
        {"from_name": f"{control}_{n}", "to_name": f"p_{n}", **one} for n, one in enumerate(grades)
    ]
    return {"id": 2, "completed_by": 5, "was_cancelled": False, "result": result, **more}


def choice(*words: str) -> dict[str, Any]:
    return {"type": "choices", "value": {"choices": [*words]}}


def number(value: float) -> dict[str, Any]:
    return {"type": "number", "value": {"number": value}}


def write(folder: Path, *tasks: Any) -> Path:
    file = folder / "export.json"
    file.write_text(json.dumps(tasks), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "annotations",
    [
        [given(number(2), number(0))],
        [given(choice("2"), choice("0"))],
        [given({"value": {"rating": 2}}, {"value": {"rating": 0}})],
        [given(number(1), number(1)), given(number(2), number(0), ground_truth=True)],
        [given(number(2), number(0)), given(number(1), number(1), was_cancelled=True)],
        [given(number(2), number(0)), given(number(2), number(0), completed_by=6)],
    ],
)
def test_values_of_passages_are_grades_of_documents(tmp_path: Path, annotations: list[Any]) -> None:
    overall = {"from_name": "quality", "type": "rating", "value": {"rating": 4}}
    annotations[0]["result"].append(overall)
    file = write(tmp_path, task(*annotations), task(query_id="unrated"))
    assert read_relevance(file) == {"q": {"d1": 2, "d2": 0}}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([task(given(choice("Good"), number(0)))], "row 1: the grade 'Good' of 'd1' for the query"),
        (
            [task(given(number(2)), given(number(1)))],
            "row 1: 'd1' has the grades 2 and 1 for the query 'q'. Keep one of them. In Label "
            "Studio, mark the annotation that counts as ground truth.",
        ),
        (
            [task(given(number(1)), given(number(1), control="useful"))],
            "passages have values of relevance and useful.",
        ),
        ([task(given(number(1)), passages=["One."])], "relevance_0 is of a passage that has no id"),
        ([task(given(number(1), number(1)), passages=PASSAGES[:1])], "relevance_1 is of a passage"),
        ([task(given(number(1)), query_id=None)], "row 1: the data of the task have no query_id"),
        ([task(given(number(1)), passages="One.")], "have no one list of passages, contexts"),
        ([{"relevance_0": 1}], "row 1: is not a task of a Label Studio export with its data"),
        ([task()], "has no relevance judgments"),
        ([task(given(choice("1", "2")))], "the grade ['1', '2'] of 'd1'"),
    ],
)
def test_faults_name_task_value_and_remedy(tmp_path: Path, tasks: list[Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_relevance(write(tmp_path, *tasks))
    assert message in str(error.value)


def test_an_export_measures_the_rankings_of_a_study(study: Study, tmp_path: Path) -> None:
    passages = tuple(PassageRow.model_validate(passage) for passage in PASSAGES[::-1])
    row = ResponseRow(query_id="q", query="?", system="A", response="One.", passages=passages)
    import_rows(study, [LocatedRow(1, row)], source="test", sha256="1", importer="responses")
    file = write(tmp_path, task(given(choice("Relevant"), choice("No"))))
    words = ("measure", study.folder, "--metrics", "RR", "--qrels", file)
    done = in_process(*words, "--value", "Relevant=1", "--value", "No=0")
    assert done.returncode == 0, done.stderr
    assert "give the word its number with --value Relevant=NUMBER" in in_process(*words).stderr
    done = in_process(*words, "--value", "Relevant=1", "--value", "No=0", "--value", "Yes=1")
    assert "no grade is 'Yes'. Correct or leave out --value Yes=NUMBER" in done.stderr
    # The relevant document is the second one of the ranking.
    assert study.score_table()["value"].tolist() == [0.5]


def test_an_import_names_the_command_that_reads_values_of_passages(
    study: Study, tmp_path: Path
) -> None:
    file = write(tmp_path, task(given(number(1)), response="One.", system="A"))
    done = in_process("import", study.folder, file)
    assert done.returncode != 0
    assert "`ccrs measure STUDY --metrics retrieval --qrels FILE` reads them" in done.stderr
