"""Whether judge and people give the same values: concordance, limits of agreement, equivalence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.pairs import Scope
from analysis.core.statistic import Statistic
from analysis.core.uncertainty import Transform
from analysis.statistics.agreement.absolute_agreement import agreement_in_value, measures_in
from analysis.statistics.agreement.disattenuation import pearson_disattenuated
from analysis.statistics.agreement.repeated_measures import equivalence_of_bias
from analysis.topics.distribution.people_by_system import reference_by_system

_SCOPES: tuple[Scope, ...] = ("pooled", "between_queries", "within_query", "system_level")

#: Bias and the limits of agreement around it, in the order of their size.
LIMITS = ("bland_altman_lower", "bland_altman_bias", "bland_altman_upper")


def in_value(context: Context) -> Iterator[Estimate]:
    """`ccc`, `rmse`, limits of agreement, and the tests that were declared."""
    for scored in context.scored():
        yield from _differences(context, scored)
        yield from _disattenuated(context, scored)
        yield from _equivalence(context, scored)


def _differences(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    data, _, values, withheld = scored
    for scope in _SCOPES if data.systems else _SCOPES[:-1]:
        record = scored.record(scope) | {"params": {"reference": data.reference_kind}}
        people, unlinked = data.reference, None
        if scope == "system_level":
            people, unlinked, adjusted = reference_by_system(context, data)
            record["params"] |= adjusted
        if withheld or unlinked:
            for name in measures_in(scope):
                yield Estimate(name, reason=withheld or unlinked, **record)
            continue
        family = agreement_in_value(
            values, people, data.query, scope,
            n_queries=data.n_queries, produced=data.produced,
        )  # fmt: skip
        resampled = ResampledFamily(context, family, context.rated_resampling)
        for place, name in enumerate(measures_in(scope)):
            transform: Transform | None = "fisher_z" if name == "ccc" else None
            yield resampled.estimate(name, place, transform, **record)


def _disattenuated(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    data, _, values, _ = scored
    if data.reference_kind == "adjudicated":
        return
    statistic, not_resampled = pearson_disattenuated(
        values, data.ratings, data.query, data.n_queries
    )
    note = (
        "above 1: the reliability of people's mean is too low to carry the correction"
        if statistic.reason is None and statistic.point > 1
        else None
    )
    params: dict[str, str | None] = {"reliability": "ICC(C,k)", "note": note}
    if statistic.reason is None and not_resampled:
        yield Estimate(
            "pearson_disattenuated",
            value=statistic.point,
            **statistic.counts,
            reason=not_resampled,
            params=params,
            **scored.record(),
        )
        return
    yield context.estimate("pearson_disattenuated", statistic, params=params, **scored.record())


def _equivalence(context: Context, scored: ComparedScores) -> Iterator[Estimate]:
    """`equivalence_p` of the bias, at a margin that was declared."""
    margin = context.options.bias_margin
    if margin is None:
        return
    data, _, values, withheld = scored
    record = scored.record()
    if withheld:
        yield Estimate("equivalence_p", reason=withheld, params={"margin": margin}, **record)
        return
    test = equivalence_of_bias(values, data.reference, data.query, margin, data.n_queries)
    equivalent = None if test.reason else "yes" if test.p < 0.05 else "no"
    difference = None if np.isnan(test.difference) else test.difference
    yield Estimate(
        "equivalence_p",
        value=test.p,
        method="tost",
        n_responses=test.n_responses,
        n_queries=test.n_queries,
        n_dropped=test.n_dropped,
        reason=test.reason,
        params={
            "margin": margin, "difference": difference, "df": test.df, "equivalent": equivalent,
        },
        **record,
    )  # fmt: skip


#: What the statistics of this module have in common.
_statistic = partial(Statistic, estimates=in_value, targets=("these_raters",))

STATISTICS = (
    _statistic(
        "ccc",
        "Concordance",
        "concordance correlation 2 s_xy / (s_xx + s_yy + squared difference of means), sums "
        "divided by n; pooled, between queries, within a query, between systems",
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "between_queries", "within_query", "system_level"),
        source="Lin 1989",
    ),
    _statistic(
        "rmse",
        "RMSE",
        "root of the mean squared difference, in points; the same scopes",
        range=(0, None),
        better="lower",
        scopes=("pooled", "between_queries", "within_query", "system_level"),
    ),
    _statistic(
        "bland_altman_bias",
        "Bias",
        "mean difference, judge minus reference",
        better="0",
        source="Bland and Altman 1986",
    ),
    _statistic(
        "bland_altman_lower",
        "Lower limit",
        "lower limit of agreement: the bias minus 1.96 standard deviations (n - 1) of the "
        "differences",
        better="0",
        source="Bland and Altman 1986, 1999",
    ),
    _statistic(
        "bland_altman_upper",
        "Upper limit",
        "upper limit of agreement: the bias plus 1.96 standard deviations (n - 1) of the "
        "differences",
        better="0",
        source="Bland and Altman 1986, 1999",
    ),
    _statistic(
        "pearson_disattenuated",
        "Corrected r",
        "r / sqrt(ICC(C,k)), never cut off at 1 (params.note states when it is above)",
        better="higher",
        source="Spearman 1904",
    ),
    _statistic(
        "equivalence_p",
        "p",
        "p of two one-sided t-tests that the bias is within params.margin points; "
        "params.equivalent at .05",
        range=(0, 1),
        better="lower",
        source="Schuirmann 1981",
    ),
)
