"""How many of its responses people would pass of each system, by the judge and by labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.core.arrays import BoolArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import sums_by_query
from analysis.core.statistic import SYSTEM, Statistic
from analysis.render.formatting import percent
from analysis.render.table_of import (
    TableOf,
    each,
    formatted,
    number_of,
    param,
)
from analysis.statistics.binary.clustered_share import clustered_share
from analysis.statistics.binary.pass_rates import pass_rate_by_rates, why_rates_are_unknown
from analysis.statistics.correction.prediction_powered import (
    LearnedLambda,
    corrected,
    learned_lambda,
)
from analysis.statistics.correction.query_sums import QuerySums, inclusion_probabilities, query_sums
from analysis.topics.binary.pass_fail_values import PassFailValues, pass_or_fail
from analysis.topics.distribution.people_by_system import severity_by_system

#: Ways to a pass rate, in the order of the table: the heading and what it rests on.
WAYS = {
    "judge": "Judge passes",
    "rates": "Corrected by its rates",
    "labels": "Corrected by labels",
}

#: Systems of which a row is shown; estimates.csv has the rest.
SYSTEMS_SHOWN = 12


def pass_rates(context: Context) -> Iterator[Estimate]:
    """`pass_rate` by each way, of every system and of all responses."""
    for verdicts in pass_or_fail(context, all_responses=True):
        data = verdicts.data
        systems: dict[str, BoolArray] = {name: data.produced_by(name) for name in data.systems}
        if verdicts.reason:
            for name in (None, *systems):
                record = _record(verdicts, name)
                for way in WAYS:
                    params = {"way": way}
                    yield Estimate("pass_rate", reason=verdicts.reason, params=params, **record)
            continue
        whole = _sums(context, verdicts, None)
        by_system = {name: _sums(context, verdicts, chosen) for name, chosen in systems.items()}
        shared = learned_lambda([(sums,) for sums in by_system.values()])
        yield from _pass_rates(context, verdicts, None, whole, learned_lambda([(whole,)]), None)
        for name, chosen in systems.items():
            yield from _pass_rates(context, verdicts, chosen, by_system[name], shared, name)


def _record(verdicts: PassFailValues, system: str | None) -> dict[str, Any]:
    where: dict[str, Any] = {"scope": "pooled", "systems": ()}
    if system is not None:
        where = {"scope": f"system:{system}", "systems": (system,)}
    return verdicts.scored.record() | where


def _sums(context: Context, verdicts: PassFailValues, chosen: BoolArray | None) -> QuerySums:
    data = verdicts.data
    items = slice(None) if chosen is None else chosen
    return query_sums(
        verdicts.people[items],
        verdicts.judge[items],
        data.query[items],
        data.n_queries,
        inclusion_probabilities(context.scores, data)[items],
        human_width=1.0,
        judge_width=1.0,
    )


def _pass_rates(
    context: Context,
    verdicts: PassFailValues,
    chosen: BoolArray | None,
    sums: QuerySums,
    lam: LearnedLambda,
    system: str | None,
) -> Iterator[Estimate]:
    record = _record(verdicts, system)
    yield _judge_alone(context, verdicts, chosen, record)
    yield _by_rates(context, verdicts, chosen, record)
    severity = severity_by_system(context, verdicts.data.construct) if system else None
    if severity:
        yield Estimate("pass_rate", reason=severity, params={"way": "labels"}, **record)
    else:
        yield _by_labels(sums, lam, context.options.level, record)


def _judge_alone(
    context: Context, verdicts: PassFailValues, chosen: BoolArray | None, record: dict[str, Any]
) -> Estimate:
    data = verdicts.data
    judged = np.isfinite(verdicts.judge) & (True if chosen is None else chosen)
    columns = np.column_stack([np.where(judged, verdicts.judge, 0.0), judged.astype(np.float64)])
    passed, of = sums_by_query(columns, data.query, data.n_queries).T
    interval = clustered_share(passed, of, context.options.level)
    total = float(of.sum())
    reason = None if total else "the judge gave no verdict on these responses"
    return Estimate(
        "pass_rate",
        value=float(passed.sum() / total) if total else float("nan"),
        **interval.fields,
        n_responses=int(total),
        n_queries=int(np.count_nonzero(of)),
        reason=reason or interval.reason,
        params={"way": "judge"},
        **record,
    )


def _by_rates(
    context: Context, verdicts: PassFailValues, chosen: BoolArray | None, record: dict[str, Any]
) -> Estimate:
    data = verdicts.data
    statistic = pass_rate_by_rates(
        verdicts.judge,
        verdicts.people,
        data.query,
        data.n_queries,
        chosen,
        inclusion_probabilities(context.scores, data),
    )
    params = {"way": "rates"}
    estimate = context.estimate(
        "pass_rate", statistic, context.whole_resampling, params=params, **record
    )
    unknown = why_rates_are_unknown(verdicts.cells(), context.options.level)
    if unknown is None or not estimate.has_interval:
        return estimate
    nan = float("nan")
    return replace(estimate, ci_low=nan, ci_high=nan, ci_level=None, method=None, reason=unknown)


def _by_labels(
    sums: QuerySums, lam: LearnedLambda, level: float, record: dict[str, Any]
) -> Estimate:
    value = corrected(sums, lam=lam, level=level)
    params: dict[str, Any] = {"way": "labels"}
    if value.alone:
        params["ratings_alone"] = value.alone
    return Estimate(
        "pass_rate",
        value=value.value,
        **value.interval.fields,
        n_responses=sums.n_labels,
        n_queries=value.n_labeled_queries,
        reason=value.reason or value.interval.reason,
        params={**params, "lambda": value.lam, "people_pass": sums.human_mean},
        **record,
    )


STATISTICS = (
    Statistic(
        "pass_rate",
        "Pass rate",
        "share of the responses, rated or not, that people would pass: params.way judge (what the "
        "judge passes, uncorrected), rates (from the judge alone, by its true positive and true "
        "negative rate on all labeled responses; it may be outside 0 to 1), or labels (the "
        "corrected mean of people's verdicts; params.lambda, people_pass of the rated, "
        "ratings_alone why they are not corrected)",
        pass_rates,
        scopes=("pooled", SYSTEM),
        targets=("these_raters",),
        source="Rogan and Gladen 1978; Angelopoulos, Duchi and Zrnic 2023",
        nominal=True,
    ),
)


pass_rates_table = TableOf(
    "pass-rates",
    "Pass rates of systems",
    "Share of all responses that pass, as the judge decides; corrected by the judge's true "
    "positive and true negative rate, which are taken to be the same for every system; and "
    "by people's verdicts on the rated responses of the system itself. Where a judge is kinder "
    "to some systems only the last is right: where it lets 20% more of a system's failures "
    "through, the interval by its rates covers .70 to .86 in simulated studies, that by "
    "labels .93 or more. A share below 0 or above 100% shows that the judge's rates do not fit "
    f"the system. The first {SYSTEMS_SHOWN} systems; all are in estimates.csv.",
    # All responses are first, then each system.
    each("pass_rate", "scope", most=1 + SYSTEMS_SHOWN,
         per=lambda e: (e.constructs[0], e.scorers[0]), way="judge"),
    ("construct", "scorer", "system",
     *(formatted("pass_rate", ".0%", heading, way=way) for way, heading in WAYS.items()),
     param("people_pass", "People pass, of the rated", percent, "pass_rate", way="labels"),
     number_of("n_responses", "Rated", "pass_rate", way="labels")),
    heads=3,
)  # fmt: skip
