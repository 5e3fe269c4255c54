"""Missing values by system and by score, and what they could have changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.construct_data import BoolArray, ConstructData, FloatArray, IntArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.statistics.calibration.bins import equal_count_bins
from analysis.statistics.missingness.mean_bounds import mean_bounds
from analysis.statistics.missingness.system_missingness import missing_differs_by_system
from analysis.topics.agreement.association import REFERENCE
from analysis.topics.distribution.estimates import NO_SCALE

#: Reasons of people's values that are missing by design, and no finding.
BY_DESIGN = ("not_assigned", "not assigned")

#: Bands of the score beside which missing values are counted.
BANDS = 3

#: Permutations of the test.
RESAMPLES = 2000


def missing_by_system(context: Context) -> Iterator[Estimate]:
    """Shares, bounds and a test for every scorer that lacks a value it was asked for.

    A judge or metric is asked for all responses of a construct, a rater for those with a row whose
    missing_reason is not that it was not assigned.
    """
    for construct, data in context.whole.items():
        rows = _first(context, construct)
        for scorer in data.kinds:
            asked = _asked(data, scorer, rows)
            values = _values(data, scorer)
            if not (asked & ~np.isfinite(values)).any():
                continue
            yield from _shares(context, data, scorer, values, asked)
            yield from _test(context, data, scorer, values, asked)
            yield from _by_band(data, scorer, values, asked)


def _first(context: Context, construct: str) -> pd.DataFrame:
    frame = context.scores.frame
    return frame[(frame["construct"] == construct) & (frame["repeat"] == 0)]


def _values(data: ConstructData, scorer: str) -> FloatArray:
    if scorer in data.raters:
        return np.asarray(data.ratings[:, data.raters.index(scorer)])
    held = data.scorers | data.adjudicated
    return held.get(scorer, np.full(len(data.responses), np.nan))


def _asked(data: ConstructData, scorer: str, rows: pd.DataFrame) -> BoolArray:
    if data.kinds[scorer] in {"judge", "metric"}:
        return np.ones(len(data.responses), dtype=bool)
    own = rows[(rows["scorer"] == scorer) & ~rows["missing_reason"].isin(BY_DESIGN)]
    wanted = set(own["response_id"].astype("object"))
    return np.array([name in wanted for name in data.responses], dtype=bool)


def _record(
    data: ConstructData, scorer: str, chosen: BoolArray, system: str | None = None
) -> dict[str, Any]:
    return {
        "constructs": (data.construct,),
        "scorers": (scorer,),
        "systems": (system,) if system else (),
        "scope": f"system:{system}" if system else "pooled",
        "n_responses": int(chosen.sum()),
        "n_queries": int(np.unique(data.query[chosen]).size),
    }


def _shares(
    context: Context, data: ConstructData, scorer: str, values: FloatArray, asked: BoolArray
) -> Iterator[Estimate]:
    scale = context.scores.scale(data.construct, scorer)
    for system in (None, *data.systems):
        chosen = asked if system is None else asked & data.of_system(system)
        if not chosen.any():
            continue
        gone = int(np.count_nonzero(chosen & ~np.isfinite(values)))
        record = _record(data, scorer, chosen, system) | {"n_dropped": gone}
        if system:
            yield Estimate(
                "missing_share_by_system",
                value=gone / record["n_responses"],
                params={"count": gone},
                **record,
            )
        found = None if scale is None else mean_bounds(values[chosen], scale.min, scale.max)
        for end in ("low", "high"):
            yield Estimate(
                "mean_bounds",
                value=float("nan") if found is None else getattr(found, end),
                reason=NO_SCALE if found is None else None,
                params={"end": end},
                **record,
            )


def _test(
    context: Context, data: ConstructData, scorer: str, values: FloatArray, asked: BoolArray
) -> Iterator[Estimate]:
    if len(data.systems) < 2:
        return
    there = _table(data, asked)
    gone = _table(data, asked & ~np.isfinite(values))
    found = missing_differs_by_system(gone, there, RESAMPLES, context.options.seed)
    record = _record(data, scorer, asked) | {
        "systems": data.systems,
        "n_dropped": int(np.count_nonzero(asked & ~np.isfinite(values))),
    }
    yield Estimate(
        "missing_differs_by_system",
        value=found.p,
        reason=found.reason,
        params={"permutations": found.resamples, "queries": found.n_queries},
        **record,
    )


def _table(data: ConstructData, chosen: BoolArray) -> BoolArray:
    """Whether a system (Q, S) has a chosen response to a query."""
    found = np.zeros((data.n_queries, len(data.systems)), dtype=bool)
    response, system = np.nonzero(data.produced & chosen[:, None])
    found[data.query[response], system] = True
    return found


def _by_band(
    data: ConstructData, scorer: str, values: FloatArray, asked: BoolArray
) -> Iterator[Estimate]:
    """By thirds of what people say, or else the first other judge that scored what is missing."""
    gone = asked & ~np.isfinite(values)
    for of, other in _others(data, scorer):
        known = asked & np.isfinite(other)
        if not (gone & known).any():
            continue
        bins: IntArray = np.full(other.size, -1, dtype=np.int64)
        bins[known] = equal_count_bins(other[known], BANDS)
        for band in range(int(bins.max()) + 1):
            chosen = np.asarray(bins == band)
            count = int(np.count_nonzero(chosen & gone))
            yield Estimate(
                "missing_share_by_band",
                value=count / int(chosen.sum()),
                params={
                    "band": band + 1,
                    "low": float(other[chosen].min()),
                    "high": float(other[chosen].max()),
                    "of": of,
                    "count": count,
                },
                **(_record(data, scorer, chosen) | {"n_dropped": count}),
            )
        return


def _others(data: ConstructData, scorer: str) -> Iterator[tuple[str, FloatArray]]:
    """Scores beside which a scorer's gaps are counted: people's for a judge, then other judges'."""
    if data.kinds[scorer] in {"judge", "metric"}:
        yield REFERENCE, data.reference
    yield from ((name, values) for name, values in data.scorers.items() if name != scorer)
