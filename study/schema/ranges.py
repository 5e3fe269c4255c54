"""Ranges of characters of a response, as marks are stored.

They are of the text of the response, whose versions do not change, so that they stay right
whatever is taken for a sentence later.
"""

from typing import Annotated

from pydantic import AfterValidator


def _in_order(ranges: list[list[int]] | None) -> list[list[int]] | None:
    last = 0
    for start, end in ranges or ():
        if not last <= start < end:
            raise ValueError(f"the range {start} to {end} is empty, not in order, or overlaps")
        last = end
    return ranges


Ranges = Annotated[list[tuple[int, int]], AfterValidator(_in_order)]
"""Character ranges [start, end) of the text of the response, in order, not overlapping."""
