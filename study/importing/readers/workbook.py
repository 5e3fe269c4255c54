"""Excel workbooks (.xlsx): the rows of the first sheet that has a table."""

import warnings
from collections.abc import Iterator
from datetime import date, datetime, time
from functools import lru_cache
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from study.errors import Fault, InputError, StudyError
from study.importing.readers.cells import title_above
from study.importing.readers.input_file import InputFile, Record
from study.text import abbreviate, quoted_names, shorten

BLANK_ROWS = "blank rows skipped"
FORMULAS = "formulas, of which the values that were saved with them are read"

# Files of a few recognitions of one workbook, or of two that are joined.
_KEPT = 4
# Rows that tell whether a sheet has scores, and where its header is.
_SHOWN = 200
_WORKBOOK = "xl/workbook.xml"


class Sheet(NamedTuple):
    """The table of a sheet."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[Any, ...]], ...]
    """Number of the row, as the sheet has it, and its cells."""
    others: tuple[str, ...]
    """Further sheets with tables, which are not read."""
    later: bool
    """Whether it is not the first of them, which has no scores."""
    unsaved: tuple[tuple[int, str], ...]
    """Row and column of formulas that were saved without their values."""
    blank: int
    formulas: int


def is_workbook(path: Path) -> bool:
    """Whether a ZIP archive is a workbook, whatever it is called."""
    try:
        with ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except (BadZipFile, OSError):
        return False


def header(source: InputFile) -> tuple[str, ...]:
    """Return the column names, those of the first row of the sheet that is not blank."""
    return _sheet(source).columns


def sheets(source: InputFile) -> tuple[str, tuple[str, ...]]:
    """Return the name of the sheet that is read, and those of further ones with tables."""
    sheet = _sheet(source)
    return sheet.name, sheet.others


def records(source: InputFile) -> Iterator[Record | Fault]:
    """Read the rows; numbers stay numbers, dates become texts, blank cells are None.

    Raises
    ------
    StudyError
        openpyxl is not installed.
    InputError
        The workbook has no table, or cannot be read.
    """
    sheet = _sheet(source)
    report = source.report
    for name, count in ((BLANK_ROWS, sheet.blank), (FORMULAS, sheet.formulas)):
        if count:
            report.rules[name] = count
    if sheet.others:
        why = ", the first one with a table of scores" if sheet.later else ""
        line = (
            f"the sheet {sheet.name!r} is read{why}; other sheets with tables are not: "
            f"{quoted_names(map(repr, sheet.others))}. To read one of them, save it as CSV UTF-8."
        )
        if line not in report.warnings:
            report.warnings.append(line)
    unsaved = dict(sheet.unsaved)
    for number, cells in sheet.rows:
        if number in unsaved:
            yield Fault(
                "has a formula whose value was not saved with the workbook.",
                "Open the workbook in Excel or LibreOffice and save it.",
                number,
                unsaved[number],
            )
        else:
            yield Record(number, dict(zip(sheet.columns, cells, strict=True)))
    source.advance(len(sheet.rows), len(sheet.rows))


def _sheet(source: InputFile) -> Sheet:
    state = source.path.stat()
    return _read(source.path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=_KEPT)
def _read(path: Path, changed: int, size: int) -> Sheet:
    """The table of a file, which is recognized before it is read."""
    del changed, size
    try:
        import openpyxl
    except ImportError:
        raise StudyError(
            f"{path.name} is an Excel workbook, which takes openpyxl to read: pip install "
            "openpyxl, or save it as CSV UTF-8 (in Excel: Save As)."
        ) from None
    try:
        with warnings.catch_warnings():
            # On styles and extensions, which are not read.
            warnings.simplefilter("ignore")
            values, formulas = (
                openpyxl.load_workbook(path, read_only=True, data_only=only)
                for only in (True, False)
            )
            try:
                return _chosen(path, values, formulas)
            finally:
                values.close()
                formulas.close()
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001  (what a damaged workbook raises is not documented)
        fault = Fault(
            f"the workbook can't be read: {shorten(str(error).partition(chr(10))[0], 200)}",
            "Open it in Excel or LibreOffice and save it again, or as CSV UTF-8.",
        )
        raise InputError(path.name, [fault]) from None


def _chosen(path: Path, values: Any, formulas: Any) -> Sheet:
    """The first visible sheet with a table; a hidden one where there is no other."""
    by_name = {sheet.title: sheet for sheet in values.worksheets}
    in_order = sorted(by_name, key=lambda name: by_name[name].sheet_state != "visible")
    found: dict[str, list[tuple[int, list[Any]]]] = {}
    for name in in_order:
        rows = _rows(by_name[name])
        if len([row for row in rows if any(cell is not None for cell in row[1])]) > 1:
            found[name] = rows
    if not found:
        fault = Fault(
            "no sheet has a row with the names of columns and a row below it.",
            "Save the workbook again with its table.",
        )
        raise InputError(path.name, [fault])
    first = next(iter(found))
    name = first
    if len(found) > 1:
        name = next((n for n, rows in found.items() if not _is_summary(rows)), first)
    visible = [n for n in found if by_name[n].sheet_state == "visible"]
    others = tuple(other for other in visible if other != name)
    return _table(path, name, found[name], _rows(formulas[name]), others, later=name != first)


def _is_summary(rows: list[tuple[int, list[Any]]]) -> bool:
    """Whether a sheet has neither scores whose scorers are evident nor responses."""
    # Recognition reads workbooks by this module.
    recognition = import_module("study.importing.score_columns.recognition")
    filled = [row for _, row in rows if any(cell is not None for cell in row)]
    return bool(recognition.is_summary(filled[:_SHOWN]))


def _rows(sheet: Any) -> list[tuple[int, list[Any]]]:
    # Some programs save a wrong extent of the sheet.
    sheet.reset_dimensions()
    rows = sheet.iter_rows(values_only=True)
    return [(number, [_cell(c) for c in row]) for number, row in enumerate(rows, start=1)]


def _cell(cell: Any) -> Any:
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer():
        # A workbook has no whole numbers of their own.
        return int(cell)
    if isinstance(cell, str) and not cell.strip():
        return None
    return cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell)


def _table(
    path: Path,
    name: str,
    rows: list[tuple[int, list[Any]]],
    formulas: list[tuple[int, list[Any]]],
    others: tuple[str, ...],
    *,
    later: bool,
) -> Sheet:
    first = next(place for place, (_, row) in enumerate(rows) if any(c is not None for c in row))
    width = max(place + 1 for _, row in rows for place, cell in enumerate(row) if cell is not None)
    filled = [
        (number, tuple([*row, *[None] * (width - len(row))][:width]))
        for number, row in rows[first:]
    ]
    title = title_above([(number, row) for number, row in filled[:_SHOWN]])
    if title is not None:
        raise InputError(path.name, [title])
    columns = _columns(path, filled[0][1], filled[0][0])
    written = dict(formulas)
    unsaved: dict[int, str] = {}
    saved = 0
    kept = []
    for number, row in filled[1:]:
        pairs = zip_longest(row, written.get(number, [])[:width])
        for place, (cell, formula) in enumerate(pairs):
            if isinstance(formula, str) and formula.startswith("=") and cell != formula:
                saved += cell is not None
                if cell is None:
                    unsaved.setdefault(number, columns[place])
        if any(cell is not None for cell in row) or number in unsaved:
            kept.append((number, row))
    return Sheet(
        name,
        columns,
        tuple(kept),
        others,
        later,
        tuple(unsaved.items()),
        len(filled) - 1 - len(kept),
        saved,
    )


def _columns(path: Path, names: tuple[Any, ...], row: int) -> tuple[str, ...]:
    columns = tuple(
        f"column {place}" if name is None else str(name).strip()
        for place, name in enumerate(names, start=1)
    )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        faults = [
            Fault(f"the column {abbreviate(name)} occurs {columns.count(name)} times.",
                  "Rename or remove all but one.", row)
            for name in twice
        ]  # fmt: skip
        raise InputError(path.name, faults)
    if all(isinstance(name, int | float) for name in names):
        fault = Fault(
            f"the first row has values ({', '.join(map(abbreviate, columns[:3]))}) in place of "
            "names of columns.",
            "Add a row with the names above it, such as human and llm.",
            row,
        )
        raise InputError(path.name, [fault])
    return columns
