"""Intraclass correlations, in all six forms, and with missing cells.

Forms carry McGraw and Wong's names; `ICC_NAMES` gives both name sets. On complete data they come
from the analysis of variance (and may be negative), with missing cells from REML components
(and are at least 0): ICC(A,1) = response / (response + rater + residual). Form 1 has separate
components, without raters, and does not need connected raters.
Sources: Shrout and Fleiss (1979), Psychological Bulletin 86:420-428; McGraw and Wong (1996),
Psychological Methods 1:30-46, Tables 4 and 7.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray
from analysis.core.computation import f_quantile
from analysis.core.interval import Interval, withheld
from analysis.core.query_statistic import as_codes, as_values
from analysis.statistics.reliability.reml import one_way_share, one_way_undefined_reason
from analysis.statistics.reliability.two_way import (
    Contrast,
    TwoWay,
    two_way,
    two_way_undefined_reason,
)
from analysis.statistics.reliability.variance_components import (
    satterthwaite_df,
    variance_components,
)

Form = Literal["1,1", "1,k", "A,1", "A,k", "C,1", "C,k"]

#: Queries with a response that several raters rated from which on an interval is given.
SHARED_QUERIES = 2

#: Form: (McGraw and Wong, Shrout and Fleiss).
ICC_NAMES: dict[Form, tuple[str, str]] = {
    "1,1": ("ICC(1)", "ICC(1,1)"),
    "1,k": ("ICC(k)", "ICC(1,k)"),
    "A,1": ("ICC(A,1)", "ICC(2,1)"),
    "A,k": ("ICC(A,k)", "ICC(2,k)"),
    "C,1": ("ICC(C,1)", "ICC(3,1)"),
    "C,k": ("ICC(C,k)", "ICC(3,k)"),
}


def icc(values: npt.ArrayLike, form: Form, k: float | None = None) -> float:
    """Intraclass correlation of values (n_items, n_raters), NaN where missing.

    Responses without a rating do not enter. `k` is the number of raters averaged in the forms
    "·,k"; on complete data it defaults to their number, with missing cells it must be given
    (ValueError). NaN where undefined; `icc_undefined_reason` gives the reason.
    """
    table = _read(values, form)
    if icc_undefined_reason(table, form) is not None:
        return float("nan")
    return _averaged(_single(table, form), _number_averaged(table, form, k))


def icc_undefined_reason(values: npt.ArrayLike, form: Form) -> str | None:
    """Why the form has no value on these ratings; None where it has one."""
    table = _read(values, form)
    if form.startswith("1"):
        return one_way_undefined_reason(table)
    reason = two_way_undefined_reason(table)
    if reason is None and form.startswith("C") and _undefined_consistency(table):
        return "responses and residual do not vary: consistency is undefined"
    if reason is None and form.startswith("A") and _complete(table) and not _total(table) > 0:
        return "the estimated variances of responses, raters and residual add up to 0"
    return reason


def icc_interval(
    values: npt.ArrayLike,
    query: npt.ArrayLike,
    form: Form = "A,1",
    k: float | None = None,
    level: float = 0.95,
) -> Interval:
    """Interval of ICC(A,·) or ICC(C,·) for raters like these, responses clustered in queries.

    The degrees of freedom between responses come by Satterthwaite from the mean squares between
    queries and within them. Form A has modified large-sample bounds, form C those of the F test;
    missing cells enter through the effective ratings per response and per rater. With few raters
    the lower bound is far down: the panel hardly shows how much raters differ. Needs at least 2
    queries with responses that several raters rated.
    """
    method = "modified_large_sample" if form.startswith("A") else "f_clustered"
    array = _read(values, form, drop=False)
    if form.startswith("1"):
        raise ValueError("an interval for raters like these needs form A or C")
    reason = icc_undefined_reason(array, form)
    if reason is not None:
        return withheld(level, method, reason)
    averaged = _number_averaged(_read(values, form), form, k)
    parts = two_way(array)
    codes, _ = as_codes(query, array.shape[0], None)
    place = np.unique(codes[parts.responses], return_inverse=True)[1]
    # Only responses with several ratings show how far raters agree.
    shared = np.unique(codes[np.isfinite(array).sum(axis=1) > 1]).size
    if shared < SHARED_QUERIES:
        needed = f"an interval needs at least {SHARED_QUERIES} queries that several raters share"
        return withheld(level, method, f"{needed}, there is {shared or 'none'}")
    if parts.ms_residual == 0:
        return withheld(level, method, "no residual variation: F is infinite")
    if parts.ms_response == 0:
        return withheld(level, method, "the responses' means are equal: F is 0 in any sample")
    df = _clustered_df(parts.response_means, place)
    low, high = _bounds(parts, df, level, rater=form.startswith("A"))
    return Interval(_averaged(low, averaged), _averaged(high, averaged), level, method)


def _read(values: npt.ArrayLike, form: Form, drop: bool = True) -> FloatArray:
    if form not in get_args(Form):
        raise ValueError(f"form {form!r}: expected one of {', '.join(get_args(Form))}")
    array = as_values(values)
    if array.ndim != 2:
        raise ValueError(f"values have shape {array.shape}, expected (items, raters)")
    if not drop:
        return array
    present = np.isfinite(array)
    return array[present.any(axis=1)][:, present.any(axis=0)]


def _complete(table: FloatArray) -> bool:
    return bool(np.isfinite(table).all())


def _undefined_consistency(table: FloatArray) -> bool:
    parts = two_way(table)
    return parts.ms_residual == 0 and parts.ms_response == 0


def _total(table: FloatArray) -> float:
    """k times the estimated variance of a rating, of a complete table (n, k); 0 with n = k = 2."""
    parts = two_way(table)
    n, k = parts.n_responses, parts.n_raters
    rows, columns, error = parts.ms_response, parts.ms_rater, parts.ms_residual
    return rows + (k - 1) * error + k * (columns - error) / n


def _number_averaged(table: FloatArray, form: Form, k: float | None) -> float:
    if form.endswith("1"):
        return 1.0
    if k is None:
        if not _complete(table):
            raise ValueError(
                f"{ICC_NAMES[form][0]} with missing cells needs k, the raters averaged"
            )
        return float(table.shape[1])
    if k < 1:
        raise ValueError(f"k = {k}: at least 1 rater is averaged")
    return float(k)


def _averaged(single: float, k: float) -> float:
    """Spearman-Brown: the reliability of a mean of k."""
    below = 1 + (k - 1) * single
    return k * single / below if below > 0 else float("-inf")


def _single(table: FloatArray, form: Form) -> float:
    if form.startswith("1") and not _complete(table):
        return one_way_share(table)
    if not _complete(table):
        c = variance_components(table)
        rater = c.rater if form.startswith("A") else 0.0
        return c.response / (c.response + rater + c.residual)
    parts = two_way(table)
    n, k = parts.n_responses, parts.n_raters
    rows, columns, error = parts.ms_response, parts.ms_rater, parts.ms_residual
    if form.startswith("1"):
        error = (columns * (k - 1) + error * (n - 1) * (k - 1)) / (n * (k - 1))
    total = _total(table) if form.startswith("A") else rows + (k - 1) * error
    return (rows - error) / total


def _clustered_df(means: FloatArray, place: npt.NDArray[np.intp]) -> float:
    """Degrees of freedom of the variance of response means (n,) that cluster in queries."""
    counts = np.bincount(place).astype(np.float64)
    centered = means - means.mean()
    query_means = np.bincount(place, weights=centered) / counts
    between = float(np.sum(counts * query_means**2))
    within = float(np.sum((centered - query_means[place]) ** 2))
    terms, df = [between], [counts.size - 1.0]
    if means.size > counts.size:
        terms.append(within)
        df.append(float(means.size - counts.size))
    return satterthwaite_df(terms, df)


def _bounds(parts: TwoWay, df: float, level: float, *, rater: bool) -> tuple[float, float]:
    """Both bounds of the single-rater form, from those of its odds o = ICC / (1 - ICC).

    At the true odds the mean square between responses has the expectation of
    k * o * (rater + residual) + residual: a bound is where their difference stops being
    compatible with 0. Without the rater variance, and below 0, that is the F test.
    """
    k, per_rater = parts.per_response, parts.per_rater
    rows, columns, error = parts.ms_response, parts.ms_rater, parts.ms_residual
    # Raters who differ less than by chance make no rating more exact than its residual.
    noise = (
        max(columns + (per_rater - 1) * error, per_rater * error) / per_rater if rater else error
    )
    tail = (1 - level) / 2
    contrast = Contrast((df, float(parts.n_raters - 1), float(parts.df_residual)), tail)

    def at(bound: Callable[[float, float, float], float], icc_: float) -> float:
        odds = icc_ / (1 - icc_)
        return bound(
            rows, k * odds / per_rater * columns, (k * odds * (1 - 1 / per_rater) + 1) * error
        )

    out = []
    for probability, bound in ((1 - tail, contrast.lower), (tail, contrast.upper)):
        f = f_quantile(probability, df, parts.df_residual)
        odds = (rows / f - error) / (k * noise)
        if not rater or odds <= 0:
            out.append(odds / (1 + odds))
        elif at(bound, 0.0) <= 0:
            out.append(0.0)
        else:
            out.append(_falling_root(partial(at, bound)))
    return out[0], out[1]


def _falling_root(function: Callable[[float], float]) -> float:
    """Where a function that falls on [0, 1) passes 0, by bisection; 1 if it stays above."""
    low, high = 0.0, 1.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return high
