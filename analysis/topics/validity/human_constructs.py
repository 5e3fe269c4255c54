"""Correlations between constructs among people: across raters, within a rater, and halo."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import Aligned, ConstructData, aligned
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.statistic import Statistic
from analysis.statistics.validity.between_raters import RaterPairs, across_raters, same_rater
from analysis.statistics.validity.correlation_family import CorrelationFamily, prepared
from analysis.statistics.validity.derived_correlations import (
    Derived,
    difference,
    htmt,
    mean_of,
    with_derived,
)

NO_CROSS = "no two responses were rated by two raters who gave these constructs"
NO_SAME = "no two responses got both constructs from one rater"


def human_constructs(context: Context) -> Iterator[Estimate]:
    """Every pair of rated constructs, and each construct with itself across raters."""
    rated = {key: data for key, data in context.rated.items() if data.raters}
    if len(rated) < 2:
        return
    side = aligned(rated)
    raters = tuple(dict.fromkeys(name for data in rated.values() for name in data.raters))
    values = {key: _by_rater(side, data, raters) for key, data in rated.items()}
    correlations = CorrelationFamily(side.query, side.n_queries)
    planned: list[tuple[str, tuple[str, ...], int, dict[str, Any]]] = []
    with_itself: dict[str, int] = {}
    for key, ratings in values.items():
        pairs = across_raters(ratings, ratings, side.query, side.n_queries)
        with_itself[key] = _add(correlations, pairs, (key, key), NO_CROSS)
        planned.append(
            ("human_construct_correlation", (key, key), with_itself[key], {"raters": "cross"})
        )
    crossed, within = {}, {}
    for a, b in combinations(values, 2):
        across, same = _on_common(values[a], values[b], side)
        crossed[a, b] = _add(correlations, across, (a, b), NO_CROSS)
        within[a, b] = _add(correlations, same, (a, b), NO_SAME)
        for raters_are, place in (("cross", crossed[a, b]), ("same", within[a, b])):
            planned.append(("human_construct_correlation", (a, b), place, {"raters": raters_are}))
    base = correlations.family()
    derived: list[Derived] = []
    for (a, b), place in crossed.items():
        at = len(base.reasons) + len(derived)
        derived.append(difference(within[a, b], place))
        planned.append(("halo", (a, b), at, {}))
        derived.append(htmt((place,), (with_itself[a], with_itself[b]), (a, b)))
        planned.append(("htmt", (a, b), at + 1, {"methods": "raters"}))
    family = with_derived(base, derived)
    halos = [place for name, _, place, _ in planned if name == "halo"]
    everything = tuple(values)
    if len(halos) > 1:
        at = len(family.reasons)
        family = with_derived(family, [mean_of(halos)])
        planned.append(("halo_average", everything, at, {"pairs": len(halos)}))
    resampled = ResampledFamily(context, family, context.rated_resampling)
    for name, constructs, place, params in planned:
        yield resampled.estimate(
            name, place, "fisher_z" if name == "human_construct_correlation" else None,
            constructs=constructs, scorers=raters, target="these_raters", n_raters=len(raters),
            params=params,
        )  # fmt: skip


def _by_rater(side: Aligned, data: ConstructData, raters: tuple[str, ...]) -> FloatArray:
    """Prepared ratings (n, R) in the order of all raters."""
    out = np.full((side.query.size, len(raters)), np.nan)
    columns = [raters.index(name) for name in data.raters]
    out[:, columns] = side.spread(data.construct, prepared(data.ratings))
    return out


def _on_common(
    first: FloatArray, second: FloatArray, side: Aligned
) -> tuple[RaterPairs, RaterPairs]:
    """Pairs across raters and within a rater: on the same responses, where there are any.

    Halo compares the two, so a response that has only one of them must not make a difference.
    """
    across = across_raters(first, second, side.query, side.n_queries)
    same = same_rater(first, second, side.query, side.n_queries)
    both = across.items & same.items
    if not both.any() or (across.items == same.items).all():
        return across, same
    a, b = (np.where(both[:, None], values, np.nan) for values in (first, second))
    return (
        across_raters(a, b, side.query, side.n_queries),
        same_rater(a, b, side.query, side.n_queries),
    )


def _add(
    correlations: CorrelationFamily, pairs: RaterPairs, names: tuple[str, str], too_few: str
) -> int:
    return correlations.add_sums(pairs.sums, int(pairs.items.sum()), 0, names, too_few)


STATISTICS = (
    Statistic(
        "human_construct_correlation",
        "Correlation",
        "Pearson's r of two constructs by the same rater (params.raters = same) or by two raters "
        "(cross); a construct with itself across raters where both names are equal",
        human_constructs,
        range=(-1, 1),
        targets=("these_raters",),
        source="Cooper 1981 on halo",
    ),
    Statistic(
        "halo",
        "Halo",
        "`human_construct_correlation` of the same rater minus that across raters, on the same "
        "responses",
        human_constructs,
        range=(-2, 2),
        better="0",
        targets=("these_raters",),
        source="Cooper 1981",
    ),
    Statistic(
        "halo_average",
        "Average halo",
        "mean of `halo` over all pairs of constructs",
        human_constructs,
        range=(-2, 2),
        better="0",
        targets=("these_raters",),
    ),
    Statistic(
        "htmt",
        "HTMT",
        "heterotrait-monotrait ratio; near 1 two constructs are not distinguished, .85 or .90 are "
        "the usual limits",
        human_constructs,
        better="lower",
        targets=("these_raters",),
        source="Henseler, Ringle and Sarstedt 2015",
    ),
)
