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

from analysis.core.arrays import BoolArray, FloatArray, IntArray


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


def ranks_of_differences(
    first: IntArray, second: IntArray, point: FloatArray, low: FloatArray, high: FloatArray
) -> list[Rank]:
    """Ranks from all pairs (P,): differences, first minus second, with simultaneous intervals.

    Ordered by the mean difference from the others. A pair without an interval (NaN) is not
    significant, so that it leaves both places possible. ValueError where a difference is undefined.
    """
    if np.isnan(point).any():
        raise ValueError("a difference is undefined: ranks need one for every pair")
    size = int(max(first.max(), second.max())) + 1
    ahead, better = np.zeros(size), np.zeros((size, size), dtype=bool)
    np.add.at(ahead, first, point)
    np.subtract.at(ahead, second, point)
    better[first[low > 0], second[low > 0]] = True
    better[second[high < 0], first[high < 0]] = True
    return ranks(ahead.tolist(), better)
