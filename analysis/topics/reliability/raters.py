"""Each rater: severity, drift, scale use, and where people rated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, get_args

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray
from analysis.core.construct_data import ConstructData, mean_over
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import Replicates
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.association import association
from analysis.statistics.reliability.alpha import alpha_of_weights
from analysis.statistics.reliability.severity import (
    ScaleUse,
    Severities,
    by_scale_use,
    deviations,
    mid_ranks,
    rater_drift,
    severities,
)
from analysis.statistics.reliability.two_way import rater_groups
from analysis.topics.agreement.association import REFERENCE

USES: tuple[ScaleUse, ...] = get_args(ScaleUse)
SCOPES: tuple[Scope, ...] = ("pooled", "within_query")

#: Raters beyond which simultaneous intervals are too expensive.
MANY_RATERS = 60


def raters(context: Context) -> Iterator[Estimate]:
    """Severity and drift of each rater, and figures on values without severity or as ranks."""
    for data in context.rated.values():
        if data.raters:
            severity = _severity(data)
            yield from _severities(context, data, severity)
            yield from _drifts(context, data, severity)
            yield from _by_scale_use(context, data, severity)


def rater_severities(context: Context) -> Iterator[Estimate]:
    """Only the severity of each rater."""
    for data in context.rated.values():
        if data.raters:
            yield from _severities(context, data, _severity(data))


def _severity(data: ConstructData) -> Severities:
    severity = severities(data.ratings, data.query, data.n_queries)
    parts = unconnected(data)
    return severity if parts is None else replace(severity, reason=parts)


def _severities(context: Context, data: ConstructData, severity: Severities) -> Iterator[Estimate]:
    queries = int(severity.contributing.sum())
    points = severity.points
    many = len(data.raters) > MANY_RATERS
    values = np.full((0, len(data.raters)), np.nan)
    if severity.reason is None and queries > 1 and not many:
        values = context.rated_resampling.evaluate(
            severity.weighted_statistic, "jackknife", severity.contributing
        )
    options = context.options
    weights = severity.weights
    unequal = weights.of(severity.contributing) if weights is not None and len(values) else None
    joint = simultaneous_intervals(
        points,
        values,
        "jackknife",
        options.level,
        options.seed,
        weights=weights,
        queries=severity.contributing,
    )
    for place, rater in enumerate(data.raters):
        record: dict[str, Any] = {
            "constructs": (data.construct,),
            "scorers": (rater, *(name for name in data.raters if name != rater)),
            "target": "these_raters",
            "value": float(points[place]),
            "n_responses": int(severity.n_responses[place]),
            "n_queries": queries if severity.n_responses[place] else 0,
            "n_raters": len(data.raters),
            "n_dropped": int(severity.n_dropped[place]),
        }
        why = severity.reason
        if why is None and np.isnan(points[place]):
            why = f"no other rater rated what {rater} rated"
        if why is None and many:
            why = f"intervals of severities are given for up to {MANY_RATERS} raters"
        alone = context.rated_resampling.interval_of(
            Replicates(
                float(points[place]),
                values[:, place],
                "jackknife",
                len(values),
                why,
                weights=unequal and unequal.at(place),
            )
        )
        yield Estimate(
            "rater_severity",
            **alone.fields,
            reason=why or alone.reason,
            params={"interval": "single"},
            **record,
        )
        yield Estimate(
            "rater_severity",
            **joint.at(place).fields,
            reason=why or joint.reasons[place],
            params={"interval": "simultaneous"},
            **record,
        )


def _drifts(context: Context, data: ConstructData, severity: Severities) -> Iterator[Estimate]:
    frame = context.scores.frame
    if "position" not in frame:
        return
    rows = frame[
        (frame["construct"] == data.construct)
        & (frame["repeat"] == 0)
        & frame["position"].notna()
        & (frame["scorer_kind"] == "human")
    ]
    if rows.empty:
        return
    place = pd.Index(data.responses, dtype="object").get_indexer(
        pd.Index(rows["response_id"].astype("object"))
    )
    deviation = deviations(data.ratings, severity.points)
    for number, rater in enumerate(data.raters):
        rater_rows = (rows["scorer"] == rater).to_numpy() & (place >= 0)
        position: FloatArray = np.full(len(data.responses), np.nan)
        position[place[rater_rows]] = rows["position"].to_numpy()[rater_rows]
        if not np.isfinite(position).any():
            continue
        slope = rater_drift(deviation[:, number], position, data.query, data.n_queries)
        if severity.reason is not None:
            slope = _withheld(slope, severity.reason)
        yield context.estimate(
            "rater_drift",
            slope,
            constructs=(data.construct,),
            scorers=(rater, *(name for name in data.raters if name != rater)),
            target="these_raters",
            n_raters=len(data.raters),
            params={"per": "rating"},
        )


def _by_scale_use(
    context: Context, data: ConstructData, estimated: Severities
) -> Iterator[Estimate]:
    if len(data.raters) < 2:
        return
    severity = estimated.points
    # A rater who shares no response has no severity to take out, and leaves agreement as it was.
    for use in USES:
        values = by_scale_use(data.ratings, use, severity)
        record: dict[str, Any] = {
            "constructs": (data.construct,),
            "target": "these_raters",
            "n_raters": len(data.raters),
            "params": {"values": use},
        }
        why = estimated.reason if use == "centered" else None
        alpha = alpha_of_weights(values, data.query, "interval", data.n_queries)
        alpha = _withheld(alpha, why)
        yield context.estimate("alpha_by_scale_use", alpha, scorers=data.raters, **record)
        if data.reference_kind == "adjudicated":
            continue
        reference = mean_over(values)
        for scorer, scores in data.scorers.items():
            scores_used = mid_ranks(scores) if use == "ranks" else scores
            for scope in SCOPES:
                r = association(
                    "pearson",
                    scores_used,
                    reference,
                    data.query,
                    scope,
                    n_queries=data.n_queries,
                    names=(scorer, REFERENCE),
                )
                yield context.estimate(
                    "pearson_by_scale_use",
                    _withheld(r, why),
                    transform="fisher_z",
                    scorers=(scorer, *data.raters),
                    scope=scope,
                    **record,
                )


def _withheld(statistic: QueryStatistic, reason: str | None) -> QueryStatistic:
    return statistic if reason is None else replace(statistic, reason=reason)


#: Raters named of each part.
_NAMED = 4


def unconnected(data: ConstructData) -> str | None:
    """Which raters share no response with which, also not over others; None where all do."""
    groups = rater_groups(data.ratings)
    if groups.max(initial=-1) < 1:
        return None
    parts = []
    for group in range(int(groups.max()) + 1):
        names = [data.raters[place] for place in np.flatnonzero(groups == group)]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        parts.append(", ".join(names[:_NAMED]) + more)
    groups_named = "; ".join(parts[:_NAMED]) + ("; ..." if len(parts) > _NAMED else "")
    return (
        f"raters fall into {len(parts)} groups that share no response ({groups_named}): "
        "differences between the groups may come from raters or from responses"
    )


#: The study's own pages, which are what others are compared with.
OWN_PAGES = "own"


def sources(context: Context) -> Iterator[Estimate]:
    """`source_difference` of each two places on each construct; none where there is one place.

    The mean over responses that were rated in both of the mean of the second place's raters minus
    that of the first's. Raters differ with the place, so it is the panels' difference as well.
    """
    for construct, data in context.rated.items():
        rows = source_rows(context, construct)
        means = {
            name: _mean_by_response(data, source_frame)
            for name, source_frame in rows.groupby("source", sort=True)
        }
        names = sorted(means, key=lambda name: (name != OWN_PAGES, name))
        for first, second in combinations(names, 2):
            shared = np.isfinite(means[first]) & np.isfinite(means[second])
            both = [
                response for response, is_in in zip(data.responses, shared, strict=True) if is_in
            ]
            compared = rows["source"].isin([first, second]) & rows["response_id"].isin(both)
            raters = rows.loc[compared, "scorer"].unique()
            yield context.estimate(
                "source_difference",
                association(
                    "bias",
                    means[second],
                    means[first],
                    data.query,
                    n_queries=data.n_queries,
                    names=(str(second), str(first)),
                ),
                constructs=(construct,),
                scorers=tuple(sorted(str(rater) for rater in raters)),
                scope="pooled",
                target="these_raters",
                n_raters=len(raters),
                params={"first": str(first), "second": str(second)},
            )


def source_rows(context: Context, construct: str) -> pd.DataFrame:
    """Return people's first values on a construct with their source, each once."""
    frame = context.scores.frame
    columns = ["response_id", "scorer", "source", "value"]
    if "source" not in frame:
        return pd.DataFrame({name: [] for name in columns}, dtype="object")
    chosen = (
        (frame["construct"] == construct)
        & (frame["scorer_kind"] == "human")
        & (frame["repeat"] == 0)
        & frame["value"].notna()
        & frame["source"].notna()
    )
    rows = frame.loc[chosen, columns]
    texts = dict.fromkeys(columns[:-1], "object")
    return rows.astype(texts).drop_duplicates(["response_id", "scorer"])


