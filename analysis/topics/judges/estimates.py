"""Different judges on a construct: how far they agree with each other, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import ResampledFamily
from analysis.core.statistic import Statistic
from analysis.core.uncertainty import Transform
from analysis.statistics.agreement.category_agreement import categories_of
from analysis.statistics.agreement.cohen_kappa import cohen_kappa
from analysis.statistics.stability.run_agreement import RUN_MEASURES, RunMeasure, run_agreement
from analysis.statistics.stability.run_factors import half_mean_square, pairs_by_difference
from analysis.topics.stability.estimates import named

#: How each measure's jackknife interval is formed.
_TRANSFORMS: dict[RunMeasure, Transform | None] = {
    "share_equal": "logit",
    "mean_absolute_difference": None,
    "pearson": "fisher_z",
    "ccc": "fisher_z",
}


def judges_on(context: Context) -> Iterator[tuple[ConstructData, list[str]]]:
    """The constructs that several judges scored, with these judges.

    Runs of one judge, and scorers that follow from others, do not count as further judges: of
    several runs the first is here.
    """
    options = context.options
    for data in context.whole.values():
        judges: dict[tuple[object, ...], str] = {}
        for name in data.judges:
            if name not in options.derived_from and np.isfinite(data.scorers[name]).any():
                judges.setdefault(options.judge_of(name), name)
        if len(judges) > 1:
            yield data, list(judges.values())


def between_judges(context: Context) -> Iterator[Estimate]:
    """`judge_agreement` of each two judges, and `variance_between_judges`."""
    for data, judges in judges_on(context):
        yield from _agreement(context, data, judges)
        yield from _what_differs(context, data, judges)


def _agreement(context: Context, data: ConstructData, judges: list[str]) -> Iterator[Estimate]:
    pairs = list(combinations(range(len(judges)), 2))
    scores = np.column_stack([data.scorers[name] for name in judges])
    family = run_agreement(scores, pairs, data.query, data.n_queries)
    resampled = ResampledFamily(context, family, context.whole_resampling)
    nominal = context.nominal([data.construct])
    for place in range(len(family.reasons)):
        i, j = pairs[place // len(RUN_MEASURES)]
        measure = RUN_MEASURES[place % len(RUN_MEASURES)]
        names = (judges[i], judges[j])
        alike = _one_scale(context, data.construct, *names)
        if nominal and measure == "share_equal":
            yield _kappa(context, data, names, (scores[:, i], scores[:, j]))
        # Values on two scales can be ordered, and neither subtracted nor equal.
        if measure == ("share_equal" if nominal else "pearson") or (alike and not nominal):
            yield resampled.estimate(
                "judge_agreement",
                place,
                _TRANSFORMS[measure],
                constructs=(data.construct,),
                scorers=names,
                scope="within_query" if measure == "pearson" else "pooled",
                params={"measure": measure},
            )


def _kappa(
    context: Context,
    data: ConstructData,
    names: tuple[str, str],
    values: tuple[FloatArray, FloatArray],
) -> Estimate:
    levels = tuple(categories_of(*values))
    return context.estimate(
        "judge_agreement",
        cohen_kappa(*values, data.query, "none", levels, data.n_queries),
        context.whole_resampling,
        "fisher_z",
        constructs=(data.construct,),
        scorers=names,
        params={"measure": "kappa"},
    )


def _one_scale(context: Context, construct: str, name: str, other: str) -> bool:
    scales = [context.scores.scale(construct, scorer) for scorer in (name, other)]
    first, second = scales
    if first is None or second is None:
        return first is second
    return first.same_points(second)


def _what_differs(context: Context, data: ConstructData, judges: list[str]) -> Iterator[Estimate]:
    """Mean square differences of judges whose attributes are known, by what differs."""
    attributes = context.options.runs
    known = [name for name in judges if name in attributes]
    by_difference = pairs_by_difference([attributes[name] for name in known])
    for apart, places in by_difference.items():
        names = [
            (known[i], known[j])
            for i, j in places
            if _one_scale(context, data.construct, known[i], known[j])
        ]
        if not names:
            continue
        pairs = [(data.scorers[a], data.scorers[b]) for a, b in names]
        family = half_mean_square(pairs, data.query, data.n_queries)
        point, shift = family.points()
        defined = bool(np.isfinite(point))
        yield ResampledFamily(context, family, context.whole_resampling).estimate(
            "variance_between_judges",
            constructs=(data.construct,),
            scorers=named(names),
            params={
                "differ": " + ".join(apart),
                "pairs": len(pairs),
                "shift": float(shift) if defined else None,
                "rms": float(np.sqrt(2 * point)) if defined else None,
            },
        )


STATISTICS = (
    Statistic(
        "judge_agreement",
        "Agreement of judges",
        "of two judges (`scorers`), params.measure: `share_equal`, `mean_absolute_difference` in "
        "points, `pearson` of the deviations from the query's means (scope within_query), `ccc` "
        "(concordance, sums divided by n), and on nominal scales `kappa`; on two scales `pearson` "
        "alone",
        between_judges,
        scopes=("pooled", "within_query"),
        source="Lin 1989; Cohen 1960",
        nominal=True,
    ),
    Statistic(
        "variance_between_judges",
        "Variance",
        "half the mean squared difference of two judges that differ only in params.differ, in "
        "squared points; params.rms is the root of the mean square, params.shift the part that "
        "moves all scores alike, params.pairs the pairs of judges",
        between_judges,
        range=(0, None),
        better="lower",
    ),
)
