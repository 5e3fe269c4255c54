"""Runs of one judge on a construct, and how far scores depend on the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.statistic import Statistic
from analysis.core.uncertainty import Transform
from analysis.statistics.stability.run_agreement import RUN_MEASURES, run_agreement
from analysis.statistics.stability.run_components import RUN_COMPONENTS, run_components
from analysis.statistics.stability.run_factors import half_mean_square, pairs_by_difference

#: How each measure's jackknife interval is formed.
_TRANSFORMS: tuple[Transform | None, ...] = ("logit", None, "fisher_z", "fisher_z")

#: What differs between two scores of one run, and between two runs with one seed or none.
REPEAT, RUN = "nothing (repeats)", "run"

#: A run that has scored a smaller share of what the fullest has is left out where all the runs
#: have to have scored a response: it is unfinished, or was a sample.
LEAST_SCORED = 0.5


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one judge on one construct: first scores and repeats.

    Scorers whose scores follow from those of others (juries, expected scores) are not runs.
    """

    data: ConstructData
    names: tuple[str, ...]
    later: dict[str, FloatArray]
    """By run the later scores (n, K - 1), where it has any."""

    @cached_property
    def first(self) -> FloatArray:
        """First scores (n, R)."""
        return np.column_stack([self.data.scorers[name] for name in self.names])

    def repeats(self, name: str) -> FloatArray:
        """All scores (n, K) of a run, the first included."""
        first = self.data.scorers[name][:, None]
        return np.hstack([first, self.later[name]]) if name in self.later else first

    def of(self, names: Sequence[str]) -> Runs:
        """Some of the runs."""
        later = {name: self.later[name] for name in names if name in self.later}
        return Runs(self.data, tuple(names), later)

    def enough(self) -> Runs:
        """The runs that have scored at least `LEAST_SCORED` of what the fullest has."""
        counts = np.isfinite(self.first).sum(axis=0)
        least = LEAST_SCORED * counts.max()
        return self.of([n for n, count in zip(self.names, counts, strict=True) if count >= least])


def judge_runs(context: Context) -> Iterator[Runs]:
    """The runs on each construct by judge; runs of one judge differ in their seed at most."""
    frame = context.scores.frame
    judged = frame["scorer_kind"] == "judge"
    repeats = frame.loc[judged & (frame["repeat"] > 0)]
    for construct, data in context.whole.items():
        names = tuple(
            name
            for name, values in data.scorers.items()
            if data.kinds[name] == "judge"
            and name not in context.options.derived_from
            and np.isfinite(values).any()
        )
        construct_rows = repeats[repeats["construct"] == construct]
        by_judge: dict[tuple[object, ...], list[str]] = {}
        for name in names:
            by_judge.setdefault(context.options.judge_of(name), []).append(name)
        for same_judge in by_judge.values():
            later = {name: _later(data, construct_rows, name) for name in same_judge}
            repeated = {name: values for name, values in later.items() if values is not None}
            yield Runs(data, tuple(same_judge), repeated)


def _later(data: ConstructData, rows: pd.DataFrame, name: str) -> FloatArray | None:
    run_rows = rows[(rows["scorer"] == name) & rows["value"].notna()]
    if run_rows.empty:
        return None
    numbers, column = np.unique(run_rows["repeat"].to_numpy(), return_inverse=True)
    places = pd.Index(data.responses, dtype="object").get_indexer(
        pd.Index(run_rows["response_id"].astype("object"))
    )
    later = np.full((len(data.responses), numbers.size), np.nan)
    later[places, column] = run_rows["value"].to_numpy()
    return later


def same_scale(context: Context, runs: Runs) -> Runs:
    """The runs on the scale that most of them have; those of others can't be subtracted."""
    construct = runs.data.construct
    groups: list[list[str]] = []
    for name in runs.names:
        scale = context.scores.scale(construct, name)
        for group in groups:
            other = context.scores.scale(construct, group[0])
            if (scale is None and other is None) or (
                scale is not None and other is not None and scale.same_points(other)
            ):
                group.append(name)
                break
        else:
            groups.append([name])
    return runs.of(max(groups, key=len))


def comparable(context: Context, runs: Runs) -> tuple[Runs, str | None]:
    """The runs with enough scores and on one scale; and those left out with why, if any."""
    enough = runs.enough()
    comparable_runs = same_scale(context, enough)
    excluded = [
        f"{name}: {'another scale' if name in enough.names else 'too few scores'}"
        for name in runs.names
        if name not in comparable_runs.names
    ]
    return comparable_runs, "; ".join(excluded) or None


def repeated_runs(context: Context) -> Iterator[Runs]:
    """The runs of each judge that scored something twice: in two runs, or again."""
    return (runs for runs in judge_runs(context) if len(runs.names) > 1 or runs.later)


