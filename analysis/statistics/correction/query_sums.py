"""Sums by query for corrected means, over labeled and over judged responses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.query_statistic import as_codes, as_values, sums_by_query
from analysis.core.tables import ScoreTable

#: Columns of `QuerySums.columns`.
HUMAN, JUDGE, WEIGHT, POOL, COUNT = range(5)

#: Share of the scale by which a judge score lies outside those of all labeled responses, so that
#: the labels say nothing about such responses; and by which human values lie apart from the others.
FAR, APART = 0.4, 0.5


@dataclass(frozen=True, eq=False)
class QuerySums:
    """Sums by query (Q, 5) of the responses of one system, or of all.

    Columns: human values, judge scores and weights of the labeled responses (the first two
    multiplied by the weight); judge scores and number of the responses of the pool. Both kinds of
    values are taken from a fixed origin, so that sums of squares keep their digits.
    """

    columns: FloatArray
    human_origin: float
    judge_origin: float
    n_labels: int
    n_unlabeled: int
    """Responses of the pool without a human value."""
    n_pool: int
    n_unjudged: int
    """Responses of the pool without a judge score; they count with the mean of the others."""
    n_unseen: int
    """Responses of the pool whose judge scores lie far outside those of the labeled ones."""
    n_apart: int
    """Labeled responses, at most half, whose human values lie apart from the others."""

    @property
    def labeled(self) -> BoolArray:
        """Queries (Q,) with a labeled response."""
        return np.asarray(self.columns[:, WEIGHT] > 0)

    @property
    def judge_mean(self) -> float:
        """Mean judge score of the pool's judged responses."""
        return _mean(self.columns[:, POOL], self.columns[:, COUNT]) + self.judge_origin

    @property
    def human_mean(self) -> float:
        """Weighted mean of the human values."""
        return _mean(self.columns[:, HUMAN], self.columns[:, WEIGHT]) + self.human_origin


def query_sums(
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    probability: npt.ArrayLike | None = None,
    pool: npt.ArrayLike | None = None,
    human_width: float | None = None,
    judge_width: float | None = None,
) -> QuerySums:
    """Sum up one system's responses.

    Parameters
    ----------
    human, judge
        (n,) human value and judge score of each response, NaN where missing.
    query, n_queries
        (n,) integer codes from 0, and how many queries there are.
    probability
        (n,) probability with which a labeled response was drawn for rating, above 0 and at most 1;
        only ratios matter (Hajek weights). Default: all equal.
    pool
        (n,) bool: the responses over which the judge's mean is taken. Default: all; the textbook
        form with a second, unlabeled sample takes the unlabeled ones.
    human_width, judge_width
        Widths of the scales; without them `n_apart` and `n_unseen` are 0.

    A response without a judge score is predicted by the mean of the pool's other scores. Any
    prediction leaves a corrected mean unbiased, so that refusals of bad responses
    do not bias it, whereas leaving these responses out would.

    Raises
    ------
    ValueError
        On shapes that differ, infinite values, or a probability outside 0 to 1.
    """
    y, f = as_values(human, "human"), as_values(judge, "judge")
    if y.ndim != 1 or y.shape != f.shape:
        raise ValueError(f"human has shape {y.shape}, judge {f.shape}; both are (n,)")
    codes, total = as_codes(query, y.size, n_queries)
    chance = np.ones(y.size) if probability is None else as_values(probability, "probability")
    inside = np.ones(y.size, dtype=bool) if pool is None else np.asarray(pool, dtype=bool)
    if chance.shape != y.shape or inside.shape != y.shape:
        raise ValueError("probability and pool have one entry a response")
    labeled = np.isfinite(y)
    chances = chance[labeled]
    if not ((chances > 0) & (chances <= 1)).all():
        raise ValueError("a labeled response has a probability that is not above 0 and at most 1")
    weight = np.where(labeled, 1 / np.where(labeled, chance, 1.0), 0.0)
    judged = np.isfinite(f)
    origin = float(np.median(f[judged & inside])) if (judged & inside).any() else 0.0
    human_origin = float(np.median(y[labeled])) if labeled.any() else 0.0
    shifted = np.where(judged, f - origin, 0.0)
    among = judged & inside
    shifted = np.where(judged, shifted, shifted[among].mean() if among.any() else 0.0)
    human_values = np.where(labeled, y - human_origin, 0.0)
    columns = sums_by_query(
        np.column_stack(
            [weight * human_values, weight * shifted, weight, inside * shifted, inside]
        ),
        codes,
        total,
    )
    return QuerySums(
        columns,
        human_origin,
        origin,
        int(labeled.sum()),
        int((inside & ~labeled).sum()),
        int(inside.sum()),
        int((inside & ~judged).sum()),
        _unseen(f[judged & labeled], f[judged & inside], judge_width),
        _apart(y[labeled], human_width),
    )


def _unseen(labeled_scores: FloatArray, pool_scores: FloatArray, width: float | None) -> int:
    if width is None or not labeled_scores.size:
        return 0
    far = FAR * width
    low, high = labeled_scores.min() - far, labeled_scores.max() + far
    return int(((pool_scores < low) | (pool_scores > high)).sum())


def _apart(values: FloatArray, width: float | None) -> int:
    """How many values the widest gap separates from the majority, if it is wide enough."""
    gaps = np.diff(np.sort(values))
    if width is None or gaps.max(initial=0.0) <= APART * width:
        return 0
    below = int(np.argmax(gaps)) + 1
    return min(below, values.size - below)


def _mean(total: FloatArray, count: FloatArray) -> float:
    return float(total.sum() / count.sum()) if count.sum() > 0 else float("nan")


def inclusion_probabilities(scores: ScoreTable, data: ConstructData) -> FloatArray:
    """Probabilities (n,) of the responses of one construct; 1 for those without a human value.

    Where a response's ratings state several, the largest: it was at least as likely to be rated.
    """
    probabilities = np.ones(len(data.responses))
    rows = scores.frame
    kind = "adjudicated" if data.reference_kind == "adjudicated" else "human"
    rated_rows = (rows["construct"] == data.construct) & (rows["scorer_kind"] == kind)
    rated_rows &= rows["value"].notna() & (rows["repeat"] == 0)
    if not rated_rows.any():
        return probabilities
    rated = rows.loc[rated_rows, ["response_id", "inclusion_prob"]]
    largest = (
        rated["inclusion_prob"]
        .astype("float64")
        .groupby(rated["response_id"].astype("object"))
        .max()
    )
    place = pd.Index(data.responses, dtype="object").get_indexer(largest.index)
    present = place >= 0
    probabilities[place[present]] = largest.to_numpy()[present]
    return probabilities
