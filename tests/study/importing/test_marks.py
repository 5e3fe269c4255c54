"""Marks in JSON lines: an export comes back as it was, and faults are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from study import Study
from study.errors import InputError
from study.export.study_export import export_study
from study.importing.file_import import import_file

RESPONSE = {"query_id": "q", "query": "When?", "response": "At 8. At 20.", "system": "a"}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def marks(*parts: tuple[int, int], **other: Any) -> dict[str, Any]:
    places = [{"start": start, "end": end} for start, end in parts]
    row = {"query_id": "q", "system": "a", "construct": "CC", "scorer": "anna", "marks": places}
    return {**row, **other}


@pytest.fixture
def filled(any_study: Study, tmp_path: Path) -> Study:
    import_file(any_study, lines(tmp_path / "responses.jsonl", RESPONSE))
    return any_study


def test_an_export_of_marks_comes_back(filled: Study, tmp_path: Path) -> None:
    given = lines(tmp_path / "given.jsonl", marks((6, 12)), marks(scorer="ben"))
    assert import_file(filled, given).added == {"sets of marks": 2}
    export_study(filled, tmp_path / "out")
    other = Study.create(tmp_path / "other")
    import_file(other, tmp_path / "out" / "responses.csv")
    import_file(other, tmp_path / "out" / "marks.jsonl")
    assert other.marks_table().equals(filled.marks_table())
    assert list(other.marks_table()["marked"]) == [0, 1, 0, 0]
    other.close()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([marks((0, 99))], "has 12 characters"),
        ([marks((3, 3))], "is empty"),
        ([marks((0, 5)), marks((6, 12))], r"column marks: ranges \(\(6, 12\),\) for"),
        ([marks((0, 5), construct="XX")], "no construct 'XX'"),
        ([marks((0, 5), system="b")], "not in the study"),
        ([marks((0, 5), scorer_kind="judge")], "scorer_kind"),
        ([marks(marks=[{"start": 0}])], "column marks"),
        ([marks(marks=None)], "marks: is blank"),
    ],
)
def test_faults_are_named(
    filled: Study, tmp_path: Path, rows: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        import_file(filled, lines(tmp_path / "faulty.jsonl", *rows))
    assert filled.marks_table().empty
