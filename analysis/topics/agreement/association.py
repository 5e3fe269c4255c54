"""Every judge and metric against the human reference, by construct and scope."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, get_args

import numpy as np

from analysis.core.construct_data import ConstructData, FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.core.resampling import Transform
from analysis.core.statistic import SCOPES, SYSTEM, Statistic
from analysis.statistics.agreement.association import CORRELATIONS, Measure, association
from analysis.statistics.reliability.variance_components import bias_for_raters_like_these

REFERENCE = "human reference"


def judge_against_humans(
    context: Context,
    measures: Sequence[Measure] = get_args(Measure),
    only: Container[str] | None = None,
) -> Iterator[Estimate]:
    """Correlations in every scope, and differences where scorer and people share a scale.

    `only` restricts the scopes.
    """
    for construct, data in context.rated.items():
        people = data.people
        for scorer, values in data.scorers.items():
            withheld = context.differences_withheld(construct, scorer)
            for measure in measures:
                reason = None if measure in CORRELATIONS else withheld
                yield from compared(context, data, scorer, values, people, measure, reason, only)


def compared(
    context: Context,
    data: ConstructData,
    scorer: str,
    values: FloatArray,
    people: tuple[str, ...],
    measure: Measure,
    withheld: str | None = None,
    only: Container[str] | None = None,
) -> Iterator[Estimate]:
    """One measure of a scorer's values (n,) against the reference, in every scope that has one."""
    for scope in scopes(data, measure):
        if only is not None and scope not in only:
            continue
        kind: Scope = "pooled" if scope.startswith("system:") else scope  # type: ignore[assignment]
        system = scope.removeprefix("system:") if kind != scope else None
        record: dict[str, Any] = {
            "constructs": (data.construct,),
            "scorers": (scorer, *people),
            "systems": (system,) if system else data.systems if scope == "system_level" else (),
            "scope": scope,
            "target": "these_raters",
            "n_raters": len(people) if data.reference_kind == "mean_of_raters" else 0,
            "params": {"reference": data.reference_kind},
        }
        why = withheld or data.reference_missing
        if why:
            yield Estimate(measure, reason=why, **record)
            continue
        statistic = association(
            measure,
            values,
            data.reference,
            data.query,
            kind,
            items=data.of_system(system) if system else None,
            produced=data.produced,
            n_queries=data.n_queries,
            names=(scorer, REFERENCE),
        )
        transform: Transform | None = "fisher_z" if measure in CORRELATIONS else None
        yield context.estimate(measure, statistic, transform=transform, **record)


def scopes(data: ConstructData, measure: Measure) -> list[str]:
    """Scopes in which a measure says something on these data."""
    found = ["pooled", "between_queries"]
    # Deviations from the query's mean have no bias.
    found += [] if measure == "bias" else ["within_query"]
    if data.systems:
        found.append("system_level")
        present = np.atleast_1d(data.produced[np.isfinite(data.reference)].any(axis=0))
        found += [f"system:{n}" for n, there in zip(data.systems, present, strict=True) if there]
    return found


def biases(context: Context) -> Iterator[Estimate]:
    """Bias with an interval for raters like these, where scorer and people share a scale."""
    for construct, data in context.rated.items():
        for scorer, values in data.scorers.items():
            record: dict[str, Any] = {
                "constructs": (construct,),
                "scorers": (scorer, *data.raters),
                "target": "raters_like_these",
                "params": {"reference": "mean_of_raters"},
            }
            reason = context.differences_withheld(construct, scorer)
            if data.reference_kind == "adjudicated":
                reason = "an adjudicated value is no sample of raters"
            elif not data.raters:
                reason = data.reference_missing
            if reason:
                yield Estimate("bias", reason=reason, **record)
                continue
            found = bias_for_raters_like_these(
                values, data.ratings, data.query, context.options.level
            )
            given = found.interval.reason is None
            yield Estimate(
                "bias",
                value=found.value,
                ci_low=found.interval.low,
                ci_high=found.interval.high,
                ci_level=found.interval.level if given else None,
                method=found.interval.method if given else None,
                n_responses=found.n_responses,
                n_queries=found.n_queries,
                n_raters=found.n_raters,
                n_dropped=found.n_dropped,
                reason=found.interval.reason,
                **record,
            )


def agreement_with_people(context: Context) -> Iterator[Estimate]:
    """Every measure in every scope, and the bias for raters like these."""
    yield from judge_against_humans(context)
    yield from biases(context)


STATISTICS = (
    Statistic(
        "pearson",
        "r",
        "Pearson's r of scorer and reference; with params.on = preferences, of two raters' "
        "preferences, or of a scorer's differences (response b minus a) with every rater's "
        "preference, each pair once per rater",
        agreement_with_people,
        range=(-1, 1),
        better="higher",
        scopes=SCOPES,
        targets=("these_raters",),
    ),
    Statistic(
        "spearman",
        "rho",
        "Pearson's r of mid-ranks; within a query the deviations are ranked over all queries",
        agreement_with_people,
        range=(-1, 1),
        better="higher",
        scopes=SCOPES,
        targets=("these_raters",),
        source="Spearman 1904",
    ),
    Statistic(
        "kendall_tau_b",
        "tau-b",
        "tau-b; within a query concordances and untied pairs are summed over queries, so that a "
        "query without a tau of its own still counts",
        agreement_with_people,
        range=(-1, 1),
        better="higher",
        scopes=SCOPES,
        targets=("these_raters",),
        source="Kendall 1945",
    ),
    Statistic(
        "mae",
        "MAE",
        "mean absolute difference in points; within a query of the deviations",
        agreement_with_people,
        range=(0, None),
        better="lower",
        scopes=SCOPES,
        targets=("these_raters",),
    ),
    Statistic(
        "bias",
        "Bias",
        "mean of scorer minus reference in points, positive where the scorer is more lenient; "
        "given for both targets",
        agreement_with_people,
        better="0",
        scopes=("pooled", "between_queries", "system_level", SYSTEM),
        targets=("these_raters", "raters_like_these"),
    ),
)
