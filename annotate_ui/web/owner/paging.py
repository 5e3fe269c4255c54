"""Long tables, a page at a time."""

from collections.abc import Sequence
from typing import TypeVar

from flask import request

_ON_A_PAGE = 100
T = TypeVar("T")


def requested_page(rows: Sequence[T]) -> tuple[Sequence[T], int, int]:
    """Return the rows of the page that the address asks for, its number, and how many there are.

    A number outside of these is that of the nearest page.
    """
    count = -(-len(rows) // _ON_A_PAGE) or 1
    number = min(max(request.args.get("page", 1, type=int), 1), count)
    return rows[(number - 1) * _ON_A_PAGE : number * _ON_A_PAGE], number, count
