"""How far judge scores hang on the run that gave them: agreement, components, flips."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from analysis.core.construct_data import FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import resampled_estimate
from analysis.core.resampling import Transform
from analysis.core.statistic import Statistic
from analysis.statistics.stability.run_agreement import RUN_MEASURES, run_agreement
from analysis.statistics.stability.run_components import RUN_COMPONENTS, run_components
from analysis.statistics.stability.run_factors import half_mean_square, pairs_by_difference
from analysis.topics.stability.comparable_runs import Runs, comparable, judge_runs, same_scale
from analysis.topics.stability.rank_reversals import run_flips

#: How each measure's jackknife interval is formed.
_TRANSFORMS: tuple[Transform | None, ...] = ("logit", None, "fisher_z", "fisher_z")

#: What differs between two scores of one run, between two runs of the same make, and between runs
#: of which one at least is of unknown make.
REPEAT, RUN, UNKNOWN = "nothing (repeats)", "run", "not known"


def stability(context: Context) -> Iterator[Estimate]:
    """`run_agreement`, `run_variance_share`, `variance_between_runs` and `flip_rate`.

    Only of constructs on which a judge has scored something twice, in two runs or as a repeat.
    """
    found = [runs for runs in judge_runs(context) if len(runs.names) > 1 or runs.later]
    for runs in found:
        yield from _agreement(context, runs)
        yield from _components(context, runs)
        yield from _what_differs(context, runs)
    yield from run_flips(context, found)


def _agreement(context: Context, runs: Runs) -> Iterator[Estimate]:
    runs = same_scale(context, runs)
    pairs = list(combinations(range(len(runs.names)), 2))
    if not pairs:
        return
    data, resampling = runs.data, context.whole_resampling
    family = run_agreement(runs.first, pairs, data.query, data.n_queries)
    found = family.replicates(resampling)
    for place, one in enumerate(found):
        (i, j), number = pairs[place // len(RUN_MEASURES)], place % len(RUN_MEASURES)
        measure = RUN_MEASURES[number]
        yield resampled_estimate(
            context,
            "run_agreement",
            family,
            place,
            one,
            resampling,
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
    found = family.replicates(resampling)
    variances = family.points()[len(RUN_COMPONENTS) :]
    for place, component in enumerate(RUN_COMPONENTS):
        known = np.isfinite(variances[place])
        yield resampled_estimate(
            context,
            "run_variance_share",
            family,
            place,
            found[place],
            resampling,
            constructs=(data.construct,),
            scorers=runs.names,
            params={
                "component": component,
                "variance": float(variances[place]) if known else None,
                "excluded": excluded,
            },
        )


def _what_differs(context: Context, runs: Runs) -> Iterator[Estimate]:
    runs = same_scale(context, runs)
    data, resampling = runs.data, context.whole_resampling
    for differ, names, pairs in _sets(context, runs):
        family = half_mean_square(pairs, data.query, data.n_queries)
        found = family.replicates(resampling)[0]
        point, shift = family.points()
        known = bool(np.isfinite(point))
        yield resampled_estimate(
            context,
            "variance_between_runs",
            family,
            0,
            found,
            resampling,
            constructs=(data.construct,),
            scorers=names,
            params={
                "differ": differ,
                "pairs": len(pairs),
                "shift": float(shift) if known else None,
                "rms": float(np.sqrt(2 * point)) if known else None,
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
    attributes = context.options.runs
    known = [name for name in runs.names if name in attributes]
    unknown = [name for name in runs.names if name not in attributes]
    by_name = runs.data.scorers
    for apart, pairs in pairs_by_difference([attributes[name] for name in known]).items():
        names = [(known[i], known[j]) for i, j in pairs]
        label = " + ".join(apart) or RUN
        yield label, _named(names), [(by_name[a], by_name[b]) for a, b in names]
    # Of scores from elsewhere it isn't known what they were made with.
    others = [(a, b) for a, b in combinations(runs.names, 2) if {a, b} & set(unknown)]
    if others:
        yield UNKNOWN, _named(others), [(by_name[a], by_name[b]) for a, b in others]


def _named(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for pair in pairs for name in pair))


STATISTICS = (
    Statistic(
        "run_agreement",
        "Agreement of runs",
        "of two runs (`scorers`), params.measure: `share_equal`, `mean_absolute_difference` in "
        "points, `pearson` of the deviations from the query's means (scope within_query), `ccc` "
        "(concordance, sums divided by n)",
        stability,
        scopes=("pooled", "within_query"),
        source="Lin 1989",
    ),
    Statistic(
        "run_variance_share",
        "Share of variance",
        "share of the variance of one score that lies in params.component (query, response, run, "
        "query:run, response:run, repeat); params.variance in squared points",
        stability,
        source="Searle, Casella and McCulloch 1992",
    ),
    Statistic(
        "variance_between_runs",
        "Variance",
        "half the mean squared difference of two scorings that differ in params.differ and "
        "nothing else, in squared points; params.rms is the root of the mean square, params.shift "
        "the part that moves all scores alike, params.pairs the pairs of scorings",
        stability,
        range=(0, None),
        better="lower",
    ),
    Statistic(
        "flip_rate",
        "Flip rate",
        "probability that two independent scorings put two systems in another order on their mean "
        "scores; params.between repeats, runs or queries. Of one pair (`systems`), or the mean "
        "over params.pairs pairs, of one construct or all (`constructs`)",
        stability,
        range=(0, 1),
        better="lower",
        scopes=("system_level",),
        source="noncentral t: Johnson and Welch 1940",
    ),
)
