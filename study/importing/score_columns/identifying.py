"""Which columns identify a row: the response, its query, its system and the construct."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from study.errors import Fault
from study.importing.readers.input_file import Record
from study.importing.score_columns.names import folded, named_for
from study.importing.score_columns.scorer_evidence import Contents
from study.importing.score_columns.words import IDENTIFIES_FOR_SURE

Rows = Callable[[], Iterable[Record | Fault]]
"""Begins to read the rows anew."""


def identifying_columns(
    columns: Sequence[str], contents: Contents, taken: Sequence[str], rows: Rows
) -> tuple[dict[str, str], str]:
    """Columns with the id, the query, the system and the construct of a row, as far as present.

    The second value says why a column with a certain name is not what its name says.
    """
    found: dict[str, str] = {}
    # TREC numbers its topics beside the names of runs; other topics are what responses are about.
    has_runs = any(
        folded(name) == "run" and name not in taken and not contents[name].only_numbers
        for name in columns
    )
    for role in ("id", "query", "system", "construct"):
        for column in named_for(role, columns):
            content = contents[column]
            if column in taken or content.is_empty:
                continue
            weak = folded(column) not in IDENTIFIES_FOR_SURE
            if role == "id" and weak and (content.blank or _repeated(rows(), [column])):
                continue
            if role == "query" and folded(column) == "q" and not content.repeats:
                continue
            if role == "query" and folded(column) == "topic" and not (
                content.only_numbers and has_runs
            ):  # fmt: skip
                continue
            topics_are_queries = folded(found.get("query", "")).startswith("topic")
            if role == "system" and folded(column) == "run" and not topics_are_queries:
                continue
            if role == "construct" and content.blank:
                continue
            if role == "system" and content.only_numbers and folded(column) != "system":
                continue
            found[role] = column
            break
    names = [found[role] for role in ("id", "construct") if role in found]
    if "id" in found and (twice := _repeated(rows(), names)):
        column = found["id"]
        found.setdefault("query", found.pop("id"))
        found.pop("construct", None)
        return found, f"the column {column!r} does not identify a row: {twice}"
    return found, ""


def _repeated(records: Iterable[Record | Fault], columns: Sequence[str]) -> str | None:
    """The first two rows with the same cells."""
    rows: dict[tuple[str, ...], int] = {}
    for record in records:
        if isinstance(record, Record):
            cells = tuple(str(record.cells.get(column)) for column in columns)
            if (first := rows.setdefault(cells, record.number)) != record.number:
                return f"{cells[0]!r} is in rows {first} and {record.number}"
    return None
