"""Campaigns with known truth, and how often each interval covers it.

`python -m tests.coverage.simulation --repetitions 1000 --out tests/coverage/coverage.csv` writes
the committed table (about four minutes on one core).

A score is query + response + rater severity + error, normal, in points; 29% of the ratings are
missing; the judge follows the response with an error of its own and is too kind. "Kept" scores
stay continuous, so that the components and the bias are known exactly. "Bounded" scores are
rounded to steps of 5 and cut at 0 and 100, as in a real campaign.

Truth for these raters: one panel's severities are fixed and the statistic is computed on 20,000
queries rated by that panel. For raters like these: severities are drawn anew in each campaign.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.agreement.association import Measure, association
from analysis.agreement.ceiling import human_ceiling
from analysis.agreement.scopes import Scope
from analysis.query_statistic import BoolArray, FloatArray, IntArray, QueryStatistic
from analysis.reliability.alpha import alpha_of_weights
from analysis.reliability.icc import icc_interval
from analysis.reliability.variance_components import bias_for_raters_like_these
from analysis.resampling import Interval, QueryResampling, Scheme

LEVEL = 0.95
RESPONSES_PER_QUERY = 4
BIAS = 6.0
POPULATION_QUERIES = 20_000
SCHEMES: tuple[Scheme, ...] = ("bootstrap", "jackknife")


@dataclass(frozen=True)
class Design:
    """One cell: sizes, standard deviations in points, and whether scores are bounded."""

    queries: int
    raters: int
    severity: float
    missing: float = 0.29
    query: float = 10.0
    response: float = 12.0
    error: float = 11.0
    judge_error: float = 12.0
    bounded: bool = False

    @property
    def icc_a1(self) -> float:
        """ICC(A,1) of the components."""
        responses = self.query**2 + self.response**2
        return responses / (responses + self.severity**2 + self.error**2)


@dataclass(frozen=True)
class Campaign:
    """Ratings (n, R), judge scores (n,) and query codes (n,)."""

    ratings: FloatArray
    judge: FloatArray
    query: IntArray


def campaign(design: Design, severities: FloatArray, rng: np.random.Generator) -> Campaign:
    """Draw one campaign rated by a panel of these severities (R,)."""
    query = np.repeat(np.arange(design.queries), RESPONSES_PER_QUERY)
    n = query.size
    truth = 60 + rng.normal(0, design.query, design.queries)[query]
    truth = truth + rng.normal(0, design.response, n)
    ratings = truth[:, None] + severities + rng.normal(0, design.error, (n, severities.size))
    judge = truth + BIAS + rng.normal(0, design.judge_error, n)
    if design.bounded:
        ratings, judge = (np.clip(5 * np.round(x / 5), 0, 100) for x in (ratings, judge))
    ratings[rng.random(ratings.shape) < design.missing] = np.nan
    return Campaign(ratings, judge, query)


def statistics_of(c: Campaign) -> dict[str, tuple[QueryStatistic, bool]]:
    """Statistics that speak of these raters, and whether Fisher's z suits them."""
    present = np.isfinite(c.ratings)
    counts = present.sum(axis=1)
    means = np.full(counts.size, np.nan)
    rated: BoolArray = counts > 0
    means[rated] = np.where(present, c.ratings, 0.0).sum(axis=1)[rated] / counts[rated]
    ceiling = human_ceiling(c.ratings, c.judge, c.query)
    inside = human_ceiling(c.ratings, c.judge, c.query, "within_query")
    assert ceiling.difference is not None
    assert inside.difference is not None

    def judged(measure: Measure, scope: Scope) -> QueryStatistic:
        return association(measure, c.judge, means, c.query, scope)

    return {
        "krippendorff_alpha interval": (alpha_of_weights(c.ratings, c.query, "interval"), False),
        "krippendorff_alpha ordinal": (alpha_of_weights(c.ratings, c.query, "ordinal"), False),
        "pearson pooled": (judged("pearson", "pooled"), True),
        "pearson within_query": (judged("pearson", "within_query"), True),
        "spearman pooled": (judged("spearman", "pooled"), True),
        "kendall_tau_b within_query": (judged("kendall_tau_b", "within_query"), True),
        "human_ceiling pooled": (ceiling.rater, True),
        "human_ceiling_difference pooled": (ceiling.difference, False),
        "human_ceiling_difference within_query": (inside.difference, False),
        "bias pooled": (judged("bias", "pooled"), False),
    }


