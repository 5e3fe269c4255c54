"""Degrees of freedom of a jackknife's variance, and the queries that it needs."""

from __future__ import annotations

import numpy as np

from analysis.core.arrays import FloatArray

#: Queries that an error must rest on, if there are more: a variance of so few says next to nothing.
FEWEST_QUERIES = 5


def effective_df(values: FloatArray) -> float:
    """Degrees of freedom of the jackknife variance of values (Q,), from 1 to Q - 1.

    Satterthwaite's 2 V^2 / var(V), with the variance of V from the fourth powers of the deviations
    and a factor that makes it Q - 1 on average where they are normal. A few queries that decide
    the figure leave few degrees of freedom. With two thirds of the scores at the end of the scale
    the intervals of correlations and alpha cover .01 to .02 more than at Q - 1, with 2% added to
    the width where scores are normal (source of the idea: Lipsitz, Ibrahim and Parzen 1999, The
    Statistician 48:495-506).
    """
    count = values.size
    squares = (values - values.mean()) ** 2
    squares /= squares.max(initial=0.0) or 1.0
    total = float(squares.sum())
    spread = float((squares**2).sum()) - total**2 / count
    if spread <= 0:
        return count - 1.0
    return float(np.clip(2 * total**2 / spread * (count - 1) / (count + 1), 1, count - 1))


def rests_on_few(used: int, of: int) -> str | None:
    """Why there is no interval of a figure that rests on `used` of the queries; None if enough."""
    if used >= min(FEWEST_QUERIES, of):
        return None
    return f"it rests on {used} of {of} queries, an interval needs at least {FEWEST_QUERIES}"
