"""How often a scorer gives exactly the value that a person gave, or one a step away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import NOISE
from analysis.core.scales import step_of_grades
from analysis.core.statistic import Statistic
from analysis.statistics.binary.clustered_share import clustered_share
from analysis.topics.agreement.categories import people_one_by_one
from study.base.scales import Scale


def equal_values(context: Context) -> Iterator[Estimate]:
    """`exact_agreement` and `adjacent_agreement` of each scorer on scales of few points."""
    for scored in context.scored():
        scale = context.human_scale(scored.construct)
        if scale is None or scored.withheld:
            continue
        whole = bool((people_one_by_one(scored.data) % 1 == 0)[_rated(scored.data)].all())
        step = step_of_grades(scale, whole=whole)
        if step is None:
            continue
        yield _estimate(context, scored, "exact_agreement", 0.0, scale)
        if not scale.two_valued:
            yield _estimate(context, scored, "adjacent_agreement", step, scale)


def _rated(data: ConstructData) -> BoolArray:
    return np.isfinite(people_one_by_one(data))


def _estimate(
    context: Context, scored: ComparedScores, name: str, points: float, scale: Scale
) -> Estimate:
    data = scored.data
    equal, of = _within(scored.values, people_one_by_one(data), points, scale)
    hits_by_query, compared_by_query = (
        np.bincount(data.query, weights=sums, minlength=data.n_queries).astype(np.float64)
        for sums in (equal, of)
    )
    n = int(np.count_nonzero(of))
    record = scored.record() | {
        "n_responses": n,
        "n_queries": int(np.count_nonzero(compared_by_query)),
    }
    if not n:
        return Estimate(name, reason="no response has both values", **record)
    interval = clustered_share(hits_by_query, compared_by_query, context.options.level)
    return Estimate(
        name,
        value=float(equal.sum() / of.sum()),
        **interval.fields,
        reason=interval.reason,
        **record,
    )


def _within(
    values: FloatArray, people: FloatArray, points: float, scale: Scale
) -> tuple[FloatArray, FloatArray]:
    """Share of a response's raters (n,) whose value is within so many points, and 1 with any."""
    apart = np.abs(people - values[:, None])
    present = np.isfinite(apart)
    counts = present.sum(axis=1)
    near = (np.where(present, apart, np.inf) <= points + NOISE * scale.width).sum(axis=1)
    share = np.divide(near, counts, out=np.zeros(len(values)), where=counts > 0)
    return share, (counts > 0).astype(np.float64)


_statistic = partial(
    Statistic,
    estimates=equal_values,
    range=(0, 1),
    better="higher",
    targets=("these_raters",),
    source="Wilson 1927; Korn and Graubard 1998 for the interval",
)

STATISTICS = (
    _statistic(
        "exact_agreement",
        "Exact agreement",
        "share of the responses to which the scorer gives a rater's value, averaged over a "
        "response's raters; on scales of up to 11 points",
    ),
    _statistic(
        "adjacent_agreement",
        "Adjacent agreement",
        "the same, of values that differ by one point of the scale at most",
    ),
)