def _mean_by_response(data: ConstructData, rows: pd.DataFrame) -> FloatArray:
    means = rows.groupby("response_id")["value"].mean().astype("float64")
    return np.asarray(means.reindex(list(data.responses)), dtype=np.float64)


#: What the statistics of this module have in common.
_statistic = partial(Statistic, targets=("these_raters",), estimates=raters)

STATISTICS = (
    _statistic(
        "rater_severity",
        "Severity",
        "the rater's mean less what the same responses get, in points (the rater is the first of "
        "`scorers`); params.interval single, or simultaneous: intervals of all raters "
        "(max-t)",
        better="0",
    ),
    _statistic(
        "rater_drift",
        "Drift",
        "slope of the rater's deviations from the others on the rater's own order (column "
        "`position` of the score table), in points per rating",
        better="0",
    ),
    _statistic(
        "alpha_by_scale_use",
        "Interval alpha",
        "interval alpha of the ratings raw, centered (severity taken out) and as ranks (mid-ranks "
        "within the rater): params.values",
        range=(None, 1),
        better="higher",
    ),
    _statistic(
        "pearson_by_scale_use",
        "r by scale use",
        "a scorer's correlation with the mean of such ratings, pooled and within a query; with "
        "ranks the scorer's values are ranked too",
        range=(-1, 1),
        better="higher",
        scopes=("pooled", "within_query"),
    ),
    _statistic(
        "source_difference",
        "Difference",
        "mean of the ratings from params.second minus that of params.first (places where people "
        "rated: `own`, `label_studio`, ...), on responses rated in both; the raters differ with "
        "the place",
        estimates=sources,
        better="0",
    ),
)
