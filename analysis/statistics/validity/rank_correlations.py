"""Spearman's rho and Kendall's tau-b of many pairs of variables as functions of query weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import comparable, ratio
from analysis.core.statistic_family import StatisticFamily
from analysis.statistics.validity.correlation_family import TOO_FEW

#: Rows of the resamples that rank correlations use: each costs a pass over all responses.
RANK_RESAMPLES = 1000

#: The same for values too many to be counted in a table.
RANK_RESAMPLES_OF_MANY = 200


@dataclass(frozen=True, eq=False)
class _Pair:
    """Codes (n,) of queries and ranks; small integers, since there may be many pairs."""

    query: npt.NDArray[Any]
    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    n_dropped: int
    reason: str | None

    @property
    def shape(self) -> tuple[int, int]:
        return (int(self.x.max(initial=-1)) + 1, int(self.y.max(initial=-1)) + 1)


@dataclass
class RankFamily:
    """Collects pairs of variables; `family` computes rho and tau-b of all of them together."""

    query: IntArray
    n_queries: int
    _pairs: list[_Pair] = field(default_factory=list)

    def add(
        self,
        x: FloatArray,
        y: FloatArray,
        items: BoolArray | None = None,
        names: tuple[str, str] = ("x", "y"),
    ) -> int:
        """Pair of x and y (n,) over `items` (n,) with both values.

        Returns the place of rho in the family; tau-b follows it.
        """
        chosen = np.ones(x.size, dtype=bool) if items is None else items
        has_x, has_y = np.isfinite(x), np.isfinite(y)
        both = has_x & has_y & chosen
        a, b = (np.unique(v, return_inverse=True)[1] for v in (x[both], y[both]))
        dropped = int(np.count_nonzero((has_x ^ has_y) & chosen))
        n = int(both.sum())
        reason = None
        if n < 2:
            reason = TOO_FEW.format(n=n)
        else:
            for codes, name in ((a, names[0]), (b, names[1])):
                if codes.max() == 0 and reason is None:
                    reason = f"{name} does not vary over the {n} responses with both values"
        query, a, b = (_small(column) for column in (self.query[both], a, b))
        self._pairs.append(_Pair(query, a, b, dropped, reason))
        return 2 * len(self._pairs) - 2

    @property
    def resamples(self) -> int:
        """How many rows of resamples suit the values: fewer where they are not in a table."""
        from analysis.statistics.validity.rank_tables import TABLE_CELLS

        many = any(pair.shape[0] * pair.shape[1] > TABLE_CELLS for pair in self._pairs)
        return RANK_RESAMPLES_OF_MANY if many else RANK_RESAMPLES

    def family(self) -> StatisticFamily:
        """Rho and tau-b of every pair, in turn."""
        pairs = tuple(self._pairs)

        def weighted_statistic(weights: FloatArray) -> FloatArray:
            from analysis.statistics.validity.rank_tables import in_lanes

            lanes = in_lanes(weights)
            out = np.full((weights.shape[0], 2 * len(pairs)), np.nan)
            for place, pair in enumerate(pairs):
                if pair.reason is None:
                    out[:, 2 * place : 2 * place + 2] = _both(pair, weights, lanes)
            return out

        contributing = [
            np.bincount(pair.query, minlength=self.n_queries) > 0 for pair in pairs for _ in "rt"
        ]
        return StatisticFamily(
            weighted_statistic,
            np.column_stack(contributing)
            if contributing
            else np.zeros((self.n_queries, 0), dtype=bool),
            np.array([pair.query.size for pair in pairs for _ in "rt"], dtype=np.int64),
            np.array([pair.n_dropped for pair in pairs for _ in "rt"], dtype=np.int64),
            tuple(pair.reason for pair in pairs for _ in "rt"),
        )


def ranked(values: FloatArray) -> FloatArray:
    """Values (n,) in which float noise makes no order; NaN stays."""
    return comparable(values)


def _small(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return codes.astype(np.min_scalar_type(-int(codes.max(initial=0)) - 1))


def _both(pair: _Pair, weights: FloatArray, lanes: FloatArray) -> FloatArray:
    """Rho and tau-b (R, 2)."""
    from analysis.statistics.validity.rank_tables import (
        TABLE_CELLS,
        mid_rank_sums,
        rank_sums_by_table,
    )

    rows, (n_x, n_y) = weights.shape[0], pair.shape
    query, ranks_x, ranks_y = (each.astype(np.int64) for each in (pair.query, pair.x, pair.y))
    if n_x * n_y <= TABLE_CELLS:
        sums = rank_sums_by_table(lanes, query, ranks_x, ranks_y, n_x, n_y)[:rows]
        tau = _quotient(sums[:, 0], sums[:, 1], sums[:, 2])
        rho = _quotient(sums[:, 3], sums[:, 4], sums[:, 5])
    else:
        from analysis.statistics.agreement.kendall import tau_b_of_weights

        sums = mid_rank_sums(lanes, query, ranks_x, ranks_y, n_x, n_y)[:rows]
        rho = _quotient(sums[:, 0], sums[:, 1], sums[:, 2])
        x, y = ranks_x.astype(np.float64), ranks_y.astype(np.float64)
        tau = tau_b_of_weights(x, y, query)(weights)
    return np.column_stack([rho, tau])


def _quotient(product: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    scale = np.sqrt(np.maximum(x, 0)) * np.sqrt(np.maximum(y, 0))
    return np.clip(ratio(product, scale, scale > 0), -1, 1)
