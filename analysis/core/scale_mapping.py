"""Scorers on a scale of their own mapped to people's, as the caller declares.

Linear: the ends of the one scale become the ends of the other. Thresholds: an equipercentile link
(Kolen and Brennan 2014, Test Equating, Scaling, and Linking, chapter 2), for which a score becomes
the category of people's ratings at the same percentile. Its thresholds are learned from the rated
responses to other queries, so that no score is mapped with the ratings it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.errors import AnalysisError
from analysis.core.tables import ScoreTable
from study.base.scales import Scale

ScaleMapping = Literal["linear", "thresholds"]

#: Parts of the queries, each mapped with the thresholds of the others.
FOLDS = 10


@dataclass(frozen=True, eq=False)
class MappedScores:
    """A table in which scorers are on people's scale, with what was done to each."""

    scores: ScoreTable
    notes: dict[str, str] = field(default_factory=dict)


def mapped_scores(
    table: ScoreTable, mappings: Mapping[str, ScaleMapping], seed: int = 0
) -> MappedScores:
    """Map these scorers wherever their scale differs from people's.

    Raises
    ------
    AnalysisError
        A scorer is unknown or a person, has no scale that differs from people's, or no
        query is rated whose responses it scored, beside another one.
    """
    result = MappedScores(table)
    for scorer, how in mappings.items():
        kind = table.scorer_kinds.get(scorer)
        if kind not in {"judge", "metric"}:
            listed = [name for name, k in table.scorer_kinds.items() if k in {"judge", "metric"}]
            raise AnalysisError(
                f"--map {scorer}={how}: there is no such judge or metric; there are "
                f"{', '.join(listed) or 'none'}"
            )
        result = _mapped(result, scorer, how, seed)
    return result


def _mapped(so_far: MappedScores, scorer: str, how: ScaleMapping, seed: int) -> MappedScores:
    table, described = so_far.scores, []
    frame = table.frame.copy()
    scorer_scales = dict(table.scorer_scales)
    for construct in table.constructs:
        people = table.scorers(construct, "human") or table.scorers(construct, "adjudicated")
        scale = table.scale(construct, scorer)
        target = table.scale(construct, people[0] if people else None)
        rows = (frame["construct"] == construct) & (frame["scorer"] == scorer)
        if scale is None or target is None or scale.same_points(target) or not rows.any():
            continue
        people_rows = (frame["construct"] == construct) & frame["scorer"].isin(people)
        if how == "linear":
            values = frame.loc[rows, "value"].to_numpy()
            frame.loc[rows, "value"] = linear(values, scale, target)
        else:
            frame.loc[rows, "value"] = _by_thresholds(
                frame[rows], frame[people_rows & frame["value"].notna()], scorer, construct, seed
            )
        scorer_scales[scorer, construct] = replace(
            target, step=None if how == "linear" else target.step
        )
        described.append(f"on {construct} from {scale} to {target}")
    if not described:
        raise AnalysisError(
            f"--map {scorer}={how}: {scorer} has no scale that differs from people's; declare both "
            f"with --scale MIN:MAX and --scale {scorer}:CONSTRUCT=MIN:MAX"
        )
    words = (
        "mapped linearly"
        if how == "linear"
        else "mapped by thresholds that give it people's distribution, learned on other queries,"
    )
    notes = so_far.notes | {scorer: f"{words} {', '.join(described)}"}
    return MappedScores(replace(table, frame=frame, scorer_scales=scorer_scales), notes)


def linear(values: FloatArray, scale: Scale, target: Scale) -> FloatArray:
    """Values (n,) of a scale in the points of another."""
    return np.asarray(target.min + (values - scale.min) * (target.width / scale.width))


def equipercentile(scores: FloatArray, learned_from: FloatArray, ratings: FloatArray) -> FloatArray:
    """Scores (n,) as the categories of ratings (m,) at their percentile among `learned_from` (k,).

    The percentile of a score counts half of those equal to it. NaN stays.
    """
    ordered = np.sort(learned_from)
    below = np.searchsorted(ordered, scores, "left")
    percentile = (below + np.searchsorted(ordered, scores, "right")) / (2 * ordered.size)
    levels, counts = np.unique(ratings, return_counts=True)
    cumulative = np.cumsum(counts) / ratings.size
    place = np.searchsorted(cumulative, percentile, "left").clip(max=levels.size - 1)
    return np.where(np.isfinite(scores), levels[place], np.nan)


def _by_thresholds(
    rows: pd.DataFrame, ratings: pd.DataFrame, scorer: str, construct: str, seed: int
) -> FloatArray:
    """Mapped values of a scorer's rows (n,), each by what other queries teach."""
    scored = set(rows.loc[rows["value"].notna(), "response_id"])
    common = ratings[ratings["response_id"].isin(scored)]
    queries = pd.Index(pd.unique(common["query_id"].astype("object")))
    if len(queries) < 2:
        raise AnalysisError(
            f"--map {scorer}=thresholds: on {construct} people rated responses to "
            f"{len(queries)} of the queries that {scorer} scored, 2 are needed; map it linearly"
        )
    order = np.random.default_rng(seed).permutation(len(queries))
    fold = np.empty(len(queries), dtype=np.int64)
    fold[order] = np.arange(len(queries)) % FOLDS
    row_folds, rating_folds = (_fold_of(part, queries, fold) for part in (rows, common))
    values, out = rows["value"].to_numpy(), np.full(len(rows), np.nan)
    rated = rows["response_id"].isin(set(common["response_id"])).to_numpy()
    known: BoolArray = rated & np.isfinite(values)
    for number in np.unique(row_folds):
        there = row_folds == number
        out[there] = equipercentile(
            values[there],
            values[known & (row_folds != number)],
            common["value"].to_numpy()[rating_folds != number],
        )
    return out


def _fold_of(part: pd.DataFrame, queries: pd.Index[Any], fold: Any) -> Any:
    """Fold of each row (n,); -1 for queries without a rating, which teach nothing."""
    place = queries.get_indexer(pd.Index(part["query_id"].astype("object")))
    return np.where(place >= 0, fold[place], -1)
