"""The columns of a data frame with a column for each judge and rater, where they are evident."""

from __future__ import annotations

from typing import Any

import pandas as pd

from analysis.core.errors import TableError
from study.importing.score_columns.named_columns import NamedColumns
from study.importing.score_columns.recognition import recognized_rows


def evident_columns(data: pd.DataFrame) -> dict[str, Any]:
    """Return judge, human, id, query, system and construct as `evaluate` takes them.

    Nothing is returned for a table that names its scorers itself.

    Raises
    ------
    TableError
        Columns have scores, and it is not evident whose; or each row compares two responses.
    """
    names = [str(name) for name in data.columns]
    cells = data.astype(object).where(data.notna(), None)
    rows = (dict(zip(names, row, strict=True)) for row in cells.itertuples(index=False, name=None))
    found = recognized_rows(names, rows)
    if found.form == "preferences":
        raise TableError(
            "table",
            [
                "each row compares two responses, which is read from a file: "
                "data.to_csv('pairs.csv', index=False); evaluate('pairs.csv')"
            ],
        )
    if found.form == "unclear":
        if not found.can_be_completed:
            raise TableError("table", [found.unclear])
        given = ", ".join(f"{name}={value!r}" for name, value in _arguments(found.example).items())
        raise TableError("table", [f"{found.unclear}. Name the columns: evaluate(data, {given})"])
    return {} if found.columns is None else _arguments(found.columns)


def check_one_table(*given: object) -> None:
    """Refuse several tables in place of one, or of the names of columns.

    Raises
    ------
    TypeError
        With how two tables are joined.
    """
    holds_frame = [
        isinstance(value, pd.DataFrame)
        or (isinstance(value, list | tuple) and any(isinstance(v, pd.DataFrame) for v in value))
        for value in given
    ]
    several = isinstance(given[0], list | tuple) and holds_frame[0]
    if several or any(holds_frame[1:]):
        raise TypeError(
            "the scores of judge and people are in one table; join two by their ids: "
            "judge.merge(human, on='id', suffixes=('_judge', '_human'))"
        )


def _arguments(columns: NamedColumns) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "judge": _scorers(columns.judge),
        "human": _scorers(columns.human),
    }
    for name in ("id", "query", "system", "construct"):
        if (column := getattr(columns, name)) is not None:
            arguments[name] = column
    return arguments


def _scorers(texts: tuple[str, ...]) -> str | list[str] | dict[str, list[str]]:
    """A column, several, or columns by construct where texts are CONSTRUCT=COLUMN."""
    by_construct: dict[str, list[str]] = {}
    for text in texts:
        construct, _, column = text.partition("=")
        by_construct.setdefault(construct if column else "", []).append(column or construct)
    if "" not in by_construct:
        return by_construct
    plain = by_construct[""]
    return plain[0] if len(plain) == 1 else plain
