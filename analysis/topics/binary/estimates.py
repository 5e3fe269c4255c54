"""How often a judge passes what people pass and fails what they fail, with its other rates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.statistics.binary.confusion_cells import ConfusionCells
from analysis.statistics.binary.rates import (
    RATES,
    RateValue,
    balanced_accuracy,
    chance_agreement,
    kappa,
    mcc,
    rate,
)
from analysis.topics.binary.chance_corrected_coverage import measured_coverage
from analysis.topics.binary.cut_coverage import coverage_at_cut
from analysis.topics.binary.pass_fail_values import PassFailValues, pass_or_fail

#: People's verdict and the judge's of the four cells, in their order.
CELLS = (("pass", "pass"), ("pass", "fail"), ("fail", "pass"), ("fail", "fail"))

#: Rates that go up or down with the cut of a graded judge.
MOVED_BY_CUT = ("true_positive_rate", "true_negative_rate")


def rates(context: Context) -> Iterator[Estimate]:
    """The rates of every scorer on each construct that people pass or fail."""
    for verdicts in pass_or_fail(context):
        cells = verdicts.cells()
        for name in RATES:
            yield rate_estimate(name, verdicts, cells, rate(cells, name, context.options.level))
        balanced = balanced_accuracy(cells, context.options.level)
        yield rate_estimate("balanced_accuracy", verdicts, cells, balanced)
        yield from _chance_corrected(context, verdicts, cells)
        yield from _confusion(verdicts, cells)


def rate_estimate(
    name: str, verdicts: PassFailValues, cells: ConfusionCells, value: RateValue, **params: Any
) -> Estimate:
    """A rate of these cells, with its interval."""
    record = verdicts.scored.record()
    if verdicts.reason:
        return Estimate(name, reason=verdicts.reason, params=params, **record)
    if verdicts.cut is not None and name in MOVED_BY_CUT and value.interval.reason is None:
        covers = coverage_at_cut(cells.n_responses)
        params |= {} if covers is None else {"measured_coverage": covers}
    return Estimate(
        name,
        value=value.value,
        **value.interval.fields,
        n_responses=cells.n_responses,
        n_queries=int(cells.contributing.sum()),
        n_dropped=cells.n_dropped,
        reason=value.reason or value.interval.reason,
        params={"of": value.of, "ties": cells.n_ties, **verdicts.params, **params},
        **record,
    )


def _chance_corrected(
    context: Context, verdicts: PassFailValues, cells: ConfusionCells
) -> Iterator[Estimate]:
    record = verdicts.scored.record()
    for name, function in (("mcc", mcc), ("verdict_kappa", kappa)):
        if verdicts.reason:
            yield Estimate(name, reason=verdicts.reason, **record)
            continue
        passes = cells.total / max(cells.total.sum(), 1)
        params = {
            "people_pass": float(passes[0] + passes[1]),
            "judge_passes": float(passes[0] + passes[2]),
            "chance": chance_agreement(cells),
            **verdicts.params,
        }
        covers = measured_coverage(name, cells.n_responses, params["people_pass"])
        if covers is not None:
            params["measured_coverage"] = covers
        yield context.estimate(name, function(cells), transform="fisher_z", params=params, **record)


def _confusion(verdicts: PassFailValues, cells: ConfusionCells) -> Iterator[Estimate]:
    if verdicts.reason or not cells.n_responses:
        return
    total = cells.total
    of = np.repeat([total[:2].sum(), total[2:].sum()], 2)
    for (people, judge), count, row_count in zip(CELLS, total, of, strict=True):
        if row_count:
            yield Estimate(
                "verdict_confusion",
                value=float(count / row_count),
                n_responses=cells.n_responses,
                n_queries=int(cells.contributing.sum()),
                params={
                    "people": people, "judge": judge, "count": float(count), "of": float(row_count)
                },
                **verdicts.scored.record(),
            )  # fmt: skip


#: What the statistics of this module have in common.
_statistic = partial(
    Statistic,
    estimates=rates,
    range=(0, 1),
    better="higher",
    targets=("these_raters",),
    nominal=True,
)

STATISTICS = (
    _statistic(
        "true_positive_rate",
        "True positive rate",
        "share of the responses that people pass which the scorer passes. People's verdict is the "
        "majority of the raters; params.ties responses on which they are tied count half as a pass "
        "and half as a fail. Of a scorer with graded scores by a cut chosen on other queries: "
        "params.lowest to params.highest, params.cut on all responses; params.cut alone is "
        "declared, as is params.people_cut, from which on people pass; params.measured_coverage: "
        "the interval does not contain that cuts differ between samples. params.of: responses that "
        "the share is of",
        source="Wilson 1927; Korn and Graubard 1998 for the interval",
    ),
    _statistic(
        "true_negative_rate",
        "True negative rate",
        "share of the responses that people fail which the scorer fails",
    ),
    _statistic(
        "precision",
        "Precision of passes",
        "share of the responses that the scorer passes which people pass",
    ),
    _statistic("f1", "F1 of passes", "harmonic mean of precision and true positive rate"),
    _statistic("accuracy", "Accuracy", "share of responses with people's verdict"),
    _statistic(
        "balanced_accuracy",
        "Balanced accuracy",
        "mean of true positive and true negative rate",
        source="Zou and Donner 2008 for the interval",
    ),
    _statistic(
        "mcc",
        "MCC",
        "Matthews's correlation coefficient, Pearson's r of the two verdicts; params.people_pass "
        "and params.judge_passes are the shares that pass",
        range=(-1, 1),
        source="Matthews 1975",
    ),
    _statistic(
        "verdict_kappa",
        "Kappa of verdicts",
        "Cohen's kappa with people's verdict; params.chance is the share on which two with these "
        "shares of passes agree by chance. Where nearly all pass, kappa is low although they agree "
        "on most responses",
        range=(None, 1),
        source="Cohen 1960; Feinstein and Cicchetti 1990",
    ),
    _statistic(
        "verdict_confusion",
        "Confusion of verdicts",
        "of the responses to which people give the verdict params.people (params.of), the share "
        "to which the scorer gives params.judge (params.count)",
        better="neither",
    ),
)
