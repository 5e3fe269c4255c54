"""The share of pairs of responses that a scorer orders as people do."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.core.end_intervals import STEP_OF_ORDER
from analysis.core.pairs import read_pairs, within_query
from analysis.core.query_statistic import QueryStatistic, undefined
from analysis.statistics.agreement.pair_figures import concordance as figure
from analysis.statistics.agreement.paired_statistics import kendall_of, kendall_within_of


def concordance(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    scope: Literal["pooled", "within_query"] = "pooled",
    *,
    n_queries: int | None = None,
) -> QueryStatistic:
    """Share (0 to 1) of the pairs that y (n,) orders which x (n,) orders alike.

    A pair that x ties counts half, one that y ties does not count. Pooled: all pairs of responses;
    within query: pairs of responses to one query, summed over queries.
    """
    pairs, _ = read_pairs(x, y, query, None, n_queries)
    if scope == "within_query":
        pairs = within_query(pairs)
    weighted_statistic = (kendall_within_of if scope == "within_query" else kendall_of)(
        pairs, figure
    )
    reason = None
    if np.isnan(weighted_statistic(np.ones((1, pairs.n_queries)))[0]):
        where = " to one query" if scope == "within_query" else ""
        reason = f"people order no two responses{where}"
    return QueryStatistic(
        undefined if reason else weighted_statistic,
        pairs.contributing,
        pairs.n_responses,
        pairs.n_dropped,
        reason,
        resolution=STEP_OF_ORDER,
    )
