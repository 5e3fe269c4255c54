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


def hochberg(p: Sequence[float]) -> list[float]:
    """p-values (m,) adjusted by Hochberg's step-up method; undefined ones (NaN) are left out.

    All hold where the largest p does, so that statements that all hold together hold each. It
    needs p-values that are not negatively dependent, as those of constructs of one judge on the
    same responses (tests/coverage/decision_margins.csv).

    Hochberg (1988), Biometrika 75:800-802. [.01, .04, .03, .005] becomes [.03, .04, .04, .02].
    """
    adjusted = [math.nan] * len(p)
    defined = sorted((value, place) for place, value in enumerate(p) if not math.isnan(value))
    smallest = 1.0
    for rank, (value, place) in reversed(list(enumerate(defined))):
        smallest = min(smallest, value * (len(defined) - rank))
        adjusted[place] = smallest
    return adjusted
