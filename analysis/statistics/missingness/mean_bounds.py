"""How far missing values could move a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import as_values


@dataclass(frozen=True)
class MeanBounds:
    """Mean of all if every missing value were the scale's least (`low`) or greatest (`high`)."""

    low: float
    high: float
    missing: int
    n: int


def mean_bounds(values: npt.ArrayLike, minimum: float, maximum: float) -> MeanBounds:
    """Worst-case bounds on the mean of values (n,), NaN for missing; NaN without any value at all.

    They hold whatever the reasons for missing are; a sampling error is not in them.

    Raises
    ------
    ValueError
        The ends of the scale are no range.

    Notes
    -----
    Manski 1989; Horowitz and Manski 2000.

    Examples
    --------
    >>> mean_bounds([60, 80, float("nan"), 100], 0, 100)
    MeanBounds(low=60.0, high=85.0, missing=1, n=4)
    """
    if not minimum < maximum:
        raise ValueError(f"a scale from {minimum:g} to {maximum:g} has no range")
    array = as_values(values)
    known = array[np.isfinite(array)]
    missing = array.size - known.size
    if not array.size:
        return MeanBounds(float("nan"), float("nan"), 0, 0)
    total = float(known.sum())
    return MeanBounds(
        (total + missing * minimum) / array.size,
        (total + missing * maximum) / array.size,
        missing,
        array.size,
    )
