"""Sheets of a workbook that sum up what another sheet has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from study.importing.formats import responses
from study.importing.readers.source import Head
from study.importing.score_columns.recognition import recognized_rows


def is_summary(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a sheet has neither scores whose scorers are evident nor responses.

    `rows` are its first rows that are not blank; the first one has the names of columns.
    """
    width = max(map(len, rows))
    filled = [[*row, *[None] * (width - len(row))] for row in rows]
    columns = [
        f"column {place}" if cell is None else str(cell).strip()
        for place, cell in enumerate(filled[0], start=1)
    ]
    if len(set(columns)) < len(columns):
        return True
    if responses.has_responses(Head("workbook", tuple(columns), {})):
        return False
    table = [dict(zip(columns, row, strict=True)) for row in filled[1:]]
    return recognized_rows(columns, table).form in ("none", "unclear")
