"""How far one rating, or the mean of several, may be off: standard error and Spearman-Brown."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.quantiles import chi2_quantile
from analysis.core.query_statistic import as_values
from analysis.core.resampling import Interval, withheld
from analysis.statistics.reliability.two_way import two_way, two_way_undefined_reason
from analysis.statistics.reliability.variance_components import variance_components

ErrorKind = Literal["agreement", "consistency"]


def sem(
    values: npt.ArrayLike, kind: ErrorKind = "agreement", level: float = 0.95
) -> tuple[float, Interval]:
    """Standard error of measurement of one rating in points, for raters like these.

    The square root of rater plus residual variance (`agreement`: the rating is to stand for the
    response whoever gave it), or of the residual alone (`consistency`: each rater's own level is
    taken for granted), from the components of values (n, raters). The interval takes the two mean
    squares as independent, a sum with positive coefficients having Graybill and Wang's bounds
    (1980, JASA 75:869-873), a single one those of chi-squared. NaN with a reason where undefined.
    """
    if kind not in get_args(ErrorKind):
        raise ValueError(f"kind {kind!r}: expected one of {', '.join(get_args(ErrorKind))}")
    array = as_values(values)
    method = "graybill_wang" if kind == "agreement" else "chi_squared"
    reason = two_way_undefined_reason(array)
    if reason is not None:
        return float("nan"), withheld(level, method, reason)
    parts, found = two_way(array), variance_components(array)
    value = float(np.sqrt(found.residual + (found.rater if kind == "agreement" else 0.0)))
    if parts.ms_residual == 0:
        return value, withheld(level, method, "no residual variation: the table has no error")
    # rater + residual = rater mean square / c + (1 - 1 / c) residual mean square.
    terms, df = [parts.ms_residual], [parts.df_residual]
    if kind == "agreement":
        c = parts.per_rater
        terms = [parts.ms_rater / c, (1 - 1 / c) * parts.ms_residual]
        df = [parts.n_raters - 1, parts.df_residual]
    tail = (1 - level) / 2
    below = [(1 - d / chi2_quantile(1 - tail, d)) * t for t, d in zip(terms, df, strict=True)]
    above = [(d / chi2_quantile(tail, d) - 1) * t for t, d in zip(terms, df, strict=True)]
    center = float(np.sum(terms))
    low = float(np.sqrt(center - np.linalg.norm(below)))
    high = float(np.sqrt(center + np.linalg.norm(above)))
    return value, Interval(low, high, level, method)


def spearman_brown(single: float, k: float) -> float:
    """Reliability of the mean of k ratings from that of one: k r / (1 + (k - 1) r).

    Exact for ICC(A,1) and ICC(C,1), whose errors shrink by k. NaN at the pole r = -1 / (k - 1) and
    below it, where the formula has no meaning. Raises ValueError for k at or below 0.
    Source: Spearman (1910) and Brown (1910), British Journal of Psychology 3.
    """
    if not k > 0:
        raise ValueError(f"k = {k}: expected a positive number of ratings")
    below = 1 + (k - 1) * single
    return k * single / below if below > 0 else float("nan")
