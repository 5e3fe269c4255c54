"""Lines with a title above the names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from study.errors import Fault
from study.importing.readers.cells import looks_like_number
from study.text import abbreviate

# So many lines may stand above the header.
_MOST_LINES = 12


def title_above(rows: Sequence[tuple[int, Sequence[Any]]]) -> Fault | None:
    """The fault of a table whose first line is a title: one cell, above a row of several names.

    `rows` are the first rows with their numbers, blank ones too.
    """
    filled = [
        (number, [cell for cell in row if cell is not None and str(cell).strip()])
        for number, row in rows
    ]
    filled = [(number, cells) for number, cells in filled if cells]
    if len(filled) < 3 or len(filled[0][1]) != 1:
        return None
    width = max(len(cells) for _, cells in filled)
    if width < 2:
        return None
    for number, cells in filled[1:_MOST_LINES]:
        if len(cells) != width:
            continue
        names = [str(cell).strip() for cell in cells]
        if any(map(looks_like_number, names)) or len(set(names)) < len(names):
            return None
        line = filled[0][0]
        return Fault(
            f"{abbreviate(str(filled[0][1][0]))} looks like a title; row {number} looks like the "
            f"header: {', '.join(map(abbreviate, names[:5]))}.",
            f"Delete the rows above row {number}.",
            line,
        )
    return None
