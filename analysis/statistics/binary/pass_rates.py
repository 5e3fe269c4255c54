"""The share of responses that people would pass, from a judge's verdicts and its two rates.

A judge that passes a share q of the responses, with true positive rate a and true negative rate b,
has passed them out of a share (q + b - 1) / (a + b - 1) that people pass. Source: Rogan and Gladen
(1978), American Journal of Epidemiology 107:71-76. The rates are of all labeled responses, so that
they must be the same for every system: where a judge lets more failures of one system through, the
corrected mean of people's own verdicts (`statistics.correction`) is right and this one is not
(tests/coverage/pass_rates.csv).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.query_statistic import (
    QueryStatistic,
    as_codes,
    as_values,
    ratio,
    sums_by_query,
    undefined,
)
from analysis.statistics.binary.confusion_cells import (
    FAIL_FAIL,
    FAIL_PASS,
    PASS_FAIL,
    PASS_PASS,
    ConfusionCells,
)
from analysis.statistics.binary.rates import balanced_accuracy

#: True positive plus true negative rate minus 1 at which verdicts and people are unrelated.
_UNRELATED = 1e-9

#: With fewer labeled passes or fails there is no interval: with 3 it covers .73 to .90, with 4 .93
#: to .94, from 5 on .94 or more (tests/coverage/few_of_a_class.csv).
FEWEST = 5

NO_RATES = "people pass, or fail, none of the labeled responses: the judge's rates are not known"
NO_VERDICT = "the judge gave no verdict on responses of this system"
BY_CHANCE = (
    "the judge passes at least as many of the responses that people fail as of those that they pass"
)


def pass_rate_by_rates(
    judge: npt.ArrayLike,
    people: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    items: BoolArray | None = None,
    probability: npt.ArrayLike | None = None,
) -> QueryStatistic:
    """Share of the responses `items` (n,) that people would pass; it may be outside 0 to 1.

    The judge's verdicts (n,) are 0 or 1, people's 0, 1 or a tie between them, NaN where missing.
    Its rates are of all responses with both, weighted by 1 / `probability` (n,) of being rated.
    """
    machine, reference = as_values(judge, "judge"), as_values(people, "people")
    codes, total = as_codes(query, len(machine), n_queries)
    weight = 1 / np.ones(len(machine)) if probability is None else 1 / as_values(probability)
    both = np.isfinite(machine) & np.isfinite(reference)
    x, y = np.where(both, machine, 0.0), np.where(both, reference, 0.0)
    labeled = both * weight
    judged = np.isfinite(machine) if items is None else np.isfinite(machine) & items
    sums = sums_by_query(
        np.column_stack(
            [
                *(labeled * cell for cell in (y * x, y * (1 - x), (1 - y) * x, (1 - y) * (1 - x))),
                judged * np.where(judged, machine, 0.0),
                judged,
            ]
        ),
        codes,
        total,
    )
    sample_sums = sums.sum(axis=0)
    reason = None
    if not sample_sums[5]:
        reason = NO_VERDICT
    elif not (sample_sums[:2].sum() and sample_sums[2:4].sum()):
        reason = NO_RATES
    elif _informedness(sample_sums[None, :])[0] <= _UNRELATED:
        reason = BY_CHANCE

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        row_sums = weights @ sums
        beyond = _informedness(row_sums)
        fails = row_sums[:, FAIL_PASS] + row_sums[:, FAIL_FAIL]
        let_through = ratio(row_sums[:, FAIL_PASS], fails, fails > 0)
        passed = ratio(row_sums[:, 4], row_sums[:, 5], row_sums[:, 5] > 0)
        return ratio(passed - let_through, beyond, beyond > _UNRELATED)

    return QueryStatistic(
        undefined if reason else weighted_statistic,
        (sums[:, :4].sum(axis=1) > 0) | (sums[:, 5] > 0),
        int(sample_sums[5]),
        0,
        reason,
    )


def why_rates_are_unknown(cells: ConfusionCells, level: float = 0.95) -> str | None:
    """Why labels say too little about the judge's rates for an interval; None where they do not."""
    fewest = float(min(cells.total[:2].sum(), cells.total[2:].sum()))
    if fewest < FEWEST:
        return f"people pass, or fail, only {fewest:g} of the labeled responses"
    if not balanced_accuracy(cells, level).interval.low > 0.5:
        return f"the labels do not exclude that {BY_CHANCE}"
    return None


def _informedness(cells: FloatArray) -> FloatArray:
    """True positive rate plus true negative rate minus 1, of rows of cells (R, 4 or more)."""
    passes = cells[:, PASS_PASS] + cells[:, PASS_FAIL]
    fails = cells[:, FAIL_PASS] + cells[:, FAIL_FAIL]
    defined = (passes > 0) & (fails > 0)
    right = ratio(cells[:, PASS_PASS], passes, defined) + ratio(cells[:, FAIL_FAIL], fails, defined)
    return np.where(defined, right - 1, np.nan)
