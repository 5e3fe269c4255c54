"""Excel workbooks as they are saved: numbers, words, dates, several sheets, formulas."""

import shlex
import sys
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import openpyxl
import pytest

from study import InputError, StudyError
from study.importing.readers import workbook
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from tests.ccrs_command import in_process

N = 24
PEOPLE = [int(v) for v in np.random.default_rng(3).integers(1, 6, N)]
JUDGE = [min(5, v + place % 2) for place, v in enumerate(PEOPLE)]

Rows = list[list[Any]]
Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Return a function that saves sheets as a workbook and returns its path."""

    def saved(name: str = "table.xlsx", **sheets: Rows) -> Path:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        path = tmp_path / name
        book.save(path)
        return path

    return saved


def cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of each row."""
    return [r.cells for r in RecordSource(path).records() if isinstance(r, Record)]


def scores() -> Rows:
    rows: Rows = [["id", "question", "llm", "human"]]
    return rows + [
        [f"r{n}", f"What is it {n}?", j, h]
        for n, (j, h) in enumerate(zip(JUDGE, PEOPLE, strict=True))
    ]


def test_numbers_texts_and_dates(save: Save) -> None:
    path = save(
        Sheet1=[
            ["id", "when", "at", "score", "word", "passed"],
            [1, date(2026, 1, 5), datetime(2026, 1, 5, 10, 30), 4.5, "NA", True],
            [None, None, None, None, None, None],
            ["2", None, None, 3.0, " ", False],
        ]
    )
    source = RecordSource(path)
    assert source.form == "workbook"
    assert source.head.columns == ("id", "when", "at", "score", "word", "passed")
    first, second = cells(path)
    assert first == {
        "id": 1, "when": "2026-01-05", "at": "2026-01-05 10:30:00", "score": 4.5, "word": "NA",
        "passed": True,
    }  # fmt: skip
    assert (second["id"], second["score"], second["word"]) == ("2", 3, None)
    numbers = [r.number for r in source.records() if isinstance(r, Record)]
    assert numbers == [2, 4]


def test_the_only_sheet_with_a_table_is_read(save: Save) -> None:
    path = save(Notes=[["Ratings of January"]], Scores=[[], ["llm", "human"], [1, 2]])
    assert cells(path) == [{"llm": 1, "human": 2}]
    assert RecordSource(path).head.columns == ("llm", "human")


def test_further_sheets_with_tables_are_named(save: Save) -> None:
    path = save(First=[["a"], [1]], Second=[["b"], [2]])
    source = RecordSource(path)
    assert [r.cells for r in source.records() if isinstance(r, Record)] == [{"a": 1}]
    assert "'Second'" in source.report.warnings[0]


def test_formulas_are_read_by_their_saved_values_only(save: Save) -> None:
    path = save(Sheet=[["llm", "human"], [4, "=1+2"], [3, 3]])
    fault = next(r for r in RecordSource(path).records() if not isinstance(r, Record))
    assert (fault.row, fault.column) == (2, "human")
    assert "formula" in fault.problem


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "a"], [1, 2]], "occurs 2 times"),
        ([[1, 2], [3, 4]], "in place of names of columns"),
        ([["a", "b"]], "no sheet has a row"),
    ],
)
def test_faults_of_a_sheet(save: Save, rows: Rows, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(RecordSource(save(Sheet=rows)).records())


def test_a_damaged_workbook(tmp_path: Path) -> None:
    broken = tmp_path / "broken.xlsx"
    with ZipFile(broken, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook")
    with pytest.raises(InputError, match="save it again"):
        list(RecordSource(broken).records())


def test_without_openpyxl_a_line_says_how(save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(Sheet=[["a"], [1]])
    workbook._read.cache_clear()
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(StudyError, match="pip install openpyxl, or save it as CSV UTF-8"):
        list(RecordSource(path).records())


def test_the_commands_read_a_workbook(save: Save, tmp_path: Path) -> None:
    path = save("people and judge.xlsx", Sheet1=scores())
    report = in_process("report", path, "--text")
    assert report.returncode == 0, report.stderr
    assert f"llm compared with human: {N} responses" in report.stdout
    advice = in_process("doctor", path)
    assert advice.returncode == 0, advice.stderr
    command = advice.stdout.partition("Next:   ")[2].splitlines()[0]
    assert in_process(*shlex.split(command)[1:], "--text").returncode == 0
    checked = in_process("check", path, "--scale", "1:5", "--require", "order_responses=yes")
    assert checked.returncode in (0, 1), checked.stderr
    long = [["response_id", "scorer", "scorer_kind", "construct", "value"]]
    for name, kind, values in (("llm", "judge", JUDGE), ("anna", "human", PEOPLE)):
        long += [[f"r{n}", name, kind, "score", value] for n, value in enumerate(values)]
    assert in_process("report", save("long.xlsx", Sheet1=long), "--text").returncode == 0


def test_a_word_among_numbers_is_named_with_its_row(save: Save) -> None:
    rows = scores()
    rows[3][2] = "#DIV/0!"
    done = in_process("report", save(Sheet1=rows), "--judge", "llm", "--human", "human", "--text")
    assert done.returncode == 2
    assert "row 4" in done.stderr
    assert "#DIV/0!" in done.stderr


def test_a_study_imports_responses_of_a_workbook(save: Save, tmp_path: Path) -> None:
    rows = [["query", "response", "system"]]
    rows += [[f"What is {n}?", f"It is {n}.", "a"] for n in range(3)]
    study = tmp_path / "study"
    assert in_process("init", study).returncode == 0
    done = in_process("import", study, save(Sheet1=rows))
    assert done.returncode == 0, done.stderr
    assert "3" in done.stdout
