"""Whether judge and people give the same values: concordance, limits, kappas, equivalence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData, FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import resampled_estimate
from analysis.core.pairs import Scope
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.absolute_agreement import agreement_in_value, measures_in
from analysis.statistics.agreement.cohen_kappa import (
    Weights,
    cohen_kappa,
    kappa_between_raters,
    kappa_with_raters,
    levels_of,
    off_levels,
)
from analysis.statistics.agreement.disattenuation import pearson_disattenuated
from analysis.statistics.agreement.repeated_measures import equivalence_of_bias

_SCOPES: tuple[Scope, ...] = ("pooled", "between_queries", "within_query", "system_level")
_WEIGHTS: tuple[Weights, ...] = ("none", "quadratic")


def in_value(context: Context) -> Iterator[Estimate]:
    """`ccc`, `rmse`, limits of agreement, kappas, and the tests that were declared."""
    for data, scored in groupby(context.scored(), key=lambda one: one.data):
        for _, scorer, values, withheld in scored:
            yield from _differences(context, data, scorer, values, withheld)
            yield from _kappas_of_judge(context, data, scorer, values, withheld)
            yield from _disattenuated(context, data, scorer, values)
            yield from _equivalence(context, data, scorer, values, withheld)
        yield from _kappas_of_raters(context, data)


def _differences(
    context: Context, data: ConstructData, scorer: str, values: FloatArray, withheld: str | None
) -> Iterator[Estimate]:
    params = {"reference": data.reference_kind}
    for scope in _SCOPES if data.systems else _SCOPES[:-1]:
        record = data.record(scorer, scope) | {"params": params}
        if withheld:
            for name in measures_in(scope):
                yield Estimate(name, reason=withheld, **record)
            continue
        family = agreement_in_value(
            values, data.reference, data.query, scope,
            n_queries=data.n_queries, produced=data.produced,
        )  # fmt: skip
        found = family.replicates(context.rated_resampling)
        for place, name in enumerate(measures_in(scope)):
            yield resampled_estimate(
                context, name, family, place, found[place], context.rated_resampling,
                transform="fisher_z" if name == "ccc" else None, **record,
            )  # fmt: skip


def _kappas_of_judge(
    context: Context, data: ConstructData, scorer: str, values: FloatArray, withheld: str | None
) -> Iterator[Estimate]:
    """`cohen_kappa` of the judge with each rater, averaged, or with the adjudicated value."""
    levels = levels_of(context.human_scale(data.construct))
    if not levels:
        return
    adjudicated = data.reference_kind == "adjudicated"
    kind = "judge_adjudicated" if adjudicated else "judge_rater"
    people = data.reference[:, None] if adjudicated else data.ratings
    off = off_levels(values, levels)
    reason = withheld or (
        f"{off:,} of its scores are not on the scale's levels"
        if off
        else _people_off(people, levels)
    )
    for weights in _WEIGHTS:
        record = data.record(scorer) | {"params": {"weights": weights, "between": kind}}
        if reason:
            yield Estimate("cohen_kappa", reason=reason, **record)
            continue
        given = (data.query, weights, levels, data.n_queries)
        statistic = (
            cohen_kappa(values, data.reference, *given)
            if adjudicated
            else kappa_with_raters(values, data.ratings, *given)
        )
        yield context.estimate("cohen_kappa", statistic, transform="fisher_z", **record)


def _people_off(people: FloatArray, levels: tuple[float, ...]) -> str | None:
    off = off_levels(people, levels)
    return f"{off:,} of people's values are not on the scale's levels" if off else None


def _kappas_of_raters(context: Context, data: ConstructData) -> Iterator[Estimate]:
    levels = levels_of(context.human_scale(data.construct))
    if not levels or not data.scorers or len(data.raters) < 2:
        return
    reason = _people_off(data.ratings, levels)
    for weights in _WEIGHTS:
        record: dict[str, Any] = {
            "constructs": (data.construct,),
            "scorers": data.raters,
            "target": "these_raters",
            "n_raters": len(data.raters),
            "params": {"weights": weights, "between": "rater_rater"},
        }
        if reason:
            yield Estimate("cohen_kappa", reason=reason, **record)
            continue
        statistic = kappa_between_raters(data.ratings, data.query, weights, levels, data.n_queries)
        yield context.estimate("cohen_kappa", statistic, transform="fisher_z", **record)


def _disattenuated(
    context: Context, data: ConstructData, scorer: str, values: FloatArray
) -> Iterator[Estimate]:
    if data.reference_kind == "adjudicated":
        return
    statistic, not_resampled = pearson_disattenuated(
        values, data.ratings, data.query, data.n_queries
    )
    record = data.record(scorer)
    note = (
        "above 1: the reliability of people's mean is too low to carry the correction"
        if statistic.reason is None and statistic.point > 1
        else None
    )
    params: dict[str, str | None] = {"reliability": "ICC(C,k)", "note": note}
    if statistic.reason is None and not_resampled:
        yield _on_the_sample("pearson_disattenuated", statistic, not_resampled, params, record)
        return
    yield context.estimate("pearson_disattenuated", statistic, params=params, **record)


def _on_the_sample(
    name: str,
    statistic: QueryStatistic,
    why: str,
    params: dict[str, str | None],
    record: dict[str, Any],
) -> Estimate:
    return Estimate(
        name,
        value=statistic.point,
        n_responses=statistic.n_responses,
        n_queries=statistic.n_queries,
        n_dropped=statistic.n_dropped,
        reason=why,
        params=params,
        **record,
    )


def _equivalence(
    context: Context, data: ConstructData, scorer: str, values: FloatArray, withheld: str | None
) -> Iterator[Estimate]:
    """`equivalence_p` of the bias, at a margin that was declared."""
    margin = context.options.bias_margin
    if margin is None:
        return
    record = data.record(scorer)
    if withheld:
        yield Estimate("equivalence_p", reason=withheld, params={"margin": margin}, **record)
        return
    found = equivalence_of_bias(values, data.reference, data.query, margin, data.n_queries)
    equivalent = None if found.reason else "yes" if found.p < 0.05 else "no"
    difference = None if np.isnan(found.difference) else found.difference
    yield Estimate(
        "equivalence_p",
        value=found.p,
        method="tost",
        n_responses=found.n_responses,
        n_queries=found.n_queries,
        n_dropped=found.n_dropped,
        reason=found.reason,
        params={
            "margin": margin, "difference": difference, "df": found.df, "equivalent": equivalent,
        },
        **record,
    )  # fmt: skip


STATISTICS = (
    Statistic(
        "ccc",
        "Concordance",
        "concordance correlation 2 s_xy / (s_xx + s_yy + squared difference of means), sums "
        "divided by n; pooled, between queries, within a query, between systems",
        in_value,
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "between_queries", "within_query", "system_level"),
        targets=("these_raters",),
        source="Lin 1989",
    ),
    Statistic(
        "rmse",
        "RMSE",
        "root of the mean squared difference, in points; the same scopes",
        in_value,
        range=(0, None),
        better="lower",
        scopes=("pooled", "between_queries", "within_query", "system_level"),
        targets=("these_raters",),
    ),
    Statistic(
        "bland_altman_bias",
        "Bias",
        "mean difference, judge minus reference",
        in_value,
        better="0",
        targets=("these_raters",),
        source="Bland and Altman 1986",
    ),
    Statistic(
        "bland_altman_lower",
        "Lower limit",
        "lower limit of agreement: the bias minus 1.96 standard deviations (n - 1) of the "
        "differences",
        in_value,
        better="0",
        targets=("these_raters",),
        source="Bland and Altman 1986, 1999",
    ),
    Statistic(
        "bland_altman_upper",
        "Upper limit",
        "upper limit of agreement: the bias plus 1.96 standard deviations (n - 1) of the "
        "differences",
        in_value,
        better="0",
        targets=("these_raters",),
        source="Bland and Altman 1986, 1999",
    ),
    Statistic(
        "cohen_kappa",
        "Kappa",
        "params.weights none or quadratic; params.between judge_rater, rater_rater or "
        "judge_adjudicated",
        in_value,
        range=(None, 1),
        better="higher",
        targets=("these_raters",),
        source="Cohen 1960, 1968",
    ),
    Statistic(
        "pearson_disattenuated",
        "Corrected r",
        "r / sqrt(ICC(C,k)), never cut off at 1 (params.note says when it is above)",
        in_value,
        better="higher",
        targets=("these_raters",),
        source="Spearman 1904",
    ),
    Statistic(
        "equivalence_p",
        "p",
        "p of two one-sided t-tests that the bias lies within params.margin points; "
        "params.equivalent at .05",
        in_value,
        range=(0, 1),
        better="lower",
        targets=("these_raters",),
        source="Schuirmann 1981",
    ),
)
