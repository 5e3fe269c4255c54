"""Properties of scores by scorer and system: ties, ends of the scale, shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import resampled_estimate
from analysis.core.statistic import SYSTEM, Statistic
from analysis.core.statistic_family import NO_SCORES, Averaged, replicated_means
from analysis.statistics.distribution.shape import (
    at_bound,
    bounds,
    tie_probability,
)
from analysis.topics.distribution.people_by_system import ADJUSTED, adjusted_people
from study.base.scales import Scale

MEAN_OF_RATERS = "mean_of_raters"

NO_SCALE = "no scale is declared, so its ends are unknown; declare it with --scale"
NO_VARIATION = "{which} the scores are at this end: without variation there is no interval"


def score_properties(context: Context) -> Iterator[Estimate]:
    """Every scorer's, and the mean of the raters', on all responses and on each system's.

    A response counts once overall and once for each system that produced it. Means and shares at
    the ends carry intervals; the rest describes the scores at hand. By system a single rater has a
    mean alone, and nobody a median or ties. Further descriptive statistics, and those by system,
    are in a table: `analysis.topics.distribution.descriptions`.
    """
    sets = list(score_sets(context))
    located = [_Planned("mean", score_set.averaged, score_set.record) for score_set in sets]
    ends = {
        id(score_set): [] if score_set.one_rater_and_system else list(_ends(score_set))
        for score_set in sets
    }
    estimates = _with_intervals(context, [*located, *(p for part in ends.values() for p in part)])
    for score_set, mean in zip(sets, located, strict=True):
        yield _on_scale(_adjusted(context, estimates[id(mean)]), score_set.scale)
        yield from (estimates[id(planned)] for planned in ends[id(score_set)])
        if score_set.items is None:
            values = score_set.values
            yield from _shape(values, score_set.record | counts(values, score_set.query))


def _on_scale(mean: Estimate, scale: Scale | None) -> Estimate:
    """The mean with an interval that ends where the scale does: no mean is beyond it."""
    if scale is None or not mean.has_interval:
        return mean
    low, high = max(mean.ci_low, scale.min), min(mean.ci_high, scale.max)
    # People's means that are adjusted for severity may themselves be outside of the scale.
    return replace(mean, ci_low=low, ci_high=high) if low <= mean.value <= high else mean


def _adjusted(context: Context, mean: Estimate) -> Estimate:
    """People's mean of a system, adjusted where raters are not balanced over systems."""
    if not mean.systems or mean.params.get("of") != MEAN_OF_RATERS:
        return mean
    people = adjusted_people(context, mean.constructs[0])
    if people is None:
        return mean
    place = people.names.index(mean.systems[0])
    means = people.means(context.options.level)
    value = float(means.values[place])
    params = {**mean.params, **ADJUSTED, "unadjusted": mean.value}
    reason = means.reasons[place]
    interval = means.at(place).fields
    like = "raters_like_these"
    return replace(mean, value=value, **interval, target=like, reason=reason, params=params)


def ends_of_scale(context: Context) -> Iterator[Estimate]:
    """Judges' and metrics' shares at the ends of the scale, over all responses."""
    planned: list[_Planned] = []
    for construct, data in context.whole.items():
        for scorer, values in data.scorers.items():
            record = _record(construct, (scorer,), None, None)
            scale = context.scores.scale(construct, scorer)
            planned += _ends(ScoreSet(partial(_kept, values), data.query, None, scale, record))
    yield from _with_intervals(context, planned).values()


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """Scores of one scorer, over all responses or one system's.

    They are selected whenever they are needed: those of all systems at once would be copies of
    every score.
    """

    read_all: Callable[[], FloatArray]
    """Reads the scores (n,) of all responses."""
    query_of_all: IntArray
    items: BoolArray | None
    """Which responses (n,) are the system's; None for all."""
    scale: Scale | None
    record: dict[str, Any]
    single_rater: bool = False
    """Whether they are of a single rater."""

    @property
    def one_rater_and_system(self) -> bool:
        """Whether they are a rater's scores of one system."""
        return self.single_rater and self.items is not None

    @property
    def values(self) -> FloatArray:
        values = self.read_all()
        return values if self.items is None else values[self.items]

    @property
    def query(self) -> IntArray:
        return self.query_of_all if self.items is None else self.query_of_all[self.items]

    def averaged(self) -> Averaged:
        """What the mean is computed from."""
        return Averaged(self.values, self.query)

    def at_end(self, scale: Scale, end: Literal["min", "max"]) -> Averaged:
        """Zeros and ones: what the share at an end of the scale is computed from."""
        return Averaged(at_bound(self.values, scale.min, scale.max, end), self.query)


@dataclass(frozen=True, eq=False)
class _Planned:
    """A figure with an interval that is still to be computed, or a finished one."""

    name: str
    part: Callable[[], Averaged] | None
    record: dict[str, Any]
    finished: Estimate | None = None


def score_sets(context: Context) -> Iterator[ScoreSet]:
    """The scores of every scorer and the means of raters, overall and by system."""
    for construct, data in context.whole.items():
        for scorers, values, of in _whose(data):
            scale = context.scores.scale(construct, scorers[0])
            for system in (None, *data.systems):
                items = None if system is None else data.produced_by(system)
                record = _record(construct, scorers, of, system)
                is_rater = of is None and scorers[0] in data.raters
                yield ScoreSet(values, data.query, items, scale, record, is_rater)


