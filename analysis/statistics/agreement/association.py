"""Agreement of two scorers on the same responses, in each scope.

Every function takes x and y (n,), one value per response with NaN where missing, and the query
codes (n,), and returns a `QueryStatistic`. x is the one examined (a judge), y the reference: bias
and MAE are of x minus y.

Scopes
    pooled           all responses, or those marked by `items` (one system's, for instance)
    between_queries  one point per query, the means over its common responses
    within_query     deviations from the query's means; Kendall counts pairs inside queries only
    system_level     one point per system, the means over the responses it produced

Notes. Only responses with both values enter. Spearman within queries ranks the deviations over all
queries. Values that differ by float noise only are equal (`comparable`), so that it makes no order.
Correlations equal scipy's pearsonr, spearmanr and kendalltau on the pooled sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.pairs import Pairs, Scope, between_queries, read_pairs, within_query
from analysis.core.query_statistic import OfWeights, QueryStatistic, undefined
from analysis.statistics.agreement.paired_statistics import (
    kendall_of,
    kendall_within_of,
    mean_of,
    pearson_of,
    spearman_of,
    within_query_pairs,
)
from analysis.statistics.agreement.system_level import system_level

Measure = Literal["pearson", "spearman", "kendall_tau_b", "mae", "bias"]
CORRELATIONS = ("pearson", "spearman", "kendall_tau_b")
Names = tuple[str, str]


def association(
    measure: Measure,
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    query: npt.ArrayLike,
    scope: Scope = "pooled",
    *,
    items: npt.ArrayLike | None = None,
    produced: npt.ArrayLike | None = None,
    n_queries: int | None = None,
    names: Names = ("x", "y"),
) -> QueryStatistic:
    """One measure in one scope; `produced` (n, S) bool is needed at system level.

    `names` are used in reasons. Raises ValueError on unknown measures and scopes, and for the
    bias within queries, which is 0 by construction.
    """
    if measure not in get_args(Measure):
        raise ValueError(f"measure {measure!r}: expected one of {', '.join(get_args(Measure))}")
    if scope not in get_args(Scope):
        raise ValueError(f"scope {scope!r}: expected one of {', '.join(get_args(Scope))}")
    if measure == "bias" and scope == "within_query":
        raise ValueError("the bias within queries is 0 by construction: ask for another scope")
    pairs, both = read_pairs(x, y, query, items, n_queries)
    if scope == "system_level":
        if produced is None:
            raise ValueError("system_level needs `produced` (n, systems): who gave which response")
        return system_level(measure, pairs, np.asarray(produced, dtype=bool)[both], names)
    if scope == "between_queries":
        pairs = between_queries(pairs)
    elif scope == "within_query":
        pairs = within_query(pairs)
    reason = _reason(measure, pairs, scope, names)
    of_weights = undefined if reason is not None else _kernel(measure, pairs, scope)
    return QueryStatistic(
        of_weights, pairs.contributing, pairs.n_responses, pairs.n_dropped, reason
    )


def _shorthand(measure: Measure) -> Callable[..., QueryStatistic]:
    def function(
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        query: npt.ArrayLike,
        scope: Scope = "pooled",
        *,
        items: npt.ArrayLike | None = None,
        produced: npt.ArrayLike | None = None,
        n_queries: int | None = None,
        names: Names = ("x", "y"),
    ) -> QueryStatistic:
        return association(
            measure, x, y, query, scope,
            items=items, produced=produced, n_queries=n_queries, names=names,
        )  # fmt: skip

    function.__name__ = function.__qualname__ = measure
    function.__doc__ = f"`association` with the measure {measure}."
    return function


pearson = _shorthand("pearson")
spearman = _shorthand("spearman")
kendall_tau_b = _shorthand("kendall_tau_b")
mae = _shorthand("mae")
bias = _shorthand("bias")


def undefined_query_share(
    x: npt.ArrayLike, y: npt.ArrayLike, query: npt.ArrayLike, items: npt.ArrayLike | None = None
) -> float:
    """Share of queries (with two common responses or more) that have no Kendall tau of their own.

    Either scorer gave all its responses one value. Averaging the remaining taus would select
    queries, which is why the statistic within queries sums pairs. NaN without such queries.
    """
    pairs, _ = read_pairs(x, y, query, items)
    compared = np.bincount(pairs.query, minlength=pairs.n_queries) >= 2
    if not compared.any():
        return float("nan")
    _, untied_x, untied_y = within_query_pairs(pairs)[compared].T
    return float(np.mean((untied_x == 0) | (untied_y == 0)))


def _kernel(measure: Measure, pairs: Pairs, scope: Scope) -> OfWeights:
    if measure == "pearson":
        return pearson_of(pairs, deviations=scope == "within_query")
    if measure == "spearman":
        return spearman_of(pairs)
    if measure == "kendall_tau_b":
        return kendall_within_of(pairs) if scope == "within_query" else kendall_of(pairs)
    difference = pairs.x - pairs.y
    values = difference if measure == "bias" else np.abs(difference)
    return mean_of(values, pairs.query, pairs.n_queries)


def _reason(measure: Measure, pairs: Pairs, scope: Scope, names: Names) -> str | None:
    """Why the measure is undefined on these points; None where it is defined."""
    count = pairs.x.size
    if measure not in CORRELATIONS:
        return None if count else "no response has both values"
    if count < 3:
        of = {"between_queries": "queries", "within_query": "responses in queries of two or more"}
        return f"a correlation needs at least 3 {of.get(scope, 'responses')}, there are {count}"
    for name, values in zip(names, pairs.levels, strict=True):
        if np.unique(values).size == 1:
            if scope == "within_query":
                return f"{name} does not differ between the responses of any query"
            return f"{name} gives every one the same value ({values[0]:g})"
    return None
