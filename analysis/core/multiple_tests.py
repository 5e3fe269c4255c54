"""p-values of several statements, corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """p-values (m,) adjusted by Holm's step-down method; undefined ones (NaN) are left out.

    Holm (1979), Scandinavian Journal of Statistics 6:65-70.
    [.01, .04, .03, .005] becomes [.03, .06, .06, .02].
    """
    adjusted = [math.nan] * len(p)
    defined = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    largest = 0.0
    for rank, (value, place) in enumerate(defined):
        largest = max(largest, value * (len(defined) - rank))
        adjusted[place] = min(1.0, largest)
    return adjusted
