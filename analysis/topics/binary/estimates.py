"""How often a judge passes what people pass and fails what they fail, with its other rates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.statistics.binary.rates import RATES, RateValue, rate
from analysis.topics.binary.verdicts import Verdicts, pass_or_fail


def rates(context: Context) -> Iterator[Estimate]:
    """The rates of every scorer on each construct that people pass or fail."""
    for verdicts in pass_or_fail(context):
        cells = verdicts.cells()
        for name in RATES:
            value = rate(cells, name, context.options.level)
            yield _estimate(name, verdicts, value)


def _estimate(name: str, verdicts: Verdicts, value: RateValue) -> Estimate:
    cells = verdicts.cells()
    record = verdicts.scored.record()
    if verdicts.reason:
        return Estimate(name, reason=verdicts.reason, **record)
    return Estimate(
        name,
        value=value.value,
        **value.interval.fields,
        n_responses=cells.n_responses,
        n_queries=int(cells.contributing.sum()),
        n_dropped=cells.n_dropped,
        reason=value.reason or value.interval.reason,
        params={"of": value.of, "ties": cells.n_ties, **verdicts.params},
        **record,
    )


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
        "params.lowest to params.highest, params.cut on all responses. params.of: responses that "
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
)
