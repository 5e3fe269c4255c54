"""Constructs as traits, judges and people as methods: which correlate more, and HTMT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from analysis.core.construct_data import Aligned, ConstructData, aligned
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.statistic import Statistic
from analysis.core.statistic_family import StatisticFamily
from analysis.statistics.validity.correlation_family import CorrelationFamily, prepared
from analysis.statistics.validity.derived_correlations import (
    Derived,
    Variable,
    common_items,
    htmt,
    kind,
    mean_difference,
    mean_of,
    smallest_eigenvalue,
    with_derived,
)

#: Name of the method whose values are the human reference.
PEOPLE = "people"

#: Judges (then metrics) that enter as methods in addition to people.
JUDGES_AS_METHODS = 4

UNDEFINED_ENTRY = "a correlation of the matrix is undefined"


def multitrait(context: Context) -> Iterator[Estimate]:
    """The matrix of all constructs by all methods, and its summary for each pair of methods."""
    rated = any(np.isfinite(data.reference).any() for data in context.rated.values())
    constructs = context.rated if rated else context.whole
    if not constructs:
        return
    side = aligned(constructs)
    variables = _variables(side, constructs, rated)
    traits = dict.fromkeys(v.trait for v in variables)
    methods = tuple(dict.fromkeys(v.method for v in variables))
    if len(traits) < 2 or len(methods) < 2:
        return
    common = common_items(variables)
    correlations = CorrelationFamily(side.query, side.n_queries)
    for first, second in combinations(variables, 2):
        names = tuple(f"{v.trait} of {v.method}" for v in (first, second))
        correlations.add(first.values, second.values, common, (names[0], names[1]))
    base = correlations.family()
    items = "pairwise" if common is None else "common"
    planned = list(_entries(variables, items))
    for pair in combinations(methods, 2):
        planned += _method_estimates(variables, pair, items)
    family = with_derived(base, [p.made for p in planned if isinstance(p.made, Derived)])
    resampling = context.rated_resampling if rated else context.whole_resampling
    resampled = ResampledFamily(context, family, resampling)
    place = len(base.reasons)
    n_raters = len({name for data in constructs.values() for name in data.raters}) if rated else 0
    for p in planned:
        at = p.made if isinstance(p.made, int) else place
        place += isinstance(p.made, Derived)
        yield resampled.estimate(
            p.name, at, "fisher_z" if p.name == "mtmm_correlation" else None,
            constructs=p.constructs,
            scorers=tuple(dict.fromkeys(name for name in p.methods if name != PEOPLE)),
            target="these_raters" if PEOPLE in p.methods else None,
            n_raters=n_raters if PEOPLE in p.methods else 0, params=p.params,
        )  # fmt: skip
    yield _eigenvalue(base, tuple(traits), methods, len(variables), items)


@dataclass(frozen=True, eq=False)
class _Planned:
    """A record to be made from a place in the family, or from what is derived of it."""

    name: str
    constructs: tuple[str, ...]
    methods: tuple[str, str]
    made: int | Derived
    params: dict[str, Any]


def _variables(
    side: Aligned, constructs: Mapping[str, ConstructData], rated: bool
) -> list[Variable]:
    """Methods in turn, people first, each with its constructs; without those of no value."""
    kinds = {name: data.kinds[name] for data in constructs.values() for name in data.scorers}
    judges = [name for name, of in kinds.items() if of == "judge"]
    metrics = [name for name, of in kinds.items() if of != "judge"]
    scored = {
        name: [key for key, data in constructs.items() if name in data.scorers]
        for name in (*judges, *metrics)
    }
    several = [name for name, keys in scored.items() if len(keys) > 1][:JUDGES_AS_METHODS]
    measured = [(PEOPLE, key, data.reference) for key, data in constructs.items() if rated]
    measured += [
        (name, key, constructs[key].scorers[name]) for name in several for key in scored[name]
    ]
    reached = np.ones(side.query.size, dtype=bool)
    if rated:
        # Responses that no rater rated would enter correlations between judges only.
        references = [side.spread(key, data.reference) for key, data in constructs.items()]
        reached = np.asarray(np.isfinite(references).any(axis=0))
    measured = [
        (method, key, values) for method, key, values in measured if np.isfinite(values).any()
    ]
    # A method that shares no construct with another one is not informative about methods.
    alone = {
        method
        for method in {name for name, _, _ in measured}
        if {key for name, key, _ in measured if name == method}.isdisjoint(
            key for name, key, _ in measured if name != method
        )
    }
    return [
        Variable(method, key, prepared(np.where(reached, side.spread(key, values), np.nan)))
        for method, key, values in measured
        if method not in alone
    ]


def _entries(variables: list[Variable], items: str) -> Iterator[_Planned]:
    for place, (first, second) in enumerate(combinations(variables, 2)):
        yield _Planned(
            "mtmm_correlation",
            (first.trait, second.trait),
            (first.method, second.method),
            place,
            {"first": first.method, "second": second.method, "items": items,
             "kind": kind(first, second)},
        )  # fmt: skip


def _method_estimates(
    variables: list[Variable], methods: tuple[str, str], items: str
) -> Iterator[_Planned]:
    """Means by kind, their difference, and HTMT of each pair of constructs, for two methods."""
    index = {(v.method, v.trait): i for i, v in enumerate(variables)}
    place = {pair: m for m, pair in enumerate(combinations(range(len(variables)), 2))}
    first, second = methods

    def between(trait: str, other: str) -> int:
        i, j = index[first, trait], index[second, other]
        return place[min(i, j), max(i, j)]

    shared = [v.trait for v in variables if v.method == first and (second, v.trait) in index]
    if not shared:
        return
    same = [between(t, t) for t in shared]
    other = [between(t, u) for t in shared for u in shared if t != u]
    params = {"first": first, "second": second, "items": items}
    constructs = tuple(shared)
    yield _Planned("mtmm_convergent", constructs, methods, mean_of(same), params)
    if not other:
        return
    yield _Planned("mtmm_heterotrait", constructs, methods, mean_of(other), params)
    apart = mean_difference(same, other)
    yield _Planned("mtmm_discriminant", constructs, methods, apart, params)
    for t, u in combinations(shared, 2):
        ratio = htmt((between(t, u), between(u, t)), (between(t, t), between(u, u)), (t, u))
        yield _Planned("htmt", (t, u), methods, ratio, params | {"methods": "two"})


def _eigenvalue(
    base: StatisticFamily,
    traits: tuple[str, ...],
    methods: tuple[str, ...],
    n_variables: int,
    items: str,
) -> Estimate:
    value = smallest_eigenvalue(n_variables, base.points())
    fewest = int(base.n_responses.argmin())
    return Estimate(
        "mtmm_smallest_eigenvalue",
        constructs=traits,
        scorers=tuple(name for name in methods if name != PEOPLE),
        value=value,
        n_responses=int(base.n_responses[fewest]),
        n_queries=int(base.contributing[:, fewest].sum()),
        reason=UNDEFINED_ENTRY if np.isnan(value) else None,
        params={"items": items, "variables": n_variables},
    )


STATISTICS = (
    Statistic(
        "mtmm_correlation",
        "Correlation",
        "entry of the multitrait-multimethod matrix; params.first and params.second are the "
        "methods of the two constructs, params.kind is monotrait_heteromethod, "
        "heterotrait_monomethod or heterotrait_heteromethod",
        multitrait,
        range=(-1, 1),
        targets=("these_raters",),
        source="Campbell and Fiske 1959",
    ),
    Statistic(
        "mtmm_convergent",
        "Convergent",
        "mean of the monotrait-heteromethod correlations of two methods",
        multitrait,
        range=(-1, 1),
        better="higher",
        targets=("these_raters",),
        source="Campbell and Fiske 1959",
    ),
    Statistic(
        "mtmm_heterotrait",
        "Heterotrait",
        "mean of the heterotrait-heteromethod correlations of two methods",
        multitrait,
        range=(-1, 1),
        better="lower",
        targets=("these_raters",),
        source="Campbell and Fiske 1959",
    ),
    Statistic(
        "mtmm_discriminant",
        "Difference",
        "`mtmm_convergent` minus `mtmm_heterotrait`, with a joint interval",
        multitrait,
        range=(-2, 2),
        better="higher",
        targets=("these_raters",),
    ),
    Statistic(
        "mtmm_smallest_eigenvalue",
        "Smallest eigenvalue",
        "smallest eigenvalue of the whole matrix; below 0 it fits no set of scores",
        multitrait,
    ),
)
