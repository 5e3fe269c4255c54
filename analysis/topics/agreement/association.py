"""Every judge and metric against the human reference, by construct and scope."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np

from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.core.statistic import SCOPES, SYSTEM, Statistic
from analysis.core.uncertainty import Transform
from analysis.statistics.agreement.association import CORRELATIONS, Measure, association
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these
from analysis.topics.distribution.people_by_system import reference_by_system, severity_by_system

REFERENCE = "human reference"


def judge_against_humans(
    context: Context,
    measures: Sequence[Measure] = get_args(Measure),
    only: Container[str] | None = None,
) -> Iterator[Estimate]:
    """Correlations in every scope, and differences where scorer and people share a scale.

    `only` restricts the scopes.
    """
    for scored in context.scored(without_reference=True):
        for measure in measures:
            yield from compared(context, scored, measure, only)


def compared(
    context: Context,
    scored: ComparedScores,
    measure: Measure,
    only: Container[str] | None = None,
) -> Iterator[Estimate]:
    """One measure of a scorer against the reference, in every scope in which it is defined."""
    data, scorer, values, withheld = scored
    reason = data.reference_missing or (None if measure in CORRELATIONS else withheld)
    for scope in scopes(data, measure):
        if only is not None and scope not in only:
            continue
        kind: Scope = "pooled" if scope.startswith("system:") else scope  # type: ignore[assignment]
        system = scope.removeprefix("system:") if kind != scope else None
        record = scored.record(scope) | {"params": {"reference": data.reference_kind}}
        if system:
            record["systems"] = (system,)
        people, unlinked = data.reference, None
        if system and measure not in CORRELATIONS and not reason:
            unlinked = severity_by_system(context, data.construct)
        if scope == "system_level" and measure != "bias":
            people, unlinked, adjusted = reference_by_system(context, data)
            record["params"] |= adjusted
        if reason or unlinked:
            yield Estimate(measure, reason=reason or unlinked, **record)
            continue
        statistic = association(
            measure,
            values,
            people,
            data.query,
            kind,
            items=data.produced_by(system) if system else None,
            produced=data.produced,
            n_queries=data.n_queries,
            names=(scorer, REFERENCE),
        )
        transform: Transform | None = "fisher_z" if measure in CORRELATIONS else None
        yield context.estimate(measure, statistic, transform=transform, **record)


def scopes(data: ConstructData, measure: Measure) -> list[str]:
    """Scopes in which a measure is defined on these data."""
    names = ["pooled", "between_queries"]
    # Deviations from the query's mean have no bias.
    names += [] if measure == "bias" else ["within_query"]
    if data.systems:
        names.append("system_level")
        rated = np.atleast_1d(data.produced[np.isfinite(data.reference)].any(axis=0))
        names += [f"system:{n}" for n, present in zip(data.systems, rated, strict=True) if present]
    return names


def biases(context: Context) -> Iterator[Estimate]:
    """Bias with an interval for raters like these, where scorer and people share a scale."""
    for data, scorer, values, withheld in context.scored(without_reference=True):
        record: dict[str, Any] = {
            "constructs": (data.construct,),
            "scorers": (scorer, *data.raters),
            "target": "raters_like_these",
            "params": {"reference": "mean_of_raters"},
        }
        reason = withheld
        if data.reference_kind == "adjudicated":
            reason = "an adjudicated value is not a sample of raters"
        elif not data.raters:
            reason = data.reference_missing
        if reason:
            yield Estimate("bias", reason=reason, **record)
            continue
        bias = bias_for_raters_like_these(values, data.ratings, data.query, context.options.level)
        yield Estimate(
            "bias",
            value=bias.value,
            **bias.interval.fields,
            n_responses=bias.n_responses,
            n_queries=bias.n_queries,
            n_raters=bias.n_raters,
            n_dropped=bias.n_dropped,
            reason=bias.interval.reason,
            **record,
        )


def agreement_with_people(context: Context) -> Iterator[Estimate]:
    """Every measure in every scope, and the bias for raters like these."""
    yield from judge_against_humans(context)
    yield from biases(context)


#: What the statistics of this module have in common.
_statistic = partial(
    Statistic, estimates=agreement_with_people, targets=("these_raters",), scopes=SCOPES
)

STATISTICS = (
    _statistic(
        "pearson",
        "r",
        "Pearson's r of scorer and reference; with params.on = preferences, of two raters' "
        "preferences, or of a scorer's differences (response b minus a) with every rater's "
        "preference, each pair once per rater",
        range=(-1, 1),
        better="higher",
    ),
    _statistic(
        "spearman",
        "rho",
        "Pearson's r of mid-ranks; within a query the deviations are ranked over all queries",
        range=(-1, 1),
        better="higher",
        source="Spearman 1904",
    ),
    _statistic(
        "kendall_tau_b",
        "tau-b",
        "tau-b; within a query concordances and untied pairs are summed over queries, so that a "
        "query without a defined tau still counts",
        range=(-1, 1),
        better="higher",
        source="Kendall 1945",
    ),
    _statistic(
        "mae",
        "MAE",
        "mean absolute difference in points; within a query of the deviations",
        range=(0, None),
        better="lower",
    ),
    _statistic(
        "bias",
        "Bias",
        "mean of scorer minus reference in points, positive where the scorer is more lenient; "
        "given for both targets",
        better="0",
        scopes=("pooled", "between_queries", "system_level", SYSTEM),
        targets=("these_raters", "raters_like_these"),
    ),
)
