"""Coverage of corrected means by share rated, judge and scores: writes the committed table.

`python -m tests.coverage.regimes --out tests/coverage/regimes.csv` takes some three minutes of one
core for 1,000 repetitions a cell; `--scores` computes a part, and a table that exists is continued.
Scores are drawn as in `corrected`, one rating a labeled response, from 240 queries and two systems.
`failures` are scores around 88 of which 6% are 0. The judge is close to people (an error of 4
points, it sees all failures), fair (12 points, it sees half of them) or unrelated to people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis.core.arrays import FloatArray
from tests.coverage.corrected import (
    ERROR,
    FAILING,
    GOOD,
    QUERY,
    RESPONSE,
    SHRUNK,
    SYSTEMS,
    TRUTH_QUERIES,
    WORSE,
    Cell,
    coverage,
    estimated,
)
from tests.coverage.tables import options as options_of, read_rows, write_rows

POOL = 240
LABELS = (12, 60, 120, 216, 239)
CEILINGS = {"0%": 0.0, "40%": 0.4, "78%": 0.78}
FAILURES = "failures"
SCORES = (*CEILINGS, FAILURES)
#: Error of a judge in points, and the share of the failures that it sees.
JUDGES = {"close": (4.0, 1.0), "fair": (12.0, 0.5), "unrelated": (12.0, 0.0)}
WAYS: dict[str, float | None] = {"report": None, "ratings alone": 0.0}


@dataclass(frozen=True)
class Regime:
    """Labeled queries of the 240, a key of JUDGES and one of SCORES."""

    labels: int
    judge: str
    scores: str

    @property
    def key(self) -> tuple[str, ...]:
        """How the table names it."""
        return str(self.labels), self.judge, self.scores


def drawn(regime: Regime, queries: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Human values and judge scores (queries, systems)."""
    error, sees = JUDGES[regime.judge]
    fails = regime.scores == FAILURES
    shrink = SHRUNK if fails else 1.0

    def behind() -> FloatArray:
        shared = rng.normal(0, QUERY, (queries, 1)) + rng.normal(0, RESPONSE, (queries, SYSTEMS))
        return np.asarray(shared - WORSE * np.arange(SYSTEMS))

    def scored(quality: FloatArray, error: float) -> FloatArray:
        level = GOOD if fails else Cell(0, CEILINGS[regime.scores]).level(error)
        raw = level + shrink * (quality + rng.normal(0, error, quality.shape))
        return np.asarray(np.clip(5 * np.round(raw / 5), 0, 100))

    quality = behind()
    human = scored(quality, ERROR)
    judge = scored(behind() if regime.judge == "unrelated" else quality, error)
    if fails:
        failed = rng.random(human.shape) < FAILING
        human[failed] = 0.0
        seen = failed & (rng.random(human.shape) < sees)
        judge[seen] = 5 * np.round(np.clip(rng.normal(15, 10, seen.sum()), 0, 100) / 5)
    return human, judge


@cache
def truth(scores: str) -> dict[str, float]:
    """Mean of the first system, and its difference to the second."""
    regime = Regime(0, "close", scores)
    means = drawn(regime, TRUTH_QUERIES, np.random.default_rng(12345))[0].mean(axis=0)
    return {"mean": float(means[0]), "difference": float(means[0] - means[1])}


def rows(regime: Regime, repetitions: int, seed: int = 1) -> Iterator[dict[str, object]]:
    """Coverage and width in one regime."""
    place = [LABELS.index(regime.labels), list(JUDGES).index(regime.judge)]
    spawn = (*place, SCORES.index(regime.scores))
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=spawn))
    ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(repetitions):
        human, judge = drawn(regime, POOL, rng)
        human[regime.labels :] = np.nan
        for way, lam in WAYS.items():
            for what, estimate in estimated(human, judge, lam).items():
                ends.setdefault((what, way), []).append(
                    (estimate.interval.low, estimate.interval.high)
                )
    for (what, way), intervals in ends.items():
        yield {
            "labels": regime.labels,
            "judge": regime.judge,
            "scores": regime.scores,
            "statistic": what,
            "way": way,
            **coverage(np.array(intervals), truth(regime.scores)[what]),
        }


def regimes() -> list[Regime]:
    """All cells, in the order of the table."""
    return [Regime(n, judge, scores) for scores in SCORES for judge in JUDGES for n in LABELS]


def main() -> None:
    """Compute the cells that the table lacks and write it."""
    parser = options_of(__doc__, repetitions=1000)
    parser.add_argument("--scores", choices=SCORES, help="only cells with these scores")
    options = parser.parse_args()
    table: dict[tuple[str, ...], list[dict[str, object]]] = {}
    if options.out.exists():
        for row in read_rows(options.out):
            if int(row["repetitions"]) >= options.repetitions:
                key = (row["labels"], row["judge"], row["scores"])
                table.setdefault(key, []).append(dict(row))
    for regime in regimes():
        if regime.key not in table and options.scores in (None, regime.scores):
            table[regime.key] = list(rows(regime, options.repetitions))
            write_rows(options.out, [row for r in regimes() for row in table.get(r.key, [])])
            print(*regime.key, table[regime.key][0]["coverage"], flush=True)


if __name__ == "__main__":
    main()
