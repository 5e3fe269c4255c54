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
from analysis.statistics.agreement.association import CORRELATIONS, Measure, association

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
        people = reference_scorers(data)
        for scorer, values in data.scorers.items():
            withheld = context.differences_withheld(construct, scorer)
            for measure in measures:
                reason = None if measure in CORRELATIONS else withheld
                yield from compared(context, data, scorer, values, people, measure, reason, only)


def reference_scorers(data: ConstructData) -> tuple[str, ...]:
    """Whose values make up the reference."""
    return tuple(data.adjudicated) if data.reference_kind == "adjudicated" else data.raters


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
