"""Where the variance of a judge's scores comes from: responses, runs, or chance.

Model: score = mean + query + response (in its query) + run + query:run + response:run + repeat,
all random and independent, except the runs, which are fixed. Estimators: the analysis
of variance on unweighted means of queries, whose expectations are exact for unequal numbers of
responses; on complete tables it is the usual one. Unbiased, and so possibly negative. Source:
Searle, Casella and McCulloch (1992), Variance Components, chapters 4 and 5 (nested and crossed
classifications).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import NEGLIGIBLE, as_codes, as_values, ratio, sums_by_query
from analysis.core.statistic_family import StatisticFamily

RUN_COMPONENTS = ("query", "response", "run", "query:run", "response:run", "repeat")

ONE_RUN = "there is one run: its severity cannot be separated from the level of the scores"
ONE_EACH = "each query has one response: query and response cannot be separated"
ONE_EACH_RUN = "each query has one response: it is a part of query:run"
NO_REPEATS = "no run scored a response again: it is a part of {part}"
NO_SCORES = "no response has a score of every run"
ONE_QUERY = "there is one query with scores of every run: two are needed"
NO_TOTAL = "the components add up to no variance: there are too few scores"
EQUAL = "all scores are equal: there is no variance"


def run_components(
    first: npt.ArrayLike,
    again: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
) -> StatisticFamily:
    """Shares of the variance of one score, then the components in squared points, six each.

    Both in the order of `RUN_COMPONENTS`. Shares are of the sum of the components, negative ones
    included, so that they are as little biased. A component that cannot be separated has no value,
    and its reason names the component that contains it.

    Parameters
    ----------
    first
        (n, R) first scores by response and run, on one scale. Responses that every run has scored
        enter.
    again
        (n, R, K) all scores by repeat, the first included, NaN where missing; K may be 1. Cells
        with two or more scores, of any run, give the variance of repeats.
    query
        (n,) codes.

    Raises
    ------
    ValueError
        Shapes do not fit.
    """
    x, every = as_values(first), as_values(again, "again")
    if x.ndim != 2 or every.shape[:2] != x.shape:
        raise ValueError(
            f"scores of shapes {x.shape} and {every.shape}: expected (n, R), (n, R, K)"
        )
    codes, total = as_codes(query, len(x), n_queries)
    whole: BoolArray = np.asarray(np.isfinite(x).all(axis=1))
    complete, code = x[whole], codes[whole]
    count = np.bincount(code, minlength=total)
    reason = _undefined(complete, count)
    if reason is not None:
        return _undefined_family(reason, total, int(whole.sum()), len(x))
    middle = float(np.median(complete))
    columns = _columns(complete - middle, code, total)
    repeats = _repeat_sums(every - middle, codes, total)
    runs, several = x.shape[1], bool((count > 1).any())
    matrix = np.column_stack([columns, repeats])
    has_repeats = bool(repeats[:, 1].any())
    noise = NEGLIGIBLE * float(np.mean((complete - middle) ** 2) or 1.0)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        parts = _components(weights @ matrix, runs, several, has_repeats)
        parts[np.abs(parts) <= noise] = 0.0
        sums = np.nansum(parts, axis=1, keepdims=True)
        shares = ratio(parts, sums, np.broadcast_to(sums > noise, parts.shape))
        return np.column_stack([shares, parts])

    reasons = _reasons(runs, several, has_repeats)
    share_reasons = reasons
    if np.isnan(weighted_statistic(np.ones((1, total)))[0, : len(RUN_COMPONENTS)]).all():
        share_reasons = [NO_TOTAL] * len(RUN_COMPONENTS)
    enters: BoolArray = np.asarray((count > 0) | (repeats[:, 1] > 0))
    used = int(whole.sum())
    dropped = int(np.isfinite(x).any(axis=1).sum()) - used
    return StatisticFamily.from_same_responses(
        weighted_statistic, enters, used, dropped, (*share_reasons, *reasons)
    )


def _undefined(complete: FloatArray, count: IntArray) -> str | None:
    if not len(complete):
        return NO_SCORES
    if np.count_nonzero(count) < 2:
        return ONE_QUERY
    return EQUAL if np.ptp(complete) == 0 else None


def _columns(x: FloatArray, code: IntArray, total: int) -> FloatArray:
    """By query: whether present, 1/n, n - 1, squares (of responses, cells), means, products."""
    runs = x.shape[1]
    count = np.bincount(code, minlength=total).astype(np.float64)
    present = count > 0
    means = ratio(
        sums_by_query(x, code, total), count[:, None], np.repeat(present[:, None], runs, 1)
    )
    apart = x - means[code]
    response_part = apart.mean(axis=1, keepdims=True)
    squares = np.column_stack(
        [runs * response_part[:, 0] ** 2, ((apart - response_part) ** 2).sum(axis=1)]
    )
    means[~present] = 0.0
    products = (means[:, :, None] * means[:, None, :]).reshape(total, -1)
    return np.column_stack(
        [
            present,
            np.where(present, 1 / np.maximum(count, 1), 0.0),
            np.maximum(count - 1, 0),
            sums_by_query(squares, code, total),
            means,
            products,
        ]
    ).astype(np.float64)


def _repeat_sums(every: FloatArray, codes: IntArray, total: int) -> FloatArray:
    """By query: squares of repeats about their cell's mean, and degrees of freedom."""
    present = np.isfinite(every)
    number = present.sum(axis=2)
    some = number > 1
    mean = ratio(np.where(present, every, 0.0).sum(axis=2), number.astype(np.float64), some)
    apart = np.where(present & some[:, :, None], every - mean[:, :, None], 0.0)
    squares = np.column_stack(
        [(apart**2).sum(axis=(1, 2)), np.where(some, number - 1, 0).sum(axis=1)]
    )
    return sums_by_query(squares.astype(np.float64), codes, total)


