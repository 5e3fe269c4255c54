"""Simulated campaigns with known truth.

A score is query + response + rater severity + error, normal, in points; a share of the ratings is
missing; the judge follows the response with an error of its own and is too kind. Bounded scores
are rounded to steps of 5 and cut at 0 and 100, as in a real campaign (centered at 105, two thirds
of the ratings and three quarters of the judge's scores are 100); the others stay continuous, so
that components and bias are known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray

RESPONSES_PER_QUERY = 4
BIAS = 6.0
#: Centered here, two thirds of bounded ratings are at the end of the scale.
CROWDED_CENTER = 105.0


@dataclass(frozen=True)
class Design:
    """Sizes, standard deviations in points, and whether scores are bounded."""

    queries: int
    raters: int
    severity: float
    missing: float = 0.29
    query: float = 10.0
    response: float = 12.0
    error: float = 11.0
    judge_error: float = 12.0
    center: float = 60.0
    bounded: bool = False
    overlap: float | None = None
    """Share of the responses with two ratings where the others have one, in place of `missing`."""

    @property
    def response_sd(self) -> float:
        """Standard deviation of what is rated: query and response together."""
        return float(np.hypot(self.query, self.response))

    @property
    def icc_a1(self) -> float:
        """ICC(A,1) of the components."""
        rated = self.response_sd**2
        return rated / (rated + self.severity**2 + self.error**2)

    def of_size(self, queries: int) -> Design:
        """The same with another number of queries."""
        return replace(self, queries=queries)


@dataclass(frozen=True)
class Campaign:
    """Ratings (n, R), judge scores (n,) and query codes (n,)."""

    ratings: FloatArray
    judge: FloatArray
    query: IntArray

    @property
    def reference(self) -> FloatArray:
        """Mean of each response's raters (n,), NaN where it has none."""
        present = np.isfinite(self.ratings)
        counts = present.sum(axis=1)
        total = np.where(present, self.ratings, 0.0).sum(axis=1)
        return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)


def campaign(
    design: Design,
    severities: FloatArray,
    rng: np.random.Generator,
    noise: FloatArray | None = None,
) -> Campaign:
    """Draw one campaign rated by a panel of these severities (R,), with noise (R,) of their own."""
    query = np.repeat(np.arange(design.queries), RESPONSES_PER_QUERY)
    n = query.size
    truth = design.center + rng.normal(0, design.query, design.queries)[query]
    truth = truth + rng.normal(0, design.response, n)
    error = design.error if noise is None else noise
    ratings = truth[:, None] + severities + rng.normal(0, error, (n, severities.size))
    judge = truth + BIAS + rng.normal(0, design.judge_error, n)
    if design.bounded:
        ratings, judge = (np.clip(5 * np.round(x / 5), 0, 100) for x in (ratings, judge))
    ratings[_unrated(design, ratings.shape, rng)] = np.nan
    return Campaign(ratings, judge, query)


def _unrated(design: Design, shape: tuple[int, ...], rng: np.random.Generator) -> BoolArray:
    """Which ratings (n, R) are missing."""
    if design.overlap is None:
        return np.asarray(rng.random(shape) < design.missing)
    # The order in which raters would rate each response: the first does, in a share the second.
    order = rng.random(shape).argsort(axis=1).argsort(axis=1)
    twice = rng.random(shape[0]) < design.overlap
    return np.asarray(order > twice[:, None])


def shared_queries(
    queries: int, systems: int, loading: float, correlation: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Scores of two constructs, (queries, systems) each, whose queries load on all systems alike.

    Within every system the constructs have this correlation, whatever the loading.
    """
    covariance = np.array([[1, correlation], [correlation, 1]])
    shared = rng.multivariate_normal(np.zeros(2), covariance, queries)
    of_scorer = rng.multivariate_normal(np.zeros(2), covariance, (queries, systems))
    both = loading * shared[:, None, :] + np.sqrt(1 - loading**2) * of_scorer
    return both[..., 0], both[..., 1]
