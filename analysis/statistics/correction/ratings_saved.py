"""What a judge saves: ratings alone that would say as much, and ratings for a wanted width."""

from __future__ import annotations

import math

from analysis.core.quantiles import t_quantile
from analysis.statistics.correction.prediction_powered import Corrected


def labels_saved(corrected: Corrected, alone: Corrected, n_labels: int) -> float:
    """Ratings spared: n (width of the ratings alone / width of the corrected)^2 - n.

    Negative where the judge's scores made the interval wider; NaN without both intervals.
    """
    plain = alone.interval.high - alone.interval.low
    powered = corrected.interval.high - corrected.interval.low
    if not powered > 0:
        return math.nan
    return n_labels * (plain / powered) ** 2 - n_labels


def labels_needed(
    corrected: Corrected, half_width: float, n_labels: int, level: float = 0.95
) -> tuple[float, str | None]:
    """Labeled responses at which the interval reaches so far to each side; NaN with the reason.

    The labels' part of the squared error falls with their number, that of the pool stays; the t
    quantile has one degree of freedom less than there are labeled queries. How many responses a
    query has labeled stays as it is.
    """
    if not math.isfinite(corrected.of_labels) or corrected.n_labeled_queries < 2:
        return math.nan, corrected.reason or corrected.interval.reason or "too few labels"
    if not half_width > 0:
        raise ValueError(f"a half-width of {half_width:g} is not above 0")
    queries, per_query = corrected.n_labeled_queries, n_labels / corrected.n_labeled_queries

    def reach(count: float) -> float:
        squared = corrected.of_labels * queries / count + corrected.of_pool
        return t_quantile((1 + level) / 2, count - 1) * math.sqrt(max(squared, 0.0))

    if t_quantile((1 + level) / 2, 1e9) ** 2 * corrected.of_pool >= half_width**2:
        return math.nan, "the judged responses alone are too few for this width"
    low, high = 1.0, 2.0
    while reach(high) > half_width:
        low, high = high, 2 * high
        if high > 1e9:
            return math.nan, "the judged responses alone are too few for this width"
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if reach(middle) > half_width else (low, middle)
    return float(math.ceil(math.ceil(high) * per_query)), None