def _components(sums: FloatArray, runs: int, several: bool, repeated: bool) -> FloatArray:
    """Components (B, 6) from the weighted sums (B, c) of the columns."""
    queries, inverse, df, response_part, cell_squares = sums[:, :5].T
    mean = sums[:, 5 : 5 + runs] / queries[:, None]
    square = sums[:, 5 + runs : 5 + runs + runs**2].reshape(-1, runs, runs) / queries[:, None, None]
    within, within_df = sums[:, -2], sums[:, -1]
    nan = np.full(len(sums), np.nan)
    two = queries > 1
    scale = ratio(queries, queries - 1, two)
    spread = (square - mean[:, :, None] * mean[:, None, :]) * scale[:, None, None]
    trace, whole = np.trace(spread, axis1=1, axis2=2), spread.sum(axis=(1, 2))
    harmonic = inverse / queries
    repeat = ratio(within, within_df, within_df > 0) if repeated else nan
    chance = repeat if repeated else np.zeros(len(sums))

    ms_response = ratio(response_part, df, df > 0) if several else nan
    ms_query = whole / runs
    if runs == 1:
        response = ms_response - chance if several else nan
        query = ms_query - harmonic * ms_response if several else ms_query - chance
        return np.column_stack([query, response, nan, nan, nan, repeat])
    ms_query_run = (trace - whole / runs) / (runs - 1)
    ms_run = queries * ((mean - mean.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) / (runs - 1)
    run = (ms_run - ms_query_run) / queries
    if not several:
        query = (ms_query - ms_query_run) / runs
        return np.column_stack([query, nan, run, ms_query_run - chance, nan, repeat])
    cell = ratio(cell_squares, df * (runs - 1), df > 0)
    response = (ms_response - cell) / runs
    query_run = ms_query_run - harmonic * cell
    query = (ms_query - ms_query_run) / runs - harmonic * response
    return np.column_stack([query, response, run, query_run, cell - chance, repeat])


def _reasons(runs: int, several: bool, repeated: bool) -> list[str | None]:
    alone = runs == 1
    part = "response:run" if several else "query:run"
    if alone:
        part = "response" if several else "query"
    return [
        None,
        None if several else ONE_EACH,
        ONE_RUN if alone else None,
        ONE_RUN if alone else None,
        ONE_RUN if alone else None if several else ONE_EACH_RUN,
        None if repeated else NO_REPEATS.format(part=part),
    ]


def _undefined_family(reason: str, total: int, used: int, n_rows: int) -> StatisticFamily:
    size = 2 * len(RUN_COMPONENTS)
    return StatisticFamily.from_same_responses(
        lambda weights: np.full((len(weights), size), np.nan),
        np.zeros(total, dtype=bool),
        used,
        n_rows - used,
        (reason,) * size,
    )
