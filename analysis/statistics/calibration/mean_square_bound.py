"""A one-sided upper bound of a mean square."""

from __future__ import annotations

import numpy as np

from analysis.core.quantiles import t_quantile
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import QueryResampling

FEW = "a bound needs 2 queries"


def upper_bound_of_square(
    statistic: QueryStatistic, resampling: QueryResampling
) -> tuple[float, str | None]:
    """Value that the true mean square exceeds with a chance of 1 - level; NaN with the reason.

    The jackknife over queries with a t quantile, at any number of them, on the scale of the root
    where the square is well above 0: with c the quantile times the error, value + c + c²/(4 value),
    and value + 5c/4 for a value below c, which may be negative. A percentile interval of nearly 0
    is worth nothing.
    """
    if statistic.reason is not None:
        return float("nan"), statistic.reason
    if statistic.n_queries < 2:
        return float("nan"), FEW
    found = resampling.replicates(statistic, "jackknife").values
    values = found[np.isfinite(found)]
    if values.size < found.size:
        return float("nan"), "undefined without one of the queries"
    count = values.size
    error = float(np.sqrt((count - 1) / count * np.sum((values - values.mean()) ** 2)))
    reach = t_quantile(resampling.level, count - 1) * error
    if reach == 0:
        return statistic.point, None
    return statistic.point + reach + reach**2 / (4 * max(statistic.point, reach)), None
