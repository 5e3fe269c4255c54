"""Does a judge order responses better than metrics that need no model? Differences and a margin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData, judge_of_expected
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import ORDER, Statistic
from analysis.decisions.standards import ORDER_MARGIN
from analysis.render.metric_notes import (
    ON_PREFERENCES,
    beside_metrics,
    difference_of,
    family,
)
from analysis.render.sentences import in_words
from analysis.statistics.agreement.judge_comparison import Compared, Measure, MeasureScope
from analysis.topics.agreement.judge_comparison import COMPARED, compared_judges
from analysis.topics.agreement.preferences import compared_on_preferences

#: Metrics that are compared with each judge on a construct; of more the first ones are.
METRICS_COMPARED = 60

_MEASURES: tuple[tuple[Measure, MeasureScope], ...] = (
    ("kendall_tau_b", "within_query"),
    ("pairwise_accuracy", "within_query"),
    ("pearson", "within_query"),
    ("kendall_tau_b", "pooled"),
    ("pearson", "pooled"),
)


def judges_minus_metrics(context: Context) -> Iterator[Estimate]:
    """`judge_minus_metric` in each measure, and `metric_within_margin` in the leading one."""
    for data in context.rated.values():
        metrics = metrics_of(data)
        if data.reference_missing or not data.judges or not metrics:
            continue
        for judge in compared_judges(data):
            for metric in metrics:
                yield from _compared(context, data, judge, metric)
    yield from _compared_on_preferences(context)


def metrics_of(data: ConstructData) -> list[str]:
    """Metrics with values on rated responses that are compared with judges."""
    return _measured(data)[:METRICS_COMPARED]


def _measured(data: ConstructData) -> list[str]:
    """Metrics with values on rated responses."""
    rated = np.isfinite(data.reference)
    return [
        name
        for name, values in data.scorers.items()
        if data.kinds[name] == "metric" and np.isfinite(values[rated]).any()
    ]


def _compared(context: Context, data: ConstructData, judge: str, metric: str) -> Iterator[Estimate]:
    names = (judge, metric)
    turned = -1 if metric in context.options.low_is_good else 1
    pair = Compared.of(
        data.scorers[judge], turned * data.scorers[metric], data.reference, data.query,
        data.n_queries, names,
    )  # fmt: skip
    record: dict[str, Any] = data.record(judge) | {"scorers": (*names, *data.people)}
    leading = True
    for measure, scope in _MEASURES:
        if scope == "within_query" and not data.several_a_query:
            continue
        difference = pair.difference(measure, scope)
        of = record | {"scope": scope}
        yield context.estimate("judge_minus_metric", difference, params={"measure": measure}, **of)
        if leading and measure == ORDER:
            margin = _margin(context)
            yield context.estimate(
                "metric_within_margin",
                _short_of(margin, difference),
                params={"measure": measure, "margin": margin},
                **of,
            )
        leading = False


def _compared_on_preferences(context: Context) -> Iterator[Estimate]:
    """The same differences on people's comparisons of two responses."""
    tables = (context.scores, context.preferences)
    kinds = {name: kind for table in tables if table for name, kind in table.scorer_kinds.items()}
    judges = [name for name, kind in kinds.items() if kind == "judge"]
    numbers = [name for name in judges if judge_of_expected(name, judges) is None]
    metrics = [name for name, kind in kinds.items() if kind == "metric"]
    for measure, difference, record in compared_on_preferences(
        context, numbers[:COMPARED], metrics[:METRICS_COMPARED]
    ):
        params = {"measure": measure, "on": "preferences", "repeated_by": "rater"}
        yield context.estimate("judge_minus_metric", difference, params=params, **record)
        if measure == ON_PREFERENCES:
            margin = _margin(context)
            yield context.estimate(
                "metric_within_margin",
                _short_of(margin, difference),
                params=params | {"margin": margin},
                **record,
            )


def _margin(context: Context) -> float:
    declared = context.options.non_inferiority_margin
    return ORDER_MARGIN if declared is None else declared


def _short_of(margin: float, difference: QueryStatistic) -> QueryStatistic:
    """The margin minus a difference: above 0 where the difference is smaller."""
    return QueryStatistic.combined(
        (difference,),
        lambda values: margin - values[0],
        difference.contributing,
        difference.n_responses,
        difference.n_dropped,
        difference.reason,
    )


#: What the statistics of this module have in common.
_statistic = partial(
    Statistic,
    estimates=judges_minus_metrics,
    targets=("these_raters",),
    scopes=("within_query", "pooled"),
)

STATISTICS = (
    _statistic(
        "judge_minus_metric",
        "Judge minus metric",
        "a measure of agreement with people (params.measure) of the first of `scorers`, a judge, "
        "minus that of the second, a metric, on the responses that both scored and people rated; "
        "with params.on = preferences of their differences with preferences; the sign of a metric "
        "of which a low value is a good sign is turned",
    ),
    _statistic(
        "metric_within_margin",
        "Margin minus difference",
        "params.margin minus the tau-b by which the judge exceeds the metric: above 0 the metric "
        "orders responses as well, to within the margin",
    ),
)


def reading(analysis: Analysis) -> Iterator[str]:
    """How each judge compares with the best metric, by construct."""
    margins = analysis.estimates.select("metric_within_margin")
    for construct, judge in dict.fromkeys((e.constructs[0], e.scorers[0]) for e in margins):
        for stated in beside_metrics(analysis, construct, judge):
            yield f"{construct}: {in_words(stated)}"
    for construct, data in analysis.context.rated.items():
        if analysis.context.nominal([construct]) and data.judges and metrics_of(data):
            yield (
                f"{construct}: judges are not compared with metrics, since its categories have no "
                "order."
            )


def joint(analysis: Analysis) -> dict[str, list[Estimate]]:
    """The comparisons from which a judge is called better than each metric, or no better.

    A family for each construct and judge, and one on preferences if people compared responses:
    their number does not depend on the metrics.
    """
    context = analysis.context
    judges = [name for name, kind in analysis.scorer_kinds.items() if kind == "judge"]
    judges = [name for name in judges if judge_of_expected(name, judges) is None]
    rated = [key for key, data in context.rated.items() if not data.reference_missing]
    families: dict[str, list[Estimate]] = {
        family(construct, judge, None): []
        for construct in rated
        for judge in judges
        if judge in context.rated[construct].judges
    }
    if context.preferences is not None:
        compared = dict.fromkeys(map(str, context.preferences.frame["construct"].unique()))
        families |= {
            family(construct, judge, "preferences"): []
            for construct in compared
            for judge in judges
        }
    for margin in analysis.estimates.select("metric_within_margin"):
        key = family(margin.constructs[0], margin.scorers[0], margin.params.get("on"))
        families.setdefault(key, []).extend([margin, *difference_of(analysis, margin)])
    return families
