"""How often the intervals of corrected means cover the truth: writes the committed table.

`python -m tests.coverage.corrected --out tests/coverage/corrected.csv` takes a few minutes of one
core. A score is query + response + error, normal, in points, rounded to steps of 5 and cut at 0 and
100; people and judge have the same share of their scores at 100. One rating a labeled response:
with several the values are less skewed. Labels are drawn at random from 500 queries, all systems of
a query together. The truth is the mean over queries like these. `failures` is the share of the
responses that people give 0 where all others are around 88; the judge's scores do not show which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtri

from analysis.core.arrays import FloatArray
from analysis.statistics.correction.prediction_powered import (
    Corrected,
    corrected,
    learned_lambda,
)
from analysis.statistics.correction.query_sums import query_sums
from tests.coverage.tables import options, write_rows

LABELS = (15, 30, 75)
CEILINGS = (0.0, 0.4, 0.78)
POOL, SYSTEMS = 500, 2
QUERY, RESPONSE, ERROR, JUDGE_ERROR = 10.0, 12.0, 11.0, 12.0
#: What the second system is worse by, in points of what lies behind the scores.
WORSE = 4.0
TRUTH_QUERIES = 2_000_000

#: Ways to correct, by their name in the table: lambda, None for what reports use.
WAYS: dict[str, float | None] = {"report": None, "lambda = 1": 1.0, "ratings alone": 0.0}

#: Share of the responses that fail, to which people give 0, and the mean of the other scores.
FAILING, GOOD = 0.06, 88.0
#: Of the scores with failures all other deviations are smaller: the bulk stays below the maximum.
SHRUNK = 0.4


@dataclass(frozen=True)
class Cell:
    """Number of labeled queries, the share of the first system's scores at 100, and of failures.

    The judge is blind to failures: it scores them as if people had not given them 0.
    """

    labels: int
    ceiling: float
    failures: float = 0.0

    def level(self, error: float) -> float:
        """Mean of what lies behind scores with this error, so that the share reaches 97.5."""
        if self.ceiling == 0:
            return 50.0
        spread = float(np.sqrt(QUERY**2 + RESPONSE**2 + error**2))
        return 97.5 + spread * float(ndtri(self.ceiling))


def drawn(cell: Cell, queries: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Human values and judge scores (queries, systems)."""
    behind = rng.normal(0, QUERY, (queries, 1)) + rng.normal(0, RESPONSE, (queries, SYSTEMS))
    behind = behind - WORSE * np.arange(SYSTEMS)
    shrink = SHRUNK if cell.failures else 1.0

    def scored(error: float) -> FloatArray:
        level = GOOD if cell.failures else cell.level(error)
        raw = level + shrink * (behind + rng.normal(0, error, behind.shape))
        return np.asarray(np.clip(5 * np.round(raw / 5), 0, 100))

    human, judge = scored(ERROR), scored(JUDGE_ERROR)
    if cell.failures:
        human[rng.random(human.shape) < cell.failures] = 0.0
    return human, judge


@cache
def truth(ceiling: float, failures: float = 0.0) -> tuple[float, float]:
    """Mean of the first system, and its difference to the second."""
    human, _ = drawn(Cell(0, ceiling, failures), TRUTH_QUERIES, np.random.default_rng(12345))
    means = human.mean(axis=0)
    return float(means[0]), float(means[0] - means[1])


def campaigns(cell: Cell, repetitions: int, seed: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Human values (queries, systems), NaN beyond the labels, and judge scores."""
    spawn = (cell.labels, round(100 * cell.ceiling))
    if cell.failures:
        spawn = (*spawn, round(100 * cell.failures))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=spawn))
    for _ in range(repetitions):
        human, judge = drawn(cell, POOL, rng)
        human[cell.labels :] = np.nan
        yield human, judge


def estimated(human: FloatArray, judge: FloatArray, lam: float | None) -> dict[str, Corrected]:
    """Mean of the first system and the difference of the two."""
    query = np.arange(len(human))
    widths = {"human_width": 100.0, "judge_width": 100.0}
    first, second = (
        query_sums(human[:, s], judge[:, s], query, len(human), **widths) for s in range(2)
    )
    of_means = learned_lambda([(first,), (second,)]) if lam is None else lam
    return {
        "mean": corrected(first, lam=of_means),
        "difference": corrected(first, second, lam=lam),
    }


def rows(cell: Cell, repetitions: int, seed: int = 1) -> Iterator[dict[str, object]]:
    """Coverage and width of every way in one cell."""
    answer = dict(zip(("mean", "difference"), truth(cell.ceiling, cell.failures), strict=True))
    by_name: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for human, judge in campaigns(cell, repetitions, seed):
        for way, lam in WAYS.items():
            for what, entry in estimated(human, judge, lam).items():
                by_name.setdefault((what, way), []).append(
                    (entry.interval.low, entry.interval.high)
                )
    for (what, way), ends in by_name.items():
        yield summary(cell, what, way, np.array(ends), answer[what])


def summary(cell: Cell, what: str, way: str, ends: FloatArray, answer: float) -> dict[str, object]:
    """One line of the table."""
    return {
        "labels": cell.labels,
        "ceiling": cell.ceiling,
        "failures": cell.failures,
        "statistic": what,
        "way": way,
        **coverage(ends, answer),
    }


def coverage(ends: FloatArray, answer: float) -> dict[str, object]:
    """How intervals (n, 2) cover; a withheld one covers nothing and is counted apart."""
    passed = np.isfinite(ends).all(axis=1)
    low, high = ends[passed].T
    below, above = float((high < answer).mean()), float((low > answer).mean())
    covers = 1 - below - above
    return {
        "truth": round(answer, 3), "repetitions": len(ends), "withheld": int((~passed).sum()),
        "coverage": round(covers, 4),
        "monte_carlo_error": round(float(np.sqrt(covers * (1 - covers) / passed.sum())), 4),
        "below": round(below, 4), "above": round(above, 4),
        "median_width": round(float(np.median(high - low)), 3),
        "mean_width": round(float(np.mean(high - low)), 3),
    }  # fmt: skip


def cells() -> list[Cell]:
    """All cells of the table."""
    usual = [Cell(labels, ceiling) for ceiling in CEILINGS for labels in LABELS]
    return [*usual, *(Cell(labels, 0.0, FAILING) for labels in LABELS)]


def main() -> None:
    """Compute all cells and write the table."""
    arguments = options(__doc__, repetitions=5000).parse_args()
    write_rows(
        arguments.out, (row for cell in cells() for row in rows(cell, arguments.repetitions))
    )


if __name__ == "__main__":
    main()