def _with_intervals(context: Context, planned: list[_Planned]) -> dict[int, Estimate]:
    """Every planned record by its identity, in order; means and shares in few products."""
    resampling = context.whole_resampling
    open_ = [p for p in planned if p.part is not None]
    parts = (p.part() for p in open_ if p.part is not None)
    computed = {
        id(p): resampled_estimate(
            context, p.name, family, place, values, resampling,
            None if p.name == "mean" else "logit", **p.record,
        )
        for p, (family, place, values) in zip(
            open_, replicated_means(parts, resampling.n_queries, resampling), strict=True
        )
    }  # fmt: skip
    return {id(p): p.finished or computed[id(p)] for p in planned}


def counts(values: FloatArray, query: IntArray) -> dict[str, Any]:
    """What a figure of these values (n,) rests on: responses, their queries, and those without."""
    present = np.isfinite(values)
    return {
        "n_responses": int(present.sum()),
        "n_queries": int(np.unique(query[present]).size),
        "n_dropped": int((~present).sum()),
    }


def _record(
    construct: str, scorers: tuple[str, ...], of: str | None, system: str | None
) -> dict[str, Any]:
    return {
        "constructs": (construct,),
        "scorers": scorers,
        "systems": (system,) if system else (),
        "scope": f"system:{system}" if system else "pooled",
        "n_raters": len(scorers) if of else 0,
        "params": {"of": of} if of else {},
    }


def _whose(
    data: ConstructData,
) -> Iterator[tuple[tuple[str, ...], Callable[[], FloatArray], str | None]]:
    for name, values in (data.scorers | data.adjudicated).items():
        yield (name,), partial(_kept, values), None
    for name in data.raters:
        yield (name,), partial(data.ratings_by, name), None
    if len(data.raters) > 1:
        yield data.raters, partial(getattr, data, "mean_of_raters"), MEAN_OF_RATERS


def _kept(values: FloatArray) -> FloatArray:
    return values


def _ends(score_set: ScoreSet) -> Iterator[_Planned]:
    values, scale = score_set.values, score_set.scale
    counted = score_set.record | counts(values, score_set.query)
    names = ("share_at_min", "share_at_max")
    if scale is None or counted["n_responses"] == 0:
        why = NO_SCALE if scale is None else NO_SCORES
        yield from (_finished(Estimate(name, reason=why, **counted)) for name in names)
        return
    counted_ends = bounds(values, scale.min, scale.max)
    ends: tuple[tuple[Literal["min", "max"], float], ...] = (
        ("min", counted_ends.share_at_min),
        ("max", counted_ends.share_at_max),
    )
    for end, share in ends:
        name = f"share_at_{end}"
        if score_set.items is None and 0 < share < 1:
            part = partial(score_set.at_end, scale, end)
            yield _Planned(name, part, score_set.record)
        else:
            how_many = {0.0: "none of", 1.0: "all"}.get(share)
            reason = NO_VARIATION.format(which=how_many) if how_many else None
            yield _finished(Estimate(name, value=share, reason=reason, **counted))


def _finished(estimate: Estimate) -> _Planned:
    return _Planned(estimate.statistic, None, {}, estimate)


def _shape(values: FloatArray, record: dict[str, Any]) -> Iterator[Estimate]:
    ties = tie_probability(values)
    few = f"a pair needs 2 scores, there are {record['n_responses']}"
    yield Estimate("tie_probability", value=ties, reason=few if np.isnan(ties) else None, **record)
    median = float(np.nanmedian(values)) if record["n_responses"] else math.nan
    yield Estimate("median", value=median, reason=NO_SCORES if np.isnan(median) else None, **record)


#: What the statistics of this module have in common.
_statistic = partial(Statistic, estimates=score_properties, scopes=("pooled", SYSTEM))

STATISTICS = (
    _statistic(
        "mean",
        "Mean",
        "arithmetic mean, overall and by system; queries resampled. People's mean of a system is "
        "adjusted for raters' severity where raters are not balanced over systems (params.adjusted;"
        " params.unadjusted is the plain mean), with an interval for raters like these",
        targets=("raters_like_these",),
        source="Muhamed 2025, tables 4 and 14",
    ),
    _statistic(
        "share_at_min",
        "At minimum",
        "share of scores exactly at the lower end of the declared scale, but for float noise; "
        "queries resampled over all responses, on the logit scale below 1,000 queries; without a "
        "declared scale withheld",
        range=(0, 1),
        better="lower",
        source="Muhamed 2025, tables 5 and 6",
    ),
    _statistic(
        "share_at_max",
        "At maximum",
        "share of scores exactly at the upper end of the declared scale, by the same rule",
        range=(0, 1),
        better="lower",
        source="Muhamed 2025, tables 5 and 6",
    ),
    _statistic(
        "tie_probability",
        "Ties",
        "chance that two different responses have equal scores",
        range=(0, 1),
        better="lower",
        source="Muhamed 2025, table 13",
    ),
    _statistic(
        "median",
        "Median",
        "the middle score",
        source="Muhamed 2025, table 14",
    ),
)
