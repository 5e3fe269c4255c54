"""Scores as integers, so that sums of them are compared exactly.

Sums of floats that are equal on paper differ in the last digit, and a permutation test that
compares them counts ties as the rounding happens to fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import IntArray
from analysis.core.query_statistic import NOISE, as_values

#: Decimals tried, and the largest denominator of a value that is a mean of few others.
_DECIMALS, _DENOMINATOR = 6, 1000

#: Largest common denominator of all values.
_COMMON = 10**6


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Values as multiples of 1 / `unit` above `offset`; `exact` if none had to be rounded."""

    integers: IntArray
    """Same shape as the values, from 0 on; 0 where a value is missing."""
    unit: float
    offset: float
    exact: bool


def fixed_point(values: npt.ArrayLike, largest: int = 2**40) -> FixedPoint:
    """Represent values as integers.

    Decimals are taken as they are written (66.67 is 6667 hundredths); means of few values become
    multiples of their common denominator (66.666... is 200 thirds), float noise within 1e-12 of
    their size ignored; any other values are rounded to a grid that `largest` allows.

    Parameters
    ----------
    values
        Any shape, NaN for missing.
    largest
        Upper bound of the integers.
    """
    array = as_values(values)
    present = np.isfinite(array)
    distinct, place = np.unique(array[present], return_inverse=True)
    integers = np.zeros(array.shape, dtype=np.int64)
    if not distinct.size:
        return FixedPoint(integers, 1.0, 0.0, True)
    scaled = _decimals(distinct, largest) or _fractions(distinct, largest)
    exact = scaled is not None
    whole, unit = scaled or _grid(distinct, largest)
    integers[present] = (whole - whole[0])[place.ravel()]
    return FixedPoint(integers, unit, float(distinct[0]), exact)


def _decimals(values: npt.NDArray[np.float64], largest: int) -> tuple[IntArray, float] | None:
    size = float(np.abs(values).max())
    for digits in range(_DECIMALS + 1):
        unit = float(10**digits)
        if size * unit > largest / 2:
            return None
        whole = np.rint(values * unit)
        # A quotient of integers is rounded correctly: it is the double that the decimal means.
        if (whole / unit == values).all():
            return whole.astype(np.int64), unit
    return None


def _fractions(values: npt.NDArray[np.float64], largest: int) -> tuple[IntArray, float] | None:
    common = 1
    for value in values.tolist():
        near = Fraction(value).limit_denominator(_DENOMINATOR)
        if abs(float(near) - value) > NOISE * abs(value):
            return None
        common = lcm(common, near.denominator)
        if common > _COMMON:
            return None
    if float(np.abs(values).max()) * common > largest / 2:
        return None
    return np.rint(values * common).astype(np.int64), float(common)


def _grid(values: npt.NDArray[np.float64], largest: int) -> tuple[IntArray, float]:
    reach = float(values[-1] - values[0]) or 1.0
    unit = float(2.0 ** np.floor(np.log2(largest / reach)))
    return np.rint((values - values[0]) * unit).astype(np.int64), unit
