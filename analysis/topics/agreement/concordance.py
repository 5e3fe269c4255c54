"""Which share of the pairs that people order a scorer orders alike, and the rater's own repeat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import ComparedScores, Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.concordance import concordance

_SCOPES: tuple[Literal["pooled", "within_query"], ...] = ("pooled", "within_query")


def concordances(context: Context) -> Iterator[Estimate]:
    """`concordance` of each scorer, and `concordance_difference`, over all and within queries."""
    for scored in context.scored():
        data = scored.data
        again = _rated_again(context, data)
        for scope in _SCOPES:
            statistic = concordance(
                scored.values, data.reference, data.query, scope, n_queries=data.n_queries
            )
            yield context.estimate(
                "concordance", statistic, transform="logit", **scored.record(scope)
            )
            if again is not None:
                yield _beside_repeat(context, scored, again, scope)


def _rated_again(context: Context, data: ConstructData) -> FloatArray | None:
    """The only rater's next ratings (n,) of the same responses, NaN where there is none."""
    if data.reference_kind == "adjudicated" or len(data.raters) != 1:
        return None
    rows = context.scores.frame
    later = rows[
        (rows["repeat"] > 0)
        & (rows["construct"] == data.construct)
        & (rows["scorer"] == data.raters[0])
        & rows["value"].notna()
    ]
    if later.empty:
        return None
    later = later.sort_values("repeat", kind="stable").drop_duplicates("response_id")
    names = pd.Index(later["response_id"].astype("object"))
    place = pd.Index(data.responses, dtype="object").get_indexer(names)
    again = np.full(len(data.responses), np.nan)
    again[place[place >= 0]] = later["value"].to_numpy(dtype=np.float64)[place >= 0]
    return again


def _beside_repeat(
    context: Context,
    scored: ComparedScores,
    again: FloatArray,
    scope: Literal["pooled", "within_query"],
) -> Estimate:
    """Judge minus repeat, both against the rater's first ratings of the same responses."""
    data, _, judge_scores, _ = scored
    both = np.isfinite(judge_scores) & np.isfinite(again)
    judge, repeat = (
        concordance(
            np.where(both, values, np.nan),
            data.reference,
            data.query,
            scope,
            n_queries=data.n_queries,
        )
        for values in (judge_scores, again)
    )
    repeat_interval = context.rated_resampling.interval(repeat, transform="logit")
    ends = (repeat_interval.low, repeat_interval.high)
    params = {
        "judge": judge.point,
        "repeat": repeat.point,
        "repeat_low": None if np.isnan(ends[0]) else ends[0],
        "repeat_high": None if np.isnan(ends[1]) else ends[1],
    }
    record = scored.record(scope)
    return context.estimate("concordance_difference", judge - repeat, params=params, **record)


STATISTICS = (
    Statistic(
        "concordance",
        "Pairs ordered alike",
        "share of the pairs of responses that people order which the scorer orders alike; a pair "
        "that it ties counts half: .5 for a scorer without any order, 1 for the order of people",
        concordances,
        range=(0, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
        source="Harrell, Lee and Mark 1996",
    ),
    Statistic(
        "concordance_difference",
        "Pairs ordered alike minus the rater's repeat",
        "share of pairs that the scorer orders as the only rater's first ratings do, minus that of "
        "the rater's own repeated ratings, on the responses that were rated again; params.judge, "
        "params.repeat with its ends",
        concordances,
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
    ),
)
