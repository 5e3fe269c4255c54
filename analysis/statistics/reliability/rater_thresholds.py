"""Whether raters keep the points of a scale equally far apart: a likelihood ratio test.

In the cumulative-logit model a severe rater has all thresholds higher by the same distance. The
test compares it with the model in which each rater has thresholds of their own: one rater may avoid
the ends of the scale that another uses often. With R raters and K points the statistic, twice the
difference of the log likelihoods, has a chi-squared distribution with (R - 1) (K - 2) degrees of
freedom where all raters have equal spacing.

Sources: McCullagh (1980), Journal of the Royal Statistical Society B 42:109-142; Peterson and
Harrell (1990), Applied Statistics 39:205-217, on thresholds that depend on a factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.statistics.reliability.additive_model import Ratings
from analysis.statistics.reliability.adjusted_systems import ratings_of
from analysis.statistics.reliability.cumulative_logit import fit, undefined_reason, unused_point

TWO_POINTS = "ratings have two values: there is one threshold, without spacing"
ONE_RATER = "one rater only: there is nobody to compare with"


@dataclass(frozen=True, eq=False)
class SpacingTest:
    """Chi-squared `statistic` with `df` and its `p`, NaN with a `reason`."""

    statistic: float
    df: int
    p: float
    n_responses: int
    n_queries: int
    reason: str | None = None


def equal_spacing(
    ratings: FloatArray, query: IntArray, produced: BoolArray, raters: tuple[str, ...]
) -> SpacingTest:
    """Test of ratings (n, R), NaN where missing, of systems `produced` (n, S).

    A response of several systems counts for the first of them, one of none for a separate one.
    """
    rated = np.isfinite(ratings).any(axis=1)
    one_of_none = np.column_stack([produced, ~produced.any(axis=1)])
    first = one_of_none.argmax(axis=1)[rated]
    systems = np.unique(first, return_inverse=True)[1]
    n_queries = int(np.unique(query[rated]).size)
    counts = (int(rated.sum()), n_queries)
    nothing = float("nan")
    if not rated.any():
        return SpacingTest(nothing, 0, nothing, *counts, "there are no ratings")
    table = ratings_of(
        ratings[rated], query[rated], systems[:, None] == np.arange(systems.max() + 1)
    )
    names = [raters[place] for place in np.flatnonzero(np.isfinite(ratings).any(axis=0))]
    reason = _untestable(table, names)
    if reason is None:
        try:
            shared, own = fit(table), fit(table, by_rater=True)
        except ValueError as error:
            reason = str(error)
    if reason is not None:
        return SpacingTest(nothing, 0, nothing, *counts, reason)
    statistic = max(0.0, 2 * (own.log_likelihood - shared.log_likelihood))
    df = own.parameters.size - shared.parameters.size
    return SpacingTest(statistic, df, float(special.chdtrc(df, statistic)), *counts)


def _untestable(table: Ratings, names: list[str]) -> str | None:
    if np.unique(table.values).size == 2:
        return TWO_POINTS
    if table.n_raters < 2:
        return ONE_RATER
    unused = unused_point(table)
    if unused is not None and np.unique(table.values).size > 2:
        rater, point = unused
        return (
            f"{names[rater]} never chose {point:g}, which others chose: the thresholds of this "
            "rater have no finite estimates"
        )
    return undefined_reason(table)
