"""Pearson correlations of many pairs of variables, on one product of the query weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import NEGLIGIBLE, centered, comparable, in_row_blocks, ratio
from analysis.core.statistic_family import QueryColumns, StatisticFamily

#: A correlation nearer to 1 than this is 1 but for rounding.
AT_ONE = 1e-12


def prepared(values: FloatArray) -> FloatArray:
    """Values (n,) centered, in units of their largest deviation, without float noise; NaN stays.

    Correlations do not depend on origin and unit, and sums of squares keep their digits.
    """
    out = centered(comparable(values))
    finite = out[np.isfinite(out)]
    return out / (float(np.abs(finite).max(initial=0.0)) or 1.0)


TOO_FEW = "a correlation needs 2 responses with both values, there are {n}"


@dataclass
class CorrelationFamily:
    """Collects pairs of variables; `family` computes all their correlations together."""

    query: IntArray
    n_queries: int
    _columns: QueryColumns = field(init=False)
    _places: list[tuple[int, ...]] = field(default_factory=list)
    _contributing: list[BoolArray] = field(default_factory=list)
    _used: list[int] = field(default_factory=list)
    _dropped: list[int] = field(default_factory=list)
    _reasons: list[str | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._columns = QueryColumns(self.n_queries)

    def add(
        self,
        x: FloatArray,
        y: FloatArray,
        items: BoolArray | None = None,
        names: tuple[str, str] = ("x", "y"),
    ) -> int:
        """Correlation of x and y (n,), both `prepared`, over `items` (n,) with both values."""
        chosen = np.ones(x.size, dtype=bool) if items is None else items
        has_x, has_y = np.isfinite(x), np.isfinite(y)
        both = has_x & has_y & chosen
        a, b = x[both], y[both]
        products = (np.ones(a.size), a, b, a * a, b * b, a * b)
        sums = np.column_stack(
            [np.bincount(self.query[both], column, self.n_queries) for column in products]
        ).astype(np.float64)
        dropped = int(np.count_nonzero((has_x ^ has_y) & chosen))
        return self.add_sums(sums, int(both.sum()), dropped, names)

    def add_sums(
        self,
        sums: FloatArray,
        n_responses: int,
        n_dropped: int = 0,
        names: tuple[str, str] = ("x", "y"),
        too_few: str = TOO_FEW,
    ) -> int:
        """The same from sums by query (Q, 6): weight, x, y, xx, yy, xy; returns its position.

        `too_few` is the reason given where there are less than 2 responses.
        """
        self._places.append(tuple(self._columns.position(column) for column in sums.T))
        self._contributing.append(np.asarray(sums[:, 0] > 0))
        self._used.append(n_responses)
        self._dropped.append(n_dropped)
        self._reasons.append(_reason(sums.sum(axis=0), n_responses, names, too_few))
        return len(self._places) - 1

    def family(self) -> StatisticFamily:
        """All correlations added so far, in their order."""
        places = np.array(self._places, dtype=np.int64).reshape(-1, 6).T
        summed = self._columns.sums()

        def correlations_of_rows(weights: FloatArray) -> FloatArray:
            totals = summed(weights)
            n, sx, sy, sxx, syy, sxy = (totals[:, place] for place in places)
            vx, vy = n * sxx - sx * sx, n * syy - sy * sy
            defined = (vx > NEGLIGIBLE * n * sxx) & (vy > NEGLIGIBLE * n * syy)
            scale = np.sqrt(np.maximum(vx, 0)) * np.sqrt(np.maximum(vy, 0))
            # Only rounding carries a correlation beyond 1 in magnitude.
            return np.clip(ratio(n * sxy - sx * sy, scale, defined & (scale > 0)), -1, 1)

        return StatisticFamily(
            lambda weights: in_row_blocks(correlations_of_rows, weights, 16 * len(self._places)),
            np.column_stack(self._contributing)
            if self._contributing
            else np.zeros((self.n_queries, 0), dtype=bool),
            np.array(self._used, dtype=np.int64),
            np.array(self._dropped, dtype=np.int64),
            tuple(self._reasons),
        )


def _reason(sums: FloatArray, n: int, names: tuple[str, str], too_few: str) -> str | None:
    """Why the correlation is undefined on the sample itself."""
    if n < 2:
        return too_few.format(n=n)
    weight, sx, sy, sxx, syy, _ = sums
    for total, square, name in ((sx, sxx, names[0]), (sy, syy, names[1])):
        if weight * square - total * total <= NEGLIGIBLE * weight * square:
            return f"{name} does not vary over the {n} responses with both values"
    return None
