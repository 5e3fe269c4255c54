"""Correction for attenuation: the judge's correlation if people's mean had no error.

r / sqrt(ICC(C,k)), where k raters make up each reference (Spearman 1904, American Journal of
Psychology 15:72-101). For Pearson's r only; above 1 where the reliability is too low to carry the
correction, and never cut off there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.pairs import read_pairs
from analysis.core.query_statistic import (
    QueryStatistic,
    WeightedStatistic,
    as_codes,
    as_values,
    centered,
    ratio,
    sums_by_query,
)
from analysis.statistics.agreement.paired_statistics import pearson_of
from analysis.statistics.reliability.icc import icc, icc_undefined_reason

MISSING_CELLS = (
    "some responses lack raters: the reliability is then not resampled, and no interval is given"
)


def pearson_disattenuated(
    judge: npt.ArrayLike,
    ratings: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
) -> tuple[QueryStatistic, str | None]:
    """The corrected correlation of a judge (n,) with the mean of ratings (n, raters).

    Both the correlation and ICC(C,k) are those of the responses that the judge scored and at least
    one rater rated; with missing ratings k is the harmonic mean number of ratings. Returns the
    statistic, and why it cannot be resampled (None where every rater rated all of them): then only
    its value on the sample is defined.
    """
    people, machine = as_values(ratings), as_values(judge, "judge")
    if people.ndim != 2 or machine.shape != (len(people),):
        raise ValueError(f"judge {machine.shape} and ratings {people.shape}: expected (n,), (n, R)")
    codes, total = as_codes(query, len(people), n_queries)
    present = np.isfinite(people)
    items = np.isfinite(machine) & present.any(axis=1)
    raters = present[items].any(axis=0)
    table, item_query = people[items][:, raters], codes[items]
    mean = _row_means(table)
    pairs, _ = read_pairs(machine[items], mean, item_query, None, total)
    count = int(np.count_nonzero(items))
    dropped = int(np.count_nonzero(present.any(axis=1))) - count
    complete = bool(np.isfinite(table).all())
    r_of = pearson_of(pairs) if count >= 3 else None
    reason = _reason(machine[items], mean, table)
    whole = np.ones((1, total))
    reliability = float("nan")
    if reason is None:
        k = float(table.shape[0] / np.sum(1 / np.isfinite(table).sum(axis=1)))
        reliability = icc(table, "C,k", None if complete else k)
        if not reliability > 0:
            reason = f"the reliability of people's mean is {reliability:.3g}: not above 0"
    if reason is None and r_of is not None and np.isnan(r_of(whole)[0]):
        reason = "the correlation is undefined"

    resampled = _consistency_of(table, item_query, total) if complete and reason is None else None

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        assert r_of is not None  # noqa: S101  (there is a reason otherwise)
        consistency = (
            np.full(len(weights), reliability) if resampled is None else resampled(weights)
        )
        return np.asarray(
            ratio(r_of(weights), np.sqrt(np.maximum(consistency, 0)), consistency > 0)
        )

    statistic = QueryStatistic(weighted_statistic, pairs.contributing, count, dropped, reason)
    return statistic, None if complete or reason else MISSING_CELLS


def _reason(judge: FloatArray, mean: FloatArray, table: FloatArray) -> str | None:
    if judge.size < 3:
        return f"a correlation needs at least 3 responses, there are {judge.size}"
    if table.shape[1] < 2:
        return "with one rater the reliability of people's mean is not known"
    if np.ptp(judge) == 0 or np.ptp(mean) == 0:
        return "the judge or people give every response the same value"
    return icc_undefined_reason(table, "C,k")


def _row_means(table: FloatArray) -> FloatArray:
    present = np.isfinite(table)
    return ratio(
        np.where(present, table, 0.0).sum(axis=1),
        present.sum(axis=1),
        np.asarray(present.any(axis=1)),
    )


def _consistency_of(table: FloatArray, query: IntArray, n_queries: int) -> WeightedStatistic:
    """ICC(C,k) of complete ratings (n, k) under query weights: 1 - MS_error / MS_rows."""
    k = table.shape[1]
    points = centered(table)
    rows = points.sum(axis=1)
    columns = np.column_stack([np.ones(len(points)), rows, rows**2, (points**2).sum(axis=1)])
    sums = sums_by_query(np.column_stack([columns, points]), query, n_queries)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        summed = weights @ sums
        n, total, squared_rows, squares = summed[:, :4].T
        some = n > 1
        middle = ratio(total**2, n * k, some)
        between_rows = squared_rows / k - middle
        between_raters = ratio((summed[:, 4:] ** 2).sum(axis=1), n, some) - middle
        error = squares - middle - between_rows - between_raters
        # Mean squares, both times n - 1.
        return 1 - ratio(error, (k - 1) * between_rows, some & (between_rows > 0))

    return weighted_statistic
