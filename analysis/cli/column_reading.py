"""Reading the named columns of a file, with the row of every fault."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.cli.column_options import NamedColumns, parts

if TYPE_CHECKING:
    from pandas import DataFrame

    from analysis.core.named_columns import ColumnNames
    from analysis.core.scales import Scale
    from study.importing.readers.records import RecordCells
    from study.importing.readers.source import RecordSource


WHITE_SPACE = "white space around ids, queries and systems left out"


def read_named_columns(
    path: Path,
    columns: NamedColumns,
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
) -> DataFrame:
    """Read the named columns of a file as a long table of scores.

    `attrs["summary"]` has lines on what was accepted by a rule or left out.

    Raises
    ------
    InputError
        With every fault of the file: its row, its column and the remedy.
    TableError
        A column is missing or has two purposes.
    """
    import pandas as pd

    from analysis.core.errors import TableError
    from analysis.core.named_columns import KEPT, long_scores
    from analysis.core.table_checks import missing_columns
    from study.errors import Fault, InputError
    from study.importing.import_report import ImportSummary
    from study.importing.readers.records import Reader
    from study.importing.readers.source import RecordSource

    if not (columns.judge and columns.human):
        absent = "--human" if columns.judge else "--judge"
        raise TableError(
            str(path), [f"name the columns of judges and of raters; {absent} COLUMN is missing"]
        )
    source = RecordSource(path)
    present = source.head.columns
    judge, human = _names(columns.judge, present), _names(columns.human, present)
    values = [name for names in (judge, human) for name in _flat(names)]
    identifying = {
        name: column
        for name in ("id", "query", "system", "construct")
        if (column := getattr(columns, name)) is not None
    }
    if faults := missing_columns(present, [*identifying.values(), *values]):
        raise TableError(str(path), faults)
    kept = [n for n in KEPT if n in present and n not in (*values, *identifying.values())]
    reader = Reader(source, _fields(identifying, kept), reserved=values.__contains__)
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    words: set[tuple[str, int]] = set()
    report = source.report
    last: RecordCells | None = None
    for cells in reader:
        if isinstance(cells, Fault):
            report.count_row(cells.row)
            report.faults.append(cells)
            continue
        last = cells
        report.count_row(cells.number)
        row, in_words = _row(cells, identifying, values, kept, source)
        rows.append(row)
        words.update((column, cells.number) for column in in_words)
        numbers.append(cells.number)
    if not rows and not report.faults:
        report.fault("has no rows.", "Give at least one.")
    _note_repeated(rows, numbers, identifying, source)
    _note_summary(last, source)
    if not report.faults:
        # A column that is named for two purposes is once in the frame; `long_scores` refuses it.
        names = dict.fromkeys([*identifying.values(), *values, *kept])
        wide = pd.DataFrame(rows, columns=list(names), dtype=object).astype(
            dict.fromkeys(values, "float64")
        )
        frame = long_scores(wide, judge, human, **identifying)
        _note_outside(frame, numbers, scales, scorer_scales, source)
        _note_words(frame, numbers, words, values, scales, scorer_scales, source)
    if report.faults:
        in_order = sorted(report.faults, key=lambda fault: fault.row or 0)
        raise InputError(str(path), in_order, report.notes)
    frame.attrs["summary"] = ImportSummary.of(report, source.path.name, "table").lines()[1:]
    return frame


def _fields(identifying: Mapping[str, str], kept: Sequence[str]) -> dict[str, tuple[str, ...]]:
    fields: dict[str, tuple[str, ...]] = {name: (name,) for name in kept}
    return fields | {name: (column,) for name, column in identifying.items()}


def _row(
    cells: RecordCells,
    identifying: Mapping[str, str],
    values: Sequence[str],
    kept: Sequence[str],
    source: RecordSource,
) -> tuple[dict[str, Any], list[str]]:
    """Cells by column, and the columns with a word for pass or fail."""
    row: dict[str, Any] = {}
    for name, column in identifying.items():
        row[column] = written = cells.words(name)
        if written is not None and isinstance(cells.raw(name), float):
            # One id is 1 or 1.0: pandas makes floats of a column in which some are missing.
            row[column] = written.removesuffix(".0")
        elif written is not None and written != written.strip():
            row[column] = written.strip()
            source.report.rules[WHITE_SPACE] += 1
        if name != "system" and not (row[column] or "").strip():
            source.report.fault("is blank.", "Fill it in.", cells.number, column)
    for column in kept:
        row[column] = cells.key(column) if column == "domain" else cells.whole_number(column)
    scores = {column: cells.score(column, column) for column in values}
    row |= {column: value for column, (value, _) in scores.items()}
    return row, [column for column, (_, word) in scores.items() if word]


def _note_repeated(
    rows: Sequence[Mapping[str, Any]],
    numbers: Sequence[int],
    identifying: Mapping[str, str],
    source: RecordSource,
) -> None:
    """Report a row with the id (and construct) of an earlier one, or its id and another query."""
    if "id" not in identifying:
        return
    first: dict[tuple[Any, ...], int] = {}
    of_id: dict[str, tuple[str, int]] = {}
    for number, row in zip(numbers, rows, strict=True):
        if "query" in identifying:
            here = row[identifying["query"]]
            query, above = of_id.setdefault(row[identifying["id"]], (here, number))
            if query != here:
                source.report.fault(
                    f"the response {row[identifying['id']]!r} is one to the query {here!r} here, "
                    f"and to {query!r} in row {above}.",
                    "Give each response an id that no other query's response has.",
                    number,
                    identifying["id"],
                )
                continue
        key = tuple(row[identifying[name]] for name in ("id", "construct") if name in identifying)
        before = first.setdefault(key, number)
        if before != number and key[0]:
            source.report.fault(
                f"{key[0]!r} is also in row {before}, while a row is one response.",
                "Keep one of them, or name a column that differs with --id.",
                number,
                identifying["id"],
            )


_SUMMARIES = {"average", "avg", "mean", "median", "total", "sum", "std", "overall", "count"}


def _note_summary(last: RecordCells | None, source: RecordSource) -> None:
    """Report a last row that sums up the others, as spreadsheets have it."""
    if last is None:
        return
    for column, cell in last.written.items():
        if isinstance(cell, str) and cell.strip().rstrip(":").casefold() in _SUMMARIES:
            source.report.fault(
                f"{cell!r} in the last row names a summary of the others, which is not a response.",
                "Remove the row.",
                last.number,
                column,
            )


def _note_outside(
    frame: DataFrame,
    numbers: Sequence[int],
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
    source: RecordSource,
) -> None:
    """Report each value outside the declared scale; `frame` repeats the rows for each column.

    Where most values of a scorer are outside, one fault names the scale that they look like.
    """
    from analysis.core.likely_scales import looks_like

    row_of = frame.assign(number=list(numbers) * (len(frame) // len(numbers)))
    for key, rows in row_of.groupby(["scorer", "construct"], sort=False):
        scorer, construct = map(str, key) if isinstance(key, tuple) else (str(key), "")
        scale = scorer_scales.get((scorer, construct)) or scales.get(construct)
        if scale is None:
            continue
        own = f"{scorer}:{construct}"
        outside = rows[(rows["value"] < scale.min) | (rows["value"] > scale.max)]
        present, likely = rows["value"].dropna(), looks_like(rows["value"])
        if likely and len(outside) > len(present) / 2:
            source.report.fault(
                f"{outside['value'].iloc[0]:g} for {construct} by {scorer!r} is outside {scale}, "
                f"as are {len(outside)} of {len(present)} values of this scorer.",
                f"Its scale is probably {likely}: add --scale {shlex.quote(f'{own}={likely}')}.",
                int(outside["number"].iloc[0]),
            )
            continue
        for value, number in zip(outside["value"], outside["number"], strict=True):
            source.report.fault(
                f"{value:g} for {construct} by {scorer!r} is outside {scale}.",
                f"Correct it, or declare the scorer's own scale: --scale {own}=MIN:MAX.",
                int(number),
            )


def _note_words(
    frame: DataFrame,
    numbers: Sequence[int],
    words: set[tuple[str, int]],
    values: Sequence[str],
    scales: Mapping[str, Scale],
    scorer_scales: Mapping[tuple[str, str], Scale],
    source: RecordSource,
) -> None:
    """Report words for pass or fail on a scale that does not have them."""
    from study.importing.readers.verdict_words import beyond_pass_and_fail, declare_two_points

    listed = zip(frame["scorer"], frame["construct"], frame["scorer_kind"], strict=True)
    for position, (scorer, construct, kind) in enumerate(listed):
        scale = scorer_scales.get((scorer, construct)) or scales.get(construct)
        column, number = values[position // len(numbers)], numbers[position % len(numbers)]
        if scale is not None and (column, number) in words:
            problem = beyond_pass_and_fail(scale.min, scale.max)
            if problem:
                remedy = declare_two_points(scorer, construct, kind)
                source.report.fault(f"{problem}.", remedy, number, column)


def _names(texts: Sequence[str], present: Sequence[str]) -> ColumnNames:
    """Columns, or columns by construct where texts are CONSTRUCT=COLUMN."""
    from analysis.core.errors import TableError

    by_construct: dict[str, list[str]] = {}
    plain = []
    for text in texts:
        construct, column = parts(text, present)
        if construct is None:
            plain.append(column)
        else:
            by_construct.setdefault(construct, []).append(column)
    if plain and by_construct:
        raise TableError(
            "table", [f"name the construct of every column; {plain[0]!r} is without one"]
        )
    return by_construct or plain


def _flat(names: ColumnNames) -> list[str]:
    if isinstance(names, Mapping):
        return [column for of_construct in names.values() for column in of_construct]
    return [names] if isinstance(names, str) else list(names)
