"""Agreement of two scorers on the same responses, in each scope.

Every statistic takes x and y (n,), one value per response with NaN where missing, and the query
codes (n,), and is a `QueryStatistic`. x is the scorer that is examined (a judge), y the reference:
bias and MAE are those of x minus y.

Scopes
    pooled           all responses, or those marked by `items` (for instance one system's)
    between_queries  one point per query, the means over its common responses
    within_query     deviations from the query's means; Kendall counts pairs inside queries only
    system_level     one point per system, the means over the responses it produced

Only responses with both values enter. Spearman within queries ranks the deviations over all
queries. Values that differ by float noise only are equal (`comparable`) and so have no order.
Correlations equal scipy's pearsonr, spearmanr and kendalltau on the pooled sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.pairs import Pairs, Scope, between_queries, read_pairs, within_query
from analysis.core.query_statistic import (
    NOISE,
    QueryStatistic,
    WeightedStatistic,
    centered,
    comparable,
    in_row_blocks,
    ratio,
    smallest_difference,
    sums_by_query,
    undefined,
)
from analysis.core.unequal_queries import QueryWeights, by_leaving_out
from analysis.statistics.agreement.paired_statistics import (
    kendall_of,
    kendall_within_of,
    mean_of,
    pearson_of,
    spearman_of,
)

DIFFERENCES = ("mae", "bias")


def system_level(
    measure: str, pairs: Pairs, produced: BoolArray, names: tuple[str, str]
) -> QueryStatistic:
    """A measure of the systems' means over their common responses; produced (n, S) bool.

    A response produced by several systems counts for each. Systems without a common response do
    not enter; a resample in which one of the others has none is undefined.
    """
    if produced.ndim != 2 or produced.shape[0] != pairs.x.size:
        raise ValueError(
            f"produced has shape {produced.shape}, expected one row for each response and one "
            "column for each system"
        )
    chosen = produced[:, produced.any(axis=0)].astype(np.float64)
    x, y = pairs.x, pairs.y
    if measure not in DIFFERENCES:
        x, y = centered(x), centered(y)
    counts_of, *sums = [
        sums_by_query(chosen * values[:, None], pairs.query, pairs.n_queries)
        if chosen.shape[1]
        else np.zeros((pairs.n_queries, 0))
        for values in (np.ones(pairs.x.size), x, y, pairs.x_size, pairs.y_size)
    ]

    def means(weights: FloatArray) -> tuple[FloatArray, ...]:
        counts = weights @ counts_of
        return tuple(ratio(weights @ of, counts, counts > 0) for of in sums)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        return _ROWWISE[measure](*means(weights))

    used = np.asarray(chosen.any(axis=1), dtype=bool)
    reason = _system_reason(measure, chosen, pairs, means(np.ones((1, pairs.n_queries))), names)
    return QueryStatistic(
        # Ranks compare every two systems.
        lambda weights: in_row_blocks(weighted_statistic, weights, 4 * chosen.shape[1] ** 2),
        np.bincount(pairs.query[used], minlength=pairs.n_queries) > 0,
        int(np.count_nonzero(used)),
        pairs.n_dropped + int(np.count_nonzero(~used)),
        reason,
        weights=QueryWeights.from_responses(
            pairs.query[used],
            pairs.n_queries,
            pairs.query,
            lambda: by_leaving_out(
                system_level(measure, _each_alone(pairs), produced, names).weighted_statistic, used
            ),
        ),
    )


def _system_reason(
    measure: str,
    chosen: FloatArray,
    pairs: Pairs,
    means: tuple[FloatArray, ...],
    names: tuple[str, str],
) -> str | None:
    n_systems = chosen.shape[1]
    if measure in DIFFERENCES:
        return None if n_systems else "no system has a response with both values"
    if n_systems < 3:
        return f"a correlation of systems needs at least 3, there are {n_systems}"
    x, y, x_size, y_size = (of[0] for of in means)
    in_first = chosen[:, 0] > 0
    for name, points, values, size in zip(
        names, (pairs.x, pairs.y), (x, y), (x_size, y_size), strict=True
    ):
        if np.unique(comparable(values, size)).size == 1:
            return f"{name} gives every system the same mean ({points[in_first].mean():g})"
    return None


def _pearson_rows(
    x: FloatArray, y: FloatArray, x_size: FloatArray, y_size: FloatArray
) -> FloatArray:
    dx = x - x.mean(axis=1, keepdims=True)
    dy = y - y.mean(axis=1, keepdims=True)
    vx, vy = (dx**2).sum(axis=1), (dy**2).sum(axis=1)
    varies = (vx > ((NOISE * x_size) ** 2).sum(axis=1)) & (vy > ((NOISE * y_size) ** 2).sum(axis=1))
    scale = np.sqrt(vx) * np.sqrt(vy)
    # Only rounding carries a correlation beyond 1 in magnitude.
    return np.clip(ratio((dx * dy).sum(axis=1), scale, varies & (scale > 0)), -1, 1)


def _spearman_rows(
    x: FloatArray, y: FloatArray, x_size: FloatArray, y_size: FloatArray
) -> FloatArray:
    # A system's signs against all sum up to twice its rank, measured from the middle.
    return _whole_number_correlation(_signs(x, x_size).sum(axis=2), _signs(y, y_size).sum(axis=2))


def _signs(values: FloatArray, size: FloatArray) -> FloatArray:
    """Order of every two systems (R, S, S); 0 where their means differ by float noise only."""
    difference = values[:, :, None] - values[:, None, :]
    noise = NOISE * np.maximum(size[:, :, None], size[:, None, :])
    return np.asarray(np.where(np.abs(difference) <= noise, 0.0, np.sign(difference)))


def _kendall_rows(
    x: FloatArray, y: FloatArray, x_size: FloatArray, y_size: FloatArray
) -> FloatArray:
    shape = (x.shape[0], -1)
    return _whole_number_correlation(
        _signs(x, x_size).reshape(shape), _signs(y, y_size).reshape(shape)
    )


def _whole_number_correlation(x: FloatArray, y: FloatArray) -> FloatArray:
    """Correlation of rows of whole numbers whose mean is 0; exactly 1 where it is 1."""
    scale = np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1))
    return ratio((x * y).sum(axis=1), scale, scale > 0)


def _mae_rows(x: FloatArray, y: FloatArray, *_: FloatArray) -> FloatArray:
    return np.asarray(np.abs(x - y).mean(axis=1))


def _bias_rows(x: FloatArray, y: FloatArray, *_: FloatArray) -> FloatArray:
    return np.asarray((x - y).mean(axis=1))


_ROWWISE: dict[str, Callable[..., FloatArray]] = {
    "pearson": _pearson_rows,
    "spearman": _spearman_rows,
    "kendall_tau_b": _kendall_rows,
    "mae": _mae_rows,
    "bias": _bias_rows,
}


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
    weighted_statistic = undefined if reason is not None else _kernel(measure, pairs, scope)
    key = _key(pairs) if measure == "kendall_tau_b" and scope != "within_query" else None
    return QueryStatistic(
        weighted_statistic,
        pairs.contributing,
        pairs.n_responses,
        pairs.n_dropped,
        reason,
        key,
        trials=untied_trials(pairs, scope) if measure in CORRELATIONS else None,
        resolution=smallest_step(pairs) if measure in DIFFERENCES else None,
        weights=_weights(measure, pairs, scope, both, query),
    )


def _weights(
    measure: Measure, pairs: Pairs, scope: Scope, both: BoolArray, query: npt.ArrayLike
) -> QueryWeights | None:
    """By how much each query counts."""
    if scope == "between_queries":
        return None
    if scope == "within_query" and measure == "kendall_tau_b":
        return QueryWeights.from_pairs(pairs.query, pairs.n_queries)
    codes = np.asarray(query).astype(np.int64)
    entering = both.copy()
    if scope == "within_query":
        entering &= (np.bincount(codes[both], minlength=pairs.n_queries) >= 2)[codes]

    def contributions() -> FloatArray:
        out = np.full(entering.size, np.nan)
        alone = np.ones(pairs.x.size, dtype=bool)
        out[entering] = by_leaving_out(_kernel(measure, _each_alone(pairs), scope), alone)
        return out

    return QueryWeights.from_responses(pairs.query, pairs.n_queries, codes, contributions)


def _each_alone(pairs: Pairs) -> Pairs:
    """The points as if each were of a query of its own."""
    return replace(pairs, query=np.arange(pairs.x.size), n_queries=pairs.x.size)


def untied_trials(pairs: Pairs, scope: Scope) -> int:
    """How many independent comparisons order what they compare, for a perfect order.

    Within queries each query with different values is one. Elsewhere a comparison needs two values
    that differ, so that a value which most points share leaves few: twice the number of the others.
    """
    x, y = pairs.levels
    if scope == "within_query":
        lowest, highest = (
            _by_query(of, x, pairs.query, pairs.n_queries) for of in (np.minimum, np.maximum)
        )
        return int(np.count_nonzero(highest > lowest))
    most = max(int(np.unique(values, return_counts=True)[1].max(initial=0)) for values in (x, y))
    queries = int(np.count_nonzero(pairs.contributing))
    return min(queries, 2 * (x.size - most))


def _by_query(extreme: np.ufunc, values: FloatArray, query: IntArray, n_queries: int) -> FloatArray:
    out = np.full(n_queries, np.inf if extreme is np.minimum else -np.inf)
    extreme.at(out, query, values)
    return out


def smallest_step(pairs: Pairs) -> float | None:
    """The smallest difference of two values that occur, for a query; None where all are equal.

    A mean of n responses is moved by 1/n of it where one more response differs; intervals divide by
    the number of queries.
    """
    step, queries = smallest_difference(*pairs.levels), np.count_nonzero(pairs.contributing)
    return None if step is None else step * float(queries) / max(1, pairs.n_responses)


def _key(pairs: Pairs) -> bytes:
    """Digest of what tau-b over all pairs is made from; it costs far more than this."""
    digest = blake2b(b"kendall_tau_b")
    for array in (*pairs.levels, pairs.query):
        digest.update(array.tobytes())
    return digest.digest()


def _kernel(measure: Measure, pairs: Pairs, scope: Scope) -> WeightedStatistic:
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
            return f"{name} gives every response the same value ({values[0]:g})"
    return None