def stability(context: Context) -> Iterator[Estimate]:
    """`run_agreement`, `run_variance_share` and `variance_between_runs`."""
    for runs in repeated_runs(context):
        yield from _agreement(context, runs)
        yield from _components(context, runs)
        yield from _what_differs(context, runs)


def _agreement(context: Context, runs: Runs) -> Iterator[Estimate]:
    runs = same_scale(context, runs)
    pairs = list(combinations(range(len(runs.names)), 2))
    if not pairs:
        return
    data, resampling = runs.data, context.whole_resampling
    family = run_agreement(runs.first, pairs, data.query, data.n_queries)
    resampled = ResampledFamily(context, family, resampling)
    for place in range(len(family.reasons)):
        (i, j), number = pairs[place // len(RUN_MEASURES)], place % len(RUN_MEASURES)
        measure = RUN_MEASURES[number]
        yield resampled.estimate(
            "run_agreement",
            place,
            _TRANSFORMS[number],
            constructs=(data.construct,),
            scorers=(runs.names[i], runs.names[j]),
            scope="within_query" if measure == "pearson" else "pooled",
            params={"measure": measure},
        )


def _components(context: Context, runs: Runs) -> Iterator[Estimate]:
    runs, excluded = comparable(context, runs)
    data, resampling = runs.data, context.whole_resampling
    parts = [runs.repeats(name) for name in runs.names]
    width = max(part.shape[1] for part in parts)
    again = np.full((len(data.responses), len(parts), width), np.nan)
    for place, part in enumerate(parts):
        again[:, place, : part.shape[1]] = part
    family = run_components(runs.first, again, data.query, data.n_queries)
    resampled = ResampledFamily(context, family, resampling)
    variances = family.points()[len(RUN_COMPONENTS) :]
    for place, component in enumerate(RUN_COMPONENTS):
        defined = np.isfinite(variances[place])
        yield resampled.estimate(
            "run_variance_share",
            place,
            constructs=(data.construct,),
            scorers=runs.names,
            params={
                "component": component,
                "variance": float(variances[place]) if defined else None,
                "excluded": excluded,
            },
        )


def _what_differs(context: Context, runs: Runs) -> Iterator[Estimate]:
    runs = same_scale(context, runs)
    data, resampling = runs.data, context.whole_resampling
    for differ, names, pairs in _sets(context, runs):
        family = half_mean_square(pairs, data.query, data.n_queries)
        point, shift = family.points()
        defined = bool(np.isfinite(point))
        yield ResampledFamily(context, family, resampling).estimate(
            "variance_between_runs",
            constructs=(data.construct,),
            scorers=names,
            params={
                "differ": differ,
                "pairs": len(pairs),
                "shift": float(shift) if defined else None,
                "rms": float(np.sqrt(2 * point)) if defined else None,
            },
        )


_Scorings = tuple[FloatArray, FloatArray]


def _sets(context: Context, runs: Runs) -> Iterator[tuple[str, tuple[str, ...], list[_Scorings]]]:
    """Pairs of scorings by what differs between the two, with the runs that they are of."""
    repeated = [name for name in runs.names if name in runs.later]
    if repeated:
        yield REPEAT, tuple(repeated), [
            (every[:, i], every[:, j])
            for every in map(runs.repeats, repeated)
            for i, j in combinations(range(every.shape[1]), 2)
        ]  # fmt: skip
    if len(runs.names) < 2:
        return
    attributes, by_name = context.options.runs, runs.data.scorers
    for apart, pairs in pairs_by_difference([attributes[name] for name in runs.names]).items():
        names = [(runs.names[i], runs.names[j]) for i, j in pairs]
        yield " + ".join(apart) or RUN, named(names), [(by_name[a], by_name[b]) for a, b in names]


def named(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    """The scorers of some pairs, in order of appearance."""
    return tuple(dict.fromkeys(name for pair in pairs for name in pair))


STATISTICS = (
    Statistic(
        "run_agreement",
        "Agreement of runs",
        "of two runs of one judge (`scorers`), params.measure: `share_equal`, "
        "`mean_absolute_difference` in points, `pearson` of the deviations from the query's "
        "means (scope within_query), `ccc` (concordance, sums divided by n)",
        stability,
        scopes=("pooled", "within_query"),
        source="Lin 1989",
    ),
    Statistic(
        "run_variance_share",
        "Share of variance",
        "share of the variance of one score in params.component (query, response, run, "
        "query:run, response:run, repeat); params.variance in squared points",
        stability,
        source="Searle, Casella and McCulloch 1992",
    ),
    Statistic(
        "variance_between_runs",
        "Variance",
        "half the mean squared difference of two scorings by one judge that differ only in "
        "params.differ (the run, its seed, or nothing: repeats), in squared points; params.rms is "
        "the root of the mean square, params.shift the part that moves all scores alike, "
        "params.pairs the pairs of scorings",
        stability,
        range=(0, None),
        better="lower",
    ),
)
