"""Exports in the short forms, as version 1.23 writes them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from study import Study
from study.errors import InputError, StudyError
from study.importing.file_import import import_file


def record(annotation: int, user: Any, task: int = 1, **other: Any) -> dict[str, Any]:
    return {
        "question": f"Question {task}?",
        "answer": f"Answer {task}.",
        "model": "m1",
        "id": task,
        "annotator": user,
        "annotation_id": annotation,
        "created_at": f"2026-01-01T1{annotation}:00:00Z",
        "updated_at": f"2026-01-01T1{annotation}:00:00Z",
        "lead_time": 3.5,
        **other,
    }


def stars(number: Any) -> list[dict[str, Any]]:
    return [{"rating": number}]


def written(folder: Path, form: str, *records: dict[str, Any]) -> Path:
    """Write JSON_MIN, or a CSV with texts that are JSON where a cell is no plain value."""
    path = folder / f"export.{form}"
    if form == "json":
        path.write_text(json.dumps(records), encoding="utf-8")
        return path
    columns = sorted({name for row in records for name in row})
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, quoting=csv.QUOTE_NONNUMERIC)
        table.writeheader()
        for row in records:
            table.writerow(
                {n: json.dumps(c) if isinstance(c, list | dict) else c for n, c in row.items()}
            )
    return path


@pytest.mark.parametrize("form", ["json", "csv"])
def test_results_of_controls_are_recognized(study: Study, tmp_path: Path, form: str) -> None:
    path = written(
        tmp_path,
        form,
        record(1, 5, quality=stars(7), verdict="good", comment="nice"),
        record(2, 6, quality=stars(10), verdict={"choices": ["good", "bad"]}),
        record(3, 5, task=2, quality=[{"number": 3}], verdict="bad"),
        record(4, 5, quality=stars(1), verdict="bad"),
        record(5, None, task=3) | {"annotation_id": None},
    )
    done = import_file(
        study,
        path,
        controls={"quality": "AC", "verdict": "QR"},
        ranges={"quality": (0, 10)},
        values={"good": 100, "bad": 0},
        columns={"model": "system"},
        raters={"6": "anna"},
    )
    scores = study.score_table().set_index(["scorer", "construct", "response_id"])
    assert scores["value"].dropna().to_dict() == {
        ("ls-5", "AC", "task-1"): 10,
        ("ls-5", "QR", "task-1"): 0,
        ("anna", "AC", "task-1"): 100,
        ("ls-5", "AC", "task-2"): 30,
        ("ls-5", "QR", "task-2"): 0,
    }
    assert scores.loc[("anna", "QR", "task-1"), "missing_reason"] == "no_number"
    assert done.added["responses"] == 3
    assert done.added["outputs"] == 3
    assert any("does not contain skipped tasks" in warning for warning in done.warnings)
    assert not import_file(
        study, path, controls={"quality": "AC", "verdict": "QR"}, ranges={"quality": (0, 10)},
        values={"good": 100, "bad": 0}, columns={"model": "system"}, raters={"6": "anna"},
    ).added  # fmt: skip


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        (record(1, "ada@example.org", QR=[{"number": 5}]), "is not the number of a user"),
        (
            record(1, 5, QR=50),
            "column QR: the column 'QR' has .*50.*leave it out with --control QR=",
        ),
    ],
    ids=["e-mail", "bare-number"],
)
def test_what_is_ambiguous_is_refused(
    study: Study, tmp_path: Path, form: str, row: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        import_file(study, written(tmp_path, form, row))
    assert "example.org" not in (study.folder / "study.db").read_bytes().decode("latin-1")


def test_a_field_with_the_name_of_a_control_is_renamed_in_a_csv(
    study: Study, tmp_path: Path
) -> None:
    row = record(1, 5, QR=[{"number": 50}], comment="of the rater", _data_QR="of the task")
    row["id"] = "own-id"
    import_file(study, written(tmp_path, "csv", row))
    scores = study.score_table()
    assert scores[["response_id", "value"]].values.tolist() == [["own-id", 50]]


def test_columns_of_another_format_are_renamed_in_the_file(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "responses.csv"
    path.write_text("query,response,model\nQ,R,m\n")
    with pytest.raises(StudyError, match=r"no effect.*rename its columns"):
        import_file(study, path, columns={"model": "system"})
    with pytest.raises(InputError, match=r"no task has the field 'modell'.*Did you mean 'model'"):
        import_file(
            study, written(tmp_path, "json", record(1, 5, QR=[{"number": 50}])),
            columns={"modell": "system"},
        )  # fmt: skip


def test_plain_numbers_are_read_in_both_forms_where_their_control_is_named(
    study: Study, tmp_path: Path
) -> None:
    """As programs write an export again, without the objects around its numbers."""
    for form in ("json", "csv"):
        path = written(tmp_path, form, record(1, 5, AC=85), record(2, 6, AC=40.5))
        import_file(study, path, controls={"AC": "AC"})
        assert sorted(study.score_table()["value"]) == [40.5, 85]
    odd = written(tmp_path, "json", record(1, 5, AC=True))
    with pytest.raises(InputError, match="else export the project as JSON") as refused:
        import_file(study, odd, controls={"AC": "AC"})
    assert "with --control AC=AC" not in str(refused.value)


def test_numbers_with_a_point_in_their_columns_are_read(study: Study, tmp_path: Path) -> None:
    row = record(1, "5.0", quality=stars(7)) | {"annotation_id": 1.0, "id": "3.0"}
    controls, ranges = {"quality": "QR"}, {"quality": (1.0, 10.0)}
    summary = import_file(study, written(tmp_path, "csv", row), controls=controls, ranges=ranges)
    assert summary.added["scores"] == 1


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"annotator": "a@b.org"}, "'a@b.org' is not the number of a user"),
        ({"annotation_id": "first"}, "the annotation_id 'first' is not a number"),
        ({"annotation_id": ""}, "it has values of quality, and no annotation_id. Export the"),
    ],
)
def test_a_record_that_cannot_be_read_is_the_fault_and_not_the_option(
    study: Study, tmp_path: Path, cells: dict[str, Any], problem: str
) -> None:
    path = written(tmp_path, "csv", record(1, 5, quality=stars(7)) | cells)
    with pytest.raises(InputError) as caught:
        import_file(study, path, controls={"quality": "QR"}, ranges={"quality": (1.0, 10.0)})
    assert problem in str(caught.value)
    assert "has no result" not in str(caught.value)


@pytest.mark.parametrize("odd", [{"a": 1}, [1]], ids=["object", "list"])
def test_an_id_that_is_no_number_is_a_fault(study: Study, tmp_path: Path, odd: Any) -> None:
    path = written(tmp_path, "json", record(1, 5, quality=stars(7)) | {"id": odd})
    with pytest.raises(InputError, match=r"row 1, column item_id: .* is not an id"):
        import_file(study, path, controls={"quality": "QR"}, ranges={"quality": (1.0, 10.0)})


def test_a_field_that_has_the_name_of_a_construct_is_left_out(study: Study, tmp_path: Path) -> None:
    path = written(tmp_path, "csv", record(1, 5, quality=stars(4), AC=80))
    controls = {"quality": "QR", "AC": ""}
    summary = import_file(study, path, controls=controls, ranges={"quality": (1.0, 5.0)})
    assert summary.added["scores"] == 1
