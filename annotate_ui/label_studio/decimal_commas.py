"""Numbers that a decimal comma explains: Label Studio's field drops it, and 7,5 becomes 75."""

from collections.abc import Sequence

_RATIO = 5.0
"""Values that are less often a rater's others are not told from them."""
_FEWEST = 3
"""Fewer other values do not show what a rater's values are."""


def likely_commas(values: Sequence[float]) -> set[float]:
    """Return those of a rater's values on a construct that a decimal comma explains.

    They are whole numbers that end in another digit than 0, far above the rater's other values,
    and a tenth of each is among these.
    """
    ordered = sorted(values)
    gaps = [
        place
        for place in range(_FEWEST, len(ordered))
        if 0 < _RATIO * ordered[place - 1] <= ordered[place]
    ]
    if not gaps:
        return set()
    others, far = ordered[: gaps[0]], ordered[gaps[0] :]
    return {
        value
        for value in far
        if value % 1 == 0 and value % 10 and others[0] <= value / 10 <= others[-1]
    }
