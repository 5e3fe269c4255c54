"""Cells of the human ceiling by Kendall's tau-b within queries.

Every campaign has its own panel, whose raters differ in severity and in noise. The truth for these
raters is the value of that panel on `POPULATION` further queries. The truth for raters like these
is the judge minus a further rater, each against the means of all raters but one, on these queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.interval import Interval
from analysis.core.resampling import QueryResampling, Transform
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import human_ceiling
from tests.coverage.campaigns import (
    CROWDED_CENTER,
    RESPONSES_PER_QUERY,
    Campaign,
    Design,
    campaign,
)
from tests.coverage.cells import LEVEL, Cell

POPULATION = 5_000
#: Standard deviation of the logarithm of a rater's noise around that of the design.
SPREAD = 0.3
MEASURE = "kendall_tau_b"
FIRST, SECOND = np.array(list(combinations(range(RESPONSES_PER_QUERY), 2))).T


@dataclass(frozen=True)
class Ceiling(Cell):
    """Judge, rater and difference for these raters, and the difference for raters like these."""

    @property
    def key(self) -> str:
        """Name of the cell."""
        d = self.design
        scale = f"bounded center {d.center:g}" if d.bounded else "unbounded"
        return f"ceiling {d.queries}x{d.raters} {scale} missing {d.missing:g}"

    def intervals(
        self, rng: np.random.Generator, repetition: int
    ) -> Iterator[tuple[str, str, Interval, float]]:
        """The intervals of a report."""
        design = self.design
        noise = design.error * np.exp(SPREAD * rng.normal(size=design.raters + 1))
        severities = rng.normal(0, design.severity, design.raters + 1)
        truth = true_ceiling(campaign(design.of_size(POPULATION), severities, rng, noise))
        c = campaign(design, severities[:-1], rng, noise[:-1])
        ceiling = human_ceiling(c.ratings, c.judge, c.query, "within_query", MEASURE)
        assert ceiling.judge is not None
        assert ceiling.difference is not None
        resampling = QueryResampling(design.queries, self.resamples, seed=repetition, level=LEVEL)
        parts: tuple[tuple[str, object, Transform | None], ...] = (
            ("human_ceiling", ceiling.rater, "fisher_z"),
            ("judge_against_others", ceiling.judge, "fisher_z"),
            ("human_ceiling_difference", ceiling.difference, None),
        )
        for name, statistic, transform in parts:
            interval = resampling.interval(statistic, transform)  # type: ignore[arg-type]
            yield "these_raters", f"{name} {MEASURE} within_query", interval, truth[name]
        name = "human_ceiling_difference"
        further = beside_a_further_rater(ceiling, resampling)
        yield "raters_like_these", f"{name} {MEASURE} within_query", further, truth["further"]


def true_ceiling(c: Campaign) -> dict[str, float]:
    """Values of a panel on all these queries; the last column of the ratings is the further rater.

    `further` is the judge minus the further rater, each against the mean of the others of every
    rater of the panel in turn, on responses that the further rater rated.
    """
    panel, further = c.ratings[:, :-1], c.ratings[:, -1]
    present = np.isfinite(panel)
    counts = present.sum(axis=1)
    total = np.where(present, panel, 0.0).sum(axis=1)
    of_rater, of_judge, beside = [], [], []
    for rater in range(panel.shape[1]):
        own = present[:, rater]
        others = counts - own
        mean = np.where(
            others > 0,
            (total - np.where(own, panel[:, rater], 0.0)) / np.maximum(others, 1),
            np.nan,
        )
        rated = np.where(own, mean, np.nan)
        of_rater.append(tau_within_queries(panel[:, rater], rated))
        of_judge.append(tau_within_queries(c.judge, rated))
        rated = np.where(np.isfinite(further), mean, np.nan)
        beside.append(tau_within_queries(c.judge, rated) - tau_within_queries(further, rated))
    rater, judge = float(np.mean(of_rater)), float(np.mean(of_judge))
    return {
        "human_ceiling": rater,
        "judge_against_others": judge,
        "human_ceiling_difference": judge - rater,
        "further": float(np.mean(beside)),
    }


def tau_within_queries(x: FloatArray, y: FloatArray) -> float:
    """Tau-b from all pairs of responses to one query, with x and y (n,) NaN where missing."""
    signs = []
    for values in (x, y):
        # Means of the same ratings in another order differ by float noise.
        table = np.round(values, 6).reshape(-1, RESPONSES_PER_QUERY)
        signs.append(np.sign(table[:, FIRST] - table[:, SECOND]))
    both = np.isfinite(signs[0] + signs[1])
    first, second = (np.where(both, sign, 0.0) for sign in signs)
    return float((first * second).sum() / np.sqrt(np.abs(first).sum() * np.abs(second).sum()))


def designs() -> Iterator[Design]:
    """Continuous and complete; in steps of 5 with missing ratings; and two thirds at 100."""
    for queries in (8, 15, 30, 60):
        for raters in (3, 5):
            yield Design(queries, raters, severity=3, missing=0.0)
            yield Design(queries, raters, severity=3, bounded=True)
            yield Design(queries, raters, severity=3, center=CROWDED_CENTER, bounded=True)
