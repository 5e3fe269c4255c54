"""Missing values: how many of whose and why, by system and by score, and what they could change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import SYSTEM, Statistic
from analysis.statistics.calibration.calibration_error import equal_count_bins
from analysis.statistics.missingness import mean_bounds, missing_differs_by_system
from analysis.topics.agreement.association import REFERENCE
from analysis.topics.distribution.estimates import NO_SCALE

#: The reason given where the table has no row for a response that others scored.
NO_ROW = "no row"


_READ = ["response_id", "query_id", "system", "scorer", "value", "missing_reason"]


def missing(context: Context) -> Iterator[Estimate]:
    """`missing_share` of each scorer by reason, of all responses that have any row there; then
    where they gather and what they could have changed.
    """
    table = context.scores.frame
    first, row_constructs = table["repeat"] == 0, table["construct"]
    for construct in row_constructs[first].unique():
        # Of one construct at a time: a copy of millions of rows would be large.
        rows = table.loc[first & (row_constructs == construct), _READ]
        data = context.whole.get(construct)
        raters = [] if data is None else data.raters
        for scope in ("pooled", *(f"system:{name}" for name in context.scores.systems)):
            system = scope.removeprefix("system:") if scope != "pooled" else None
            chosen = rows
            if system:
                # A rater's reasons are of the rater and not of a system: its share is enough.
                chosen = rows[(rows["system"] == system) & ~rows["scorer"].isin(raters)]
            yield from _by_reason(str(construct), chosen, scope, system)
    yield from missing_by_system(context)


def _by_reason(
    construct: str, rows: pd.DataFrame, scope: str, system: str | None
) -> Iterator[Estimate]:
    responses, queries = rows["response_id"].nunique(), rows["query_id"].nunique()
    for scorer, scorer_rows in rows.groupby("scorer", observed=True, sort=False):
        distinct = scorer_rows.drop_duplicates("response_id")
        gaps = distinct.loc[distinct["value"].isna(), "missing_reason"].value_counts(sort=False)
        counts = {str(reason): int(count) for reason, count in gaps.items() if count}
        if len(distinct) < responses:
            counts[NO_ROW] = responses - len(distinct)
        for reason, count in counts.items():
            yield Estimate(
                "missing_share",
                (construct,),
                (str(scorer),),
                (system,) if system else (),
                scope,
                value=count / responses,
                n_responses=responses,
                n_queries=queries,
                n_dropped=count,
                params={"reason": reason, "count": count},
            )


STATISTICS = (
    Statistic(
        "missing_share",
        "Share",
        'share of responses without a value of this scorer, by params.reason; "no row" where the '
        "table has none",
        missing,
        range=(0, 1),
        better="lower",
        scopes=("pooled", SYSTEM),
        nominal=True,
    ),
    Statistic(
        "missing_share_by_system",
        "Missing",
        "share of a system's responses without a score, for whatever reason; params.count. By "
        "reason: `missing_share`",
        missing,
        range=(0, 1),
        better="lower",
        scopes=(SYSTEM,),
        nominal=True,
    ),
    Statistic(
        "mean_bounds",
        "Possible means",
        "mean, overall and by system, if every missing score were at the end of the scale that "
        "params.end names (low, high)",
        missing,
        scopes=("pooled", SYSTEM),
        source="Manski 1989; Horowitz and Manski 2000",
    ),
    Statistic(
        "missing_differs_by_system",
        "p",
        "p of equal missingness of the systems, (count + 1) / (params.permutations + 1); "
        "params.queries have both missing and present scores",
        missing,
        range=(0, 1),
        source="Cochran 1950",
        nominal=True,
    ),
    Statistic(
        "missing_share_by_band",
        "Missing",
        "share of responses without a score in thirds (params.band, from params.low to "
        "params.high) of the value of params.of: people, or else the first other scorer with a "
        "value for one of them",
        missing,
        range=(0, 1),
        better="lower",
    ),
)


#: Reasons of people's values that are missing by design.
BY_DESIGN = ("not_assigned", "not assigned")

#: Bands of the score by which missing values are counted.
BANDS = 3

#: Permutations of the test.
RESAMPLES = 2000

#: A smaller p is computed from more permutations: what is corrected for many comparisons has to be
#: able to be small.
SMALL, MORE_RESAMPLES = 0.01, 50_000


def missing_by_system(context: Context) -> Iterator[Estimate]:
    """Shares and a test for every scorer that lacks a value it was asked for.

    Of a judge or metric also the bounds of its mean, and the shares by the score of others.

    A judge or metric is asked for all responses of a construct, a rater for those with a row whose
    missing_reason is not that it was not assigned.
    """
    for construct, data in context.whole.items():
        rows = _first(context, construct)
        for scorer in data.kinds:
            values = _values(data, scorer)
            absent = ~np.isfinite(values)
            if not absent.any():
                continue
            expected = _asked(data, scorer, rows)
            if not (expected & absent).any():
                continue
            yield from _shares(context, data, scorer, values, expected)
            yield from _test(context, data, scorer, values, expected)
            if scorer not in data.raters:
                yield from _by_band(data, scorer, values, expected)


def _first(context: Context, construct: str) -> pd.DataFrame:
    frame = context.scores.frame
    return frame.loc[(frame["construct"] == construct) & (frame["repeat"] == 0), _READ]


def _values(data: ConstructData, scorer: str) -> FloatArray:
    if scorer in data.raters:
        return data.ratings_by(scorer)
    values = data.scorers | data.adjudicated
    return values.get(scorer, np.full(len(data.responses), np.nan))


def _asked(data: ConstructData, scorer: str, rows: pd.DataFrame) -> BoolArray:
    if data.kinds[scorer] in {"judge", "metric"}:
        return np.ones(len(data.responses), dtype=bool)
    assigned = rows[(rows["scorer"] == scorer) & ~rows["missing_reason"].isin(BY_DESIGN)]
    responses = set(assigned["response_id"].astype("object"))
    return np.array([name in responses for name in data.responses], dtype=bool)


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
    context: Context, data: ConstructData, scorer: str, values: FloatArray, expected: BoolArray
) -> Iterator[Estimate]:
    scale = context.scores.scale(data.construct, scorer)
    for system in (None, *data.systems):
        chosen = expected if system is None else expected & data.produced_by(system)
        if not chosen.any():
            continue
        n_missing = int(np.count_nonzero(chosen & ~np.isfinite(values)))
        record = _record(data, scorer, chosen, system) | {"n_dropped": n_missing}
        if system:
            yield Estimate(
                "missing_share_by_system",
                value=n_missing / record["n_responses"],
                params={"count": n_missing},
                **record,
            )
        if scorer in data.raters:
            continue
        bounds_of_mean = (
            None if scale is None else mean_bounds(values[chosen], scale.min, scale.max)
        )
        for end in ("low", "high"):
            yield Estimate(
                "mean_bounds",
                value=float("nan") if bounds_of_mean is None else getattr(bounds_of_mean, end),
                reason=NO_SCALE if bounds_of_mean is None else None,
                params={"end": end},
                **record,
            )


def _test(
    context: Context, data: ConstructData, scorer: str, values: FloatArray, expected: BoolArray
) -> Iterator[Estimate]:
    if len(data.systems) < 2:
        return
    expected_table = _table(data, expected)
    missing_table = _table(data, expected & ~np.isfinite(values))
    tables, seed = (missing_table, expected_table), context.options.seed
    test = missing_differs_by_system(*tables, RESAMPLES, seed)
    if test.p <= SMALL:
        test = missing_differs_by_system(*tables, MORE_RESAMPLES, seed)
    record = _record(data, scorer, expected) | {
        "systems": data.systems,
        "n_dropped": int(np.count_nonzero(expected & ~np.isfinite(values))),
    }
    yield Estimate(
        "missing_differs_by_system",
        value=test.p,
        p=test.p,
        reason=test.reason,
        params={"permutations": test.resamples, "queries": test.n_queries},
        **record,
    )


def _table(data: ConstructData, chosen: BoolArray) -> BoolArray:
    """Whether a system (Q, S) has a chosen response to a query."""
    table = np.zeros((data.n_queries, len(data.systems)), dtype=bool)
    response, system = np.nonzero(data.produced & chosen[:, None])
    table[data.query[response], system] = True
    return table


def _by_band(
    data: ConstructData, scorer: str, values: FloatArray, expected: BoolArray
) -> Iterator[Estimate]:
    """By thirds of people's value, or else of the first other judge that scored what is missing."""
    missing_scores = expected & ~np.isfinite(values)
    for of, other in _others(data, scorer):
        comparable = expected & np.isfinite(other)
        if not (missing_scores & comparable).any():
            continue
        bins: IntArray = np.full(other.size, -1, dtype=np.int64)
        bins[comparable] = equal_count_bins(other[comparable], BANDS)
        for band in range(int(bins.max()) + 1):
            chosen = np.asarray(bins == band)
            count = int(np.count_nonzero(chosen & missing_scores))
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
    """Scores by which missing values are counted: people's for a judge, then other judges'."""
    if data.kinds[scorer] in {"judge", "metric"}:
        yield REFERENCE, data.reference
    yield from ((name, values) for name, values in data.scorers.items() if name != scorer)
