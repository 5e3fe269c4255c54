"""Ranks that follow from which differences are significant, with the places that stay possible.

Where the statements hold for all pairs at once, with probability .95, so do the places: for all
that are ranked at once, every true rank is among them.
Source: Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91:476-518,
"Inference for Ranks", section 3. Groups as in the WMT: Kocmi et al. (2021), WMT, 478-494.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.core.arrays import BoolArray


class Rank(NamedTuple):
    """Place by value, the places that cannot be excluded, and the group."""

    rank: int
    best: int
    worst: int
    group: int


def ranks(values: Sequence[float], better: BoolArray) -> list[Rank]:
    """Ranks (k,) by descending values; `better` (k, k) marks significant differences.

    The best rank counts those significantly better, the worst rank those significantly worse. A new
    group begins where every one before is significantly better than every one after.
    """
    order = sorted(range(len(values)), key=lambda place: -values[place])
    group, groups = 1, {order[0]: 1}
    for position in range(1, len(order)):
        before, after = order[:position], order[position:]
        if better[np.ix_(before, after)].all():
            group += 1
        groups[order[position]] = group
    size = len(values)
    return [
        Rank(
            1 + sum(other > value for other in values),
            1 + int(better[:, place].sum()),
            size - int(better[place].sum()),
            groups[place],
        )
        for place, value in enumerate(values)
    ]
