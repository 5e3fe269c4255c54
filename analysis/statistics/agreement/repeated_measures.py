"""Repeated-measures correlation and the equivalence test of the bias, from pingouin.

Both complement the resampled statistics. The repeated-measures correlation (Bakdash and Marusich
2017, Frontiers in Psychology 8:456) fits one slope to all queries with an intercept each: its r is
Pearson's within queries, computed in another way, and its interval takes responses as independent
within a query. The equivalence test is of the hypothesis that the bias is inside a margin declared
in advance (two one-sided t-tests, Schuirmann 1981), with one mean difference per query. pingouin
takes one to two seconds to import and is therefore imported on demand.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import numpy.typing as npt

from analysis.core.pairs import between_queries, read_pairs, within_query
from analysis.core.query_statistic import NOISE
from analysis.core.resampling import no_spread

#: Largest product of responses and queries for pingouin's linear model (8 MB, 0.1 s).
CELLS = 1_000_000

#: Fewest subjects that pingouin accepts.
SUBJECTS_NEEDED = 3


@dataclass(frozen=True)
class RepeatedMeasures:
    """r with its parametric interval, NaN with a reason where undefined."""

    r: float
    low: float
    high: float
    df: int
    n_responses: int
    n_queries: int
    n_dropped: int
    reason: str | None = None


@dataclass(frozen=True)
class Equivalence:
    """p of a bias outside the margin, with the mean of the queries' differences."""

    p: float
    difference: float
    df: int
    n_responses: int
    n_queries: int
    n_dropped: int
    reason: str | None = None


def repeated_measures_correlation(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    level: float = 0.95,
    n_queries: int | None = None,
) -> RepeatedMeasures:
    """Correlation of x and y (n,), NaN where missing, with queries as subjects.

    Queries with a single response do not enter. The interval is Fisher's at n - queries - 1 degrees
    of freedom.
    """
    pairs = within_query(read_pairs(x, y, query, None, n_queries)[0])
    nan = float("nan")
    count, queries = pairs.x.size, int(np.count_nonzero(pairs.contributing))
    df = count - queries - 1
    reason = None
    if queries < SUBJECTS_NEEDED or df < 2:
        reason = f"needs {SUBJECTS_NEEDED} queries with two responses or more, there are {queries}"
    elif any(np.unique(values).size == 1 for values in pairs.levels):
        reason = "a side does not differ between the responses of any query"
    elif count * queries > CELLS:
        reason = f"{count:,} responses of {queries:,} queries are too many for pingouin"
    if reason is not None:
        return RepeatedMeasures(
            nan, nan, nan, max(df, 0), pairs.n_responses, queries, pairs.n_dropped, reason
        )
    import pandas as pd

    with _pingouin() as library:
        # Deviations have the same common slope, and keep their digits.
        frame = pd.DataFrame({"x": pairs.x, "y": pairs.y, "query": pairs.query})
        result = library.rm_corr(frame, x="x", y="y", subject="query").iloc[0]
    r = float(result["r"])
    low, high = nan, nan
    if df > 1 and abs(r) < 1 - NOISE:
        from scipy.special import ndtri

        reach = float(ndtri((1 + level) / 2)) / np.sqrt(df - 1)
        low, high = (float(np.tanh(np.arctanh(r) + side * reach)) for side in (-1, 1))
    return RepeatedMeasures(
        r, low, high, int(result["dof"]), pairs.n_responses, queries, pairs.n_dropped
    )


def equivalence_of_bias(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    margin: float,
    n_queries: int | None = None,
) -> Equivalence:
    """Test whether the mean of x - y (n,) is within plus and minus `margin` points.

    Every query enters with the mean of its differences. ValueError unless the margin is positive.
    """
    if not margin > 0:
        raise ValueError(f"margin {margin}: a margin of equivalence must be above 0")
    pairs = between_queries(read_pairs(x, y, query, None, n_queries)[0])
    apart = pairs.x - pairs.y
    noise = NOISE * np.maximum(pairs.x_size, pairs.y_size)
    nan = float("nan")
    mean = float(apart.mean()) if apart.size else nan
    reason = None
    if apart.size < 2:
        reason = f"an equivalence test needs 2 queries, there is {apart.size}"
    elif np.ptp(apart) <= noise.max():
        reason = no_spread("the difference is the same in every query")
    if reason is not None:
        df = max(apart.size - 1, 0)
        return Equivalence(nan, mean, df, pairs.n_responses, apart.size, pairs.n_dropped, reason)
    with _pingouin() as library:
        result = library.tost(apart, 0, bound=float(margin)).iloc[0]
    return Equivalence(
        float(result["pval"]),
        mean,
        int(result["dof"]),
        pairs.n_responses,
        apart.size,
        pairs.n_dropped,
    )


@contextmanager
def _pingouin() -> Iterator[ModuleType]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # pingouin's use of pandas warns, and so do powers and Bayes factors that are not used.
        warnings.simplefilter("ignore")
        import pingouin

        yield pingouin
