"""Cells of composites: correlation of learned and equal weights with an overall rating.

Weights are learned from the campaign, out of fold as in reports, and their intervals take them as
fixed: the truth of a composite is the correlation that these weights have in a population.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.interval import Interval
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import QueryResampling, folds
from analysis.statistics.agreement.association import association
from analysis.statistics.correction.composite_weights import (
    FOLDS,
    composite_weights,
    out_of_fold,
    scaled,
)
from tests.coverage.campaigns import (
    BIAS,
    CROWDED_CENTER,
    RESPONSES_PER_QUERY,
    Campaign,
    Design,
)
from tests.coverage.cells import LEVEL, POPULATION_QUERIES, Cell, severities_of

#: What the overall rating is made of, by construct. The constructs correlate .5.
SHARES = np.array([0.6, 0.4, 0.0])
SCOPES: tuple[Literal["pooled", "within_query"], ...] = ("pooled", "within_query")


def scored(design: Design, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, IntArray]:
    """Judge scores (n, constructs), people's mean overall rating (n,) and query codes (n,)."""
    query = np.repeat(np.arange(design.queries), RESPONSES_PER_QUERY)

    def effects(size: int, spread: float) -> FloatArray:
        own = rng.normal(size=(size, SHARES.size)) + rng.normal(size=(size, 1))
        return np.asarray(spread * np.sqrt(0.5) * own)

    quality = effects(design.queries, design.query)[query] + effects(query.size, design.response)
    scores = design.center + BIAS + quality + rng.normal(0, design.judge_error, quality.shape)
    raters = (query.size, design.raters)
    ratings = design.center + (quality @ SHARES)[:, None] + severities_of(design)
    ratings = ratings + rng.normal(0, design.error, raters)
    if design.bounded:
        scores, ratings = (np.clip(5 * np.round(x / 5), 0, 100) for x in (scores, ratings))
    ratings[rng.random(raters) < design.missing] = np.nan
    overall = Campaign(ratings, scores[:, 0], query).reference
    rated = np.isfinite(overall)
    return scores[rated], overall[rated], query[rated]


@cache
def moments(design: Design) -> dict[str, FloatArray]:
    """Covariances (K + 1, K + 1) of scores and overall rating: pooled, and within queries."""
    scores, overall, query = scored(
        design.of_size(POPULATION_QUERIES), np.random.default_rng(30_000)
    )
    values = np.column_stack([scores, overall])
    counts = np.bincount(query)[query]
    means = np.column_stack([np.bincount(query, column)[query] / counts for column in values.T])
    return {"pooled": np.cov(values.T), "within_query": np.cov((values - means).T)}


def correlation(covariance: FloatArray, weights: FloatArray) -> float:
    """Correlation with the overall rating of composites with weights (folds, K), a fold each."""
    weights = weights[np.isfinite(weights).all(axis=1)]
    together = (weights @ covariance[:-1, -1]).mean()
    spread = np.einsum("fk,kl,fl->f", weights, covariance[:-1, :-1], weights).mean()
    return float(together / np.sqrt(spread * covariance[-1, -1]))


@dataclass(frozen=True)
class Composite(Cell):
    """Learned weights, equal weights, and the difference; the best construct alone likewise."""

    @property
    def key(self) -> str:
        """Name of the cell."""
        d = self.design
        scale = f"bounded center {d.center:g}" if d.bounded else "unbounded"
        return f"composite {d.queries}x{d.raters} {scale}"

    def intervals(
        self, rng: np.random.Generator, repetition: int
    ) -> Iterator[tuple[str, str, Interval, float]]:
        """The intervals of a report, for these raters."""
        design = self.design
        scores, overall, query = scored(design, rng)
        size = design.queries
        learned = out_of_fold(scores, overall, query, size, repetition)
        present = np.unique(query)
        of_fold = np.ones((FOLDS, size))
        of_fold[:, present] = folds(present.size, FOLDS, repetition) != np.arange(FOLDS)[:, None]
        family = composite_weights(scores, overall, query, size)
        weights = {
            "learned": scaled(family.weighted_statistic(of_fold), scores),
            "equal": np.full((1, SHARES.size), 1 / SHARES.size),
            "one construct": np.eye(SHARES.size)[:1],
        }
        values = {"learned": learned, "equal": scores.mean(axis=1), "one construct": scores[:, 0]}
        resampling = QueryResampling(size, self.resamples, seed=repetition, level=LEVEL)
        for scope in SCOPES:
            truth = {way: correlation(moments(design)[scope], of) for way, of in weights.items()}
            statistics: dict[str, QueryStatistic] = {
                way: association("pearson", of, overall, query, scope, n_queries=size)
                for way, of in values.items()
            }
            for way, statistic in statistics.items():
                name = f"composite_correlation {way} {scope}"
                yield "these_raters", name, resampling.interval(statistic, "fisher_z"), truth[way]
                if way != "learned":
                    gain = resampling.interval(statistics["learned"] - statistic)
                    name = f"composite_correlation_difference {way} {scope}"
                    yield "these_raters", name, gain, truth["learned"] - truth[way]


def designs() -> Iterator[Design]:
    """Scores that reach no end of the scale, and scores most of which are at the maximum."""
    for queries in (15, 30, 60, 150):
        yield Design(queries, 3, severity=3)
        yield Design(queries, 3, severity=3, center=CROWDED_CENTER, bounded=True)
