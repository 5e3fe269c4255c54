"""Which columns of a table are those of judges and of raters, from their names and contents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.cli.column_options import NamedColumns

if TYPE_CHECKING:
    from study.importing.readers.source import RecordSource

_JUDGE = {"judge", "llm", "gpt", "claude", "gemini", "llama", "mistral", "qwen"}
_HUMAN = {"human", "humans", "rater", "annotator", "expert", "people", "person", "manual"}
_FILLERS = {"score", "scores", "rating", "ratings", "value", "label", "grade"}
_IDENTIFYING = {
    "id": ("response_id", "id"),
    "query": ("query_id", "question_id", "query", "question", "prompt", "user_input", "input"),
    "system": ("system", "model"),
    "construct": ("construct",),
}
# Rows whose cells decide whether a column contains numbers.
_ROWS = 200


def recognized_columns(path: Path) -> NamedColumns | None:
    """Return the columns of judges and raters; None for a table that names its scorers itself.

    Raises
    ------
    TableError
        The table has columns of numbers whose meaning their names do not decide; the message has
        the command to type.
    """
    from analysis.core.errors import TableError
    from study.importing.readers.source import RecordSource

    source = RecordSource(path)
    if source.head.form == "json document" and not isinstance(source.document, list):
        return None
    columns = source.head.columns
    numeric = _numeric(source)
    if _names_scorers(columns, numeric):
        return None
    identifying = _identifying(columns)
    standard = {name for names in _IDENTIFYING.values() for name in names} | _OTHER_FIELDS
    measured = [name for name in numeric if name.casefold() not in standard]
    judges = [name for name in measured if _is(name, _JUDGE) and not _is(name, _HUMAN)]
    raters = [name for name in measured if _is(name, _HUMAN) and not _is(name, _JUDGE)]
    unclear = [name for name in measured if name not in judges and name not in raters]
    if not (judges or raters) or len(measured) < 2:
        return None
    pairs = _by_construct(judges, raters)
    if unclear:
        problem = f"it is not clear whether {_quoted(unclear)} contain scores, and whose"
    elif not (judges and raters):
        problem = f"no column of numbers is clearly that of a {'rater' if judges else 'judge'}"
    elif pairs is None:
        problem = "it is not clear which columns of judges and raters belong together"
    elif "construct" in identifying:
        problem = "a response may have several rows, one for each construct"
    elif "id" in identifying and not _unique(source, identifying["id"]):
        problem = f"the column {identifying.pop('id')!r} does not identify a row"
    else:
        return _with(pairs, identifying)
    shown = pairs or (tuple(judges), tuple(raters))
    open_to = tuple(unclear[:1]) or ("COLUMN",)
    example = _with((shown[0] or open_to, shown[1] or open_to), identifying)
    raise TableError(
        str(path),
        [
            f"{problem}. Name the columns of each judge and each rater, for example: "
            f"ccrs report {shlex.quote(str(path))} {example.options()}"
        ],
    )


def _with(
    columns: tuple[tuple[str, ...], tuple[str, ...]], identifying: Mapping[str, str]
) -> NamedColumns:
    named = NamedColumns(*columns)
    return replace(named, **dict[str, Any](identifying))


def in_words(columns: NamedColumns, path: Path) -> str:
    """A line that says which columns were taken as what, with the command that declares it."""
    parts = [f"judge: {', '.join(columns.judge)}", f"people: {', '.join(columns.human)}"]
    parts += [
        f"{noun}: {column}"
        for noun, column in (
            ("response", columns.id),
            ("query", columns.query),
            ("system", columns.system),
        )
        if column is not None
    ]
    if columns.id is None:
        parts.append("each row is a response")
    if columns.query is None:
        parts.append("each row has a query of its own")
    command = f"ccrs report {shlex.quote(str(path))} {columns.options()}"
    return f"Columns taken by their names ({'; '.join(parts)}). The same, declared: {command}"


_OTHER_FIELDS = {
    "", "index", "unnamed: 0", "repeat", "inclusion_prob", "stratum", "response_words", "position"
}  # fmt: skip


def _names_scorers(columns: Sequence[str], numeric: Sequence[str]) -> bool:
    """Whether the table has one of the project's own layouts, or compares responses."""
    from study.importing.formats import scores
    from study.importing.readers.column_layout import folded, has

    names = folded(columns)
    scorer = next((n for n in scores.FIELDS["scorer"] if n in names), None)
    numbers = folded(numeric)
    if names & {"response_a", "response_b", "scorer"} or any(":" in name for name in columns):
        return True
    if scorer == "judge" and scorer in numbers:
        return False
    return has(scores.FIELDS, columns, "value") and (
        scorer is not None or has(scores.FIELDS, columns, "construct_key")
    )


def _numeric(source: RecordSource) -> list[str]:
    """Columns whose cells are numbers or words for pass and fail, as far as they are not blank."""
    from study.importing.import_report import ImportReport
    from study.importing.readers.cells import CellError, number
    from study.importing.readers.input_file import Record
    from study.importing.readers.verdict_words import verdict

    present: dict[str, bool] = {}
    report = ImportReport()
    for record in islice(source.peeked(), _ROWS):
        for column, cell in record.cells.items() if isinstance(record, Record) else ():
            if verdict(cell) is not None:
                present.setdefault(column, True)
                continue
            try:
                if number(cell, report, typed=True, decimal_comma=True) is not None:
                    present.setdefault(column, True)
            except CellError:
                present[column] = False
    return [column for column in source.head.columns if present.get(column)]


def _identifying(columns: Sequence[str]) -> dict[str, str]:
    by_fold = {column.casefold(): column for column in columns}
    return {
        role: by_fold[found]
        for role, names in _IDENTIFYING.items()
        if (found := next((name for name in names if name in by_fold), None)) is not None
    }


def _unique(source: RecordSource, column: str) -> bool:
    from study.importing.readers.input_file import Record

    cells = [r.cells.get(column) for r in source.peeked() if isinstance(r, Record)]
    return len(set(map(str, cells))) == len(cells)


def _words(column: str) -> list[str]:
    return [word.casefold() for word in re.split(r"[^0-9A-Za-z]+", column) if word]


def _is(column: str, names: set[str]) -> bool:
    return any(word in names or word.rstrip("0123456789") in names for word in _words(column))


def _rest(column: str) -> str:
    """What a column's name has apart from words for judges, raters and scores, and numbers."""
    rest = [
        word
        for word in _words(column)
        if word.rstrip("0123456789") not in _JUDGE | _HUMAN | _FILLERS | {""}
    ]
    return "_".join(rest)


def _by_construct(
    judges: Sequence[str], raters: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The options' texts; None where names agree in part, so that constructs are not clear."""
    of_judges, of_raters = {_rest(name) for name in judges}, {_rest(name) for name in raters}
    shared = (of_judges & of_raters) - {""}
    if not shared or (len(of_judges) == 1 and of_judges == of_raters):
        return tuple(judges), tuple(raters)
    if of_judges != of_raters or "" in of_judges:
        return None
    judged = tuple(f"{_rest(name)}={name}" for name in judges)
    return judged, tuple(f"{_rest(name)}={name}" for name in raters)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
