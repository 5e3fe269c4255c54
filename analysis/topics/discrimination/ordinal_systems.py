"""Systems by people on few ordered points, where raters are not balanced over systems.

The additive model takes a rater's severity as a constant number of points. On few ordered points
the figures of the cumulative-logit model are shown next to those of the additive one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import SYSTEM, Statistic
from analysis.render.table import Table, TableBuilder
from analysis.topics.distribution.people_by_system import ADJUSTED, adjusted_people
from analysis.topics.reliability.rater_thresholds import of_few_points, spaced_differently

if TYPE_CHECKING:
    from analysis.statistics.reliability.ordinal_systems import Unit

UNITS: dict[Unit, str] = {"points": "ordinal_difference", "log_odds": "ordinal_log_odds"}

#: Pairs of systems in the table; more pairs are in estimates.csv only.
PAIRS_SHOWN = 28


def ordinal_figures(context: Context) -> Iterator[Estimate]:
    """Expected points of each system; differences of pairs in points and in log odds."""
    for construct, data in context.rated.items():
        if of_few_points(context, construct):
            yield from _of_construct(context, data)
            yield from _by_rater_thresholds(context, data)


def _of_construct(context: Context, data: ConstructData) -> Iterator[Estimate]:
    people = adjusted_people(context, data.construct)
    if people is None:
        return
    # Imported here: few reports have such ratings.
    from analysis.statistics.reliability.ordinal_systems import ordinal_systems

    model = ordinal_systems(data.ratings, data.query, data.produced, data.systems, people.balance)
    options = context.options
    for place, system in enumerate(data.systems):
        mean = model.mean(place)
        interval = context.rated_resampling.interval_of(mean)
        record = _record(data, place) | {"scope": f"system:{system}", "params": dict(ADJUSTED)}
        reason = mean.reason or interval.reason
        yield Estimate("ordinal_mean", value=mean.point, **interval.fields, reason=reason, **record)
    for unit, name in UNITS.items():
        pairs = model.differences(unit, options.level, options.seed)
        for pair, (value, interval) in pairs.items():
            record = _record(data, *pair) | {"scope": "system_level"}
            yield Estimate(
                name,
                value=value,
                **interval.fields,
                reason=interval.reason,
                params={**ADJUSTED, "simultaneous": len(pairs)},
                **record,
            )


def _record(data: ConstructData, *places: int) -> dict[str, Any]:
    rated = data.produced[:, list(places)].copy()
    rated[~np.isfinite(data.ratings).any(axis=1)] = False
    return {
        "constructs": (data.construct,),
        "scorers": data.raters,
        "systems": tuple(data.systems[place] for place in places),
        "target": "these_raters",
        "n_raters": len(data.raters),
        "n_responses": int(rated.sum()),
        "n_queries": int(np.unique(data.query[rated.any(axis=1)]).size),
    }


def _by_rater_thresholds(context: Context, data: ConstructData) -> Iterator[Estimate]:
    """Differences in points where raters keep the points differently far apart."""
    people = adjusted_people(context, data.construct)
    if people is None or not spaced_differently(context, data.construct):
        return
    from analysis.statistics.reliability.ordinal_systems import ordinal_systems

    table = (data.ratings, data.query, data.produced, data.systems, people.balance)
    pairs = ordinal_systems(*table, by_rater=True).differences(
        "points", context.options.level, context.options.seed
    )
    for pair, (value, interval) in pairs.items():
        yield Estimate(
            "rater_threshold_difference",
            value=value,
            **interval.fields,
            reason=interval.reason,
            params={**ADJUSTED, "simultaneous": len(pairs)},
            **_record(data, *pair) | {"scope": "system_level"},
        )


def ordinal_differences(analysis: Analysis) -> Iterator[Table]:
    """Pairs of systems by both models."""
    built, headings = TableBuilder(), analysis.headings
    by_construct: dict[str, list[Estimate]] = {}
    for e in analysis.estimates.select("ordinal_difference"):
        by_construct.setdefault(e.constructs[0], []).append(e)
    by_rater = any(analysis.estimates.select("rater_threshold_difference"))
    for construct, pairs in by_construct.items():
        scale = analysis.context.human_scale(construct)
        additive, own, odds = (
            {e.systems: e for e in analysis.estimates.select(name, construct=construct, **ADJUSTED)}
            for name in ("system_difference", "rater_threshold_difference", "ordinal_log_odds")
        )
        for e in pairs if len(pairs) <= PAIRS_SHOWN else ():
            built.add(
                construct,
                " minus ".join(e.systems),
                built.points(additive.get(e.systems), scale),
                built.points(e, scale),
                *([built.points(own.get(e.systems), scale)] if by_rater else []),
                built.number(odds.get(e.systems), "+.2f"),
            )
    yield built.table(
        "ordinal-differences",
        "Differences between systems on few ordered points: people",
        "Raters are not balanced over these systems. The additive model takes a rater's severity "
        "as a constant number of points, for raters like these; the cumulative-logit model as a "
        "constant on the logit scale, so that it moves a system at an end of the scale by fewer "
        "points, for these raters. "
        + (BY_RATER if by_rater else "")
        + "Brackets: simultaneous intervals for all pairs of a construct.",
        ("Construct", "Pair", "Additive model", headings["ordinal_difference"],
         *([headings["rater_threshold_difference"]] if by_rater else []),
         headings["ordinal_log_odds"]),
        heads=2,
    )  # fmt: skip


BY_RATER = (
    "Where raters use the points differently (see People among themselves), the cumulative-logit "
    "model with thresholds of each rater is the one that fits. "
)

#: What the statistics of this module have in common.
_statistic = partial(
    Statistic,
    estimates=ordinal_figures,
    targets=("these_raters",),
    source="McCullagh 1980; Linacre 1989",
)

STATISTICS = (
    _statistic(
        "ordinal_mean",
        "Expected points",
        "what the cumulative-logit model (systems and raters fixed, queries random) expects for a "
        "system on every query, averaged over queries and with equal weights over raters: as if "
        "every rater had rated every response. Only where people's scale is declared ordinal with "
        "at most 7 points and raters are not balanced over systems; by the jackknife over queries",
        scopes=(SYSTEM,),
    ),
    _statistic(
        "ordinal_difference",
        "Cumulative-logit model",
        "difference of the expected points of two systems, with a simultaneous interval over "
        "params.simultaneous pairs (max-t)",
        scopes=("system_level",),
    ),
    _statistic(
        "rater_threshold_difference",
        "Thresholds by rater",
        "the same difference by the cumulative-logit model in which each rater has thresholds of "
        "their own; only where `equal_spacing_p`, adjusted over constructs, is below .05",
        scopes=("system_level",),
        source="McCullagh 1980; Peterson and Harrell 1990",
    ),
    _statistic(
        "ordinal_log_odds",
        "Log odds",
        "log odds of a higher point with the first system minus those with the second, for one "
        "rater and query; simultaneous intervals as for the difference",
        scopes=("system_level",),
    ),
)
