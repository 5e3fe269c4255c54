"""Where people and the judge pass and fail the same responses, as sums by query.

People's verdict is the majority of a response's raters. A tie of an even number of raters counts
half as a pass and half as a fail, which is what tossing a coin gives on average; the number of ties
is kept. A single rater or an adjudicated value is its own majority.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.query_statistic import as_codes, as_values, sums_by_query

#: Columns of `ConfusionCells.sums`: people's verdict first, then the judge's.
PASS_PASS, PASS_FAIL, FAIL_PASS, FAIL_FAIL = range(4)

#: What a tie counts as.
TIED = 0.5


@dataclass(frozen=True, eq=False)
class ConfusionCells:
    """Sums by query (Q, 4) of the four cells; a tied response has half of itself in two of them."""

    sums: FloatArray
    n_responses: int
    n_dropped: int
    """Responses that people rated and the judge did not."""
    n_ties: int

    @property
    def total(self) -> FloatArray:
        """The four cells (4,) over all queries."""
        return np.asarray(self.sums.sum(axis=0))

    @property
    def contributing(self) -> BoolArray:
        """Queries (Q,) with a response that both scored."""
        return np.asarray(self.sums.sum(axis=1) > 0)


def passes(values: npt.ArrayLike, cut: npt.ArrayLike) -> FloatArray:
    """1 where a value is at least `cut` (a scalar, or of the shape of the values), 0 below.

    NaN stays.
    """
    array = as_values(values)
    return np.where(np.isfinite(array), (array >= np.asarray(cut)).astype(np.float64), np.nan)


def majority(verdicts: npt.ArrayLike) -> FloatArray:
    """Verdict (n,) of the majority of raters (n, raters): 1, 0, `TIED`, or NaN without any."""
    votes = as_values(verdicts)
    count = np.isfinite(votes).sum(axis=1)
    balance = 2 * np.nansum(votes, axis=1) - count
    decided = np.where(balance > 0, 1.0, np.where(balance < 0, 0.0, TIED))
    return np.where(count > 0, decided, np.nan)


def confusion_cells(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    items: BoolArray | None = None,
) -> ConfusionCells:
    """Cells of the judge's verdicts (n,) 0 or 1 and people's (n,) 0, 1 or `TIED`; NaN is missing.

    `items` (n,) restricts the responses.

    Raises
    ------
    ValueError
        A verdict has another value.
    """
    machine, reference = as_values(judge, "judge"), as_values(people, "people")
    codes, total = as_codes(query, len(reference), n_queries)
    for values, allowed in ((machine, (0.0, 1.0)), (reference, (0.0, TIED, 1.0))):
        wrong = values[np.isfinite(values) & ~np.isin(values, allowed)]
        if wrong.size:
            raise ValueError(f"verdict {wrong[0]:g}: expected one of {allowed}")
    rated = np.isfinite(reference) if items is None else np.isfinite(reference) & items
    both = rated & np.isfinite(machine)
    x, y = machine[both], reference[both]
    cells = np.column_stack([y * x, y * (1 - x), (1 - y) * x, (1 - y) * (1 - x)])
    return ConfusionCells(
        sums_by_query(cells, codes[both], total),
        int(np.count_nonzero(both)),
        int(np.count_nonzero(rated & ~both)),
        int(np.count_nonzero(y == TIED)),
    )