def panel_truth(design: Design, severities: FloatArray, seed: int) -> dict[str, float]:
    """Values of the statistics in a population of 20,000 queries rated by this panel."""
    large = Design(**{**design.__dict__, "queries": POPULATION_QUERIES})
    drawn = campaign(large, severities, np.random.default_rng(seed))
    return {name: statistic.point for name, (statistic, _) in statistics_of(drawn).items()}


def cover_these_raters(
    design: Design, repetitions: int, resamples: int, seed: int
) -> list[dict[str, object]]:
    """Coverage of the query-resampling intervals, by both methods, for one fixed panel."""
    severities = np.linspace(-1, 1, design.raters) * design.severity
    truth = panel_truth(design, severities, seed)
    intervals: dict[tuple[str, Scheme], list[Interval]] = {
        (name, scheme): [] for name in truth for scheme in SCHEMES
    }
    rng = np.random.default_rng(seed + 1)
    for repetition in range(repetitions):
        drawn = campaign(design, severities, rng)
        resampling = QueryResampling(design.queries, resamples, seed=repetition, level=LEVEL)
        for name, (statistic, fisher) in statistics_of(drawn).items():
            for scheme in SCHEMES:
                interval = resampling.interval(statistic, "fisher_z" if fisher else None, scheme)
                intervals[name, scheme].append(interval)
    return [
        _row(design, "these_raters", name, truth[name], given)
        for (name, _), given in intervals.items()
    ]


def cover_raters_like_these(design: Design, repetitions: int, seed: int) -> list[dict[str, object]]:
    """Coverage for raters like these, drawn anew in each campaign."""
    truth = {"icc A,1": design.icc_a1, "bias pooled": BIAS}
    intervals: dict[str, list[Interval]] = {name: [] for name in truth}
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        severities = rng.normal(0, design.severity, design.raters)
        c = campaign(design, severities, rng)
        intervals["icc A,1"].append(icc_interval(c.ratings, c.query, "A,1", level=LEVEL))
        estimate = bias_for_raters_like_these(c.judge, c.ratings, c.query, LEVEL)
        intervals["bias pooled"].append(estimate.interval)
    return [_row(design, "raters_like_these", name, truth[name], intervals[name]) for name in truth]


def _row(
    design: Design, target: str, name: str, truth: float, intervals: list[Interval]
) -> dict[str, object]:
    given = [i for i in intervals if i.reason is None]
    low, high = np.array([i.low for i in given]), np.array([i.high for i in given])
    covered = float(np.mean((low <= truth) & (truth <= high)))
    return {
        "queries": design.queries,
        "raters": design.raters,
        "severity": design.severity,
        "missing": design.missing,
        "bounded": design.bounded,
        "target": target,
        "statistic": name,
        "method": given[0].method,
        "truth": round(truth, 4),
        "repetitions": len(intervals),
        "withheld": len(intervals) - len(given),
        "coverage": round(covered, 4),
        "monte_carlo_error": round(float(np.sqrt(covered * (1 - covered) / len(given))), 4),
        "below": round(float(np.mean(high < truth)), 4),
        "above": round(float(np.mean(low > truth)), 4),
        "median_width": round(float(np.median(high - low)), 4),
    }


PANELS = [
    Design(queries=queries, raters=3, severity=3, bounded=True) for queries in (15, 30, 60, 150)
]
POPULATIONS = [
    Design(queries=queries, raters=raters, severity=severity)
    for queries in (30, 100)
    for raters in (3, 6)
    for severity in (1.5, 3.0, 12.0)
]


def table(repetitions: int, resamples: int, seed: int, say: Callable[[str], object]) -> list[dict]:  # type: ignore[type-arg]
    """All rows of the committed table."""
    rows: list[dict[str, object]] = []
    for design in PANELS:
        rows += cover_these_raters(design, repetitions, resamples, seed)
        say(f"{design}\n")
    for design in POPULATIONS:
        rows += cover_raters_like_these(design, repetitions, seed)
        say(f"{design}\n")
    return rows


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = table(options.repetitions, options.resamples, options.seed, sys.stderr.write)
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
