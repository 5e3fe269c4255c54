"""Rates of a judge that passes or fails responses, against people's verdicts.

With TP, FN, FP and TN the responses that both pass, that people alone pass, that the judge alone
passes, and that both fail. A pass is the positive class, as `pos_label=1` in scikit-learn, whose
functions give the same values on the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.interval import Interval, withheld
from analysis.core.query_statistic import QueryStatistic, ratio, undefined
from analysis.statistics.binary.clustered_share import METHOD, clustered_share
from analysis.statistics.binary.confusion_cells import (
    FAIL_FAIL,
    FAIL_PASS,
    PASS_FAIL,
    PASS_PASS,
    ConfusionCells,
)

_Weights = tuple[float, float, float, float]
_CellFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Ratio:
    """A share as a quotient of sums of the cells TP, FN, FP and TN, and when it is undefined."""

    hits: _Weights
    of: _Weights
    empty: str


RATES: Mapping[str, Ratio] = MappingProxyType(
    {
        "true_positive_rate": Ratio(
            (1, 0, 0, 0), (1, 1, 0, 0), "people pass none of the responses"
        ),
        "true_negative_rate": Ratio(
            (0, 0, 0, 1), (0, 0, 1, 1), "people fail none of the responses"
        ),
        "precision": Ratio((1, 0, 0, 0), (1, 0, 1, 0), "the judge passes none of the responses"),
        "f1": Ratio((2, 0, 0, 0), (2, 1, 1, 0), "neither people nor the judge pass a response"),
        "accuracy": Ratio((1, 0, 0, 1), (1, 1, 1, 1), "people and the judge share no response"),
    }
)


@dataclass(frozen=True)
class RateValue:
    """A rate (NaN with its reason) with its interval; `of` is the number of responses below it."""

    value: float
    interval: Interval
    of: float
    reason: str | None = None


def rate(cells: ConfusionCells, name: str, level: float = 0.95) -> RateValue:
    """One of `RATES`, with the interval of a share of clustered responses."""
    quotient = RATES[name]
    hits, of = cells.sums @ np.array(quotient.hits), cells.sums @ np.array(quotient.of)
    total = float(of.sum())
    if total <= 0:
        none = withheld(level, METHOD, quotient.empty)
        return RateValue(float("nan"), none, 0.0, quotient.empty)
    return RateValue(float(hits.sum() / total), clustered_share(hits, of, level), total)


def balanced_accuracy(cells: ConfusionCells, level: float = 0.95) -> RateValue:
    """Mean of the true positive and the true negative rate.

    The interval combines those of the two rates (Zou and Donner 2008, Statistics in Medicine
    27:1693-1702), which are of different responses.
    """
    parts = [rate(cells, name, level) for name in ("true_positive_rate", "true_negative_rate")]
    reason = parts[0].reason or parts[1].reason
    value = float(np.mean([part.value for part in parts]))
    of = float(cells.total.sum())
    why = reason or parts[0].interval.reason or parts[1].interval.reason
    if why:
        return RateValue(value, withheld(level, METHOD, why), of, reason)
    below, above = (
        float(np.hypot(*[part.value - getattr(part.interval, end) for part in parts])) / 2
        for end in ("low", "high")
    )
    return RateValue(value, Interval(value - below, value + above, level, METHOD), of)


def mcc(cells: ConfusionCells) -> QueryStatistic:
    """Matthews's correlation coefficient: Pearson's r of the two verdicts."""
    return _cell_statistic(cells, _mcc)


def kappa(cells: ConfusionCells) -> QueryStatistic:
    """Cohen's kappa of the judge and people's verdict."""
    return _cell_statistic(cells, _kappa)


def chance_agreement(cells: ConfusionCells) -> float:
    """Share of responses on which two with these pass rates agree by chance; NaN without any."""
    with np.errstate(invalid="ignore"):
        tp, fn, fp, tn = cells.total / cells.total.sum()
    return float((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn))


def _cell_statistic(cells: ConfusionCells, function: _CellFunction) -> QueryStatistic:
    reason = None
    if not cells.n_responses:
        reason = RATES["accuracy"].empty
    elif np.isnan(function(cells.total[None, :])[0]):
        reason = "people or the judge give one verdict throughout"

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        return function(weights @ cells.sums)

    return QueryStatistic(
        undefined if reason else weighted_statistic,
        cells.contributing,
        cells.n_responses,
        cells.n_dropped,
        reason,
        trials=_comparisons(cells),
    )


def _comparisons(cells: ConfusionCells) -> int | None:
    """How many independent comparisons of a passed and a failed response there are."""
    people_pass, people_fail, *_ = (float(part[0]) for part in _margins(cells.total[None, :]))
    queries = int(np.count_nonzero(cells.contributing))
    return min(queries, int(2 * min(people_pass, people_fail))) or None


def _margins(cells: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """People's passes and fails and the judge's, each (R,)."""
    return (
        cells[:, PASS_PASS] + cells[:, PASS_FAIL],
        cells[:, FAIL_PASS] + cells[:, FAIL_FAIL],
        cells[:, PASS_PASS] + cells[:, FAIL_PASS],
        cells[:, PASS_FAIL] + cells[:, FAIL_FAIL],
    )


def _mcc(cells: FloatArray) -> FloatArray:
    product = np.prod(_margins(cells), axis=0)
    covariance = (
        cells[:, PASS_PASS] * cells[:, FAIL_FAIL] - cells[:, PASS_FAIL] * cells[:, FAIL_PASS]
    )
    return ratio(covariance, np.sqrt(product), product > 0)


def _kappa(cells: FloatArray) -> FloatArray:
    people_pass, people_fail, judge_pass, judge_fail = _margins(cells)
    total = cells.sum(axis=1)
    agreed = (cells[:, PASS_PASS] + cells[:, FAIL_FAIL]) * total
    chance = people_pass * judge_pass + people_fail * judge_fail
    possible = total**2 - chance
    return ratio(agreed - chance, possible, possible > 0)
