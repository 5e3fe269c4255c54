"""How often the places of all systems are inside their intervals at once.

    python -m tests.coverage.system_ranks --out tests/coverage/system_ranks.csv

Takes some minutes. Scores of systems on 0 to 100 share a query's difficulty; `apart` is the step
between true means in points: all `equal`, in `pairs` of equal ones, or `steps`. `ceiling` is the
share of scores above 100 before they are cut, which true means include. A system's places are
those from 1 plus the number of better systems to the number of systems less that of worse ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy import stats

from analysis.core.arrays import FloatArray
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.statistics.discrimination.ranks import ranks_of_differences
from analysis.statistics.discrimination.system_scores import paired_differences
from tests.coverage.tables import options, write_rows

CELLS = tuple(product((15, 60), (4, 8), ("equal", "pairs", "steps"), (0.0, 0.67)))
FIELDS = ("queries", "systems", "apart", "ceiling", "repetitions", "coverage", "places")
SPREAD = 20.0


def quality(systems: int, apart: str) -> FloatArray:
    """Means (systems,) before scores are cut, which order true means."""
    number = np.arange(systems)
    steps = {"equal": 0 * number, "pairs": number // 2, "steps": number}[apart]
    return 5.0 * (steps - steps.mean())


def scores(rng: np.random.Generator, queries: int, means: FloatArray, ceiling: float) -> FloatArray:
    """Scores (queries, systems)."""
    top = 100.0 if ceiling else 1000.0
    middle = 100 + SPREAD * stats.norm.ppf(ceiling) if ceiling else 60.0
    query = rng.normal(0, 0.6, (queries, 1))
    own = rng.normal(0, 0.8, (queries, means.size))
    return np.minimum(middle + means + SPREAD * (query + own), top)


def covered(table: FloatArray, means: FloatArray, seed: int) -> tuple[bool, float]:
    """Whether all places are inside, and how many places are left on average."""
    differences = paired_differences(table)
    intervals = simultaneous_intervals(
        differences.point, differences.without_each_query(), "jackknife", seed=seed
    )
    ranked = ranks_of_differences(
        differences.first, differences.second, differences.point, intervals.low, intervals.high
    )
    inside = all(
        rank.best <= 1 + (means > mean).sum() and rank.worst >= means.size - (means < mean).sum()
        for rank, mean in zip(ranked, means, strict=True)
    )
    return inside, float(np.mean([rank.worst - rank.best + 1 for rank in ranked]))


def measured(repetitions: int) -> Iterator[dict[str, object]]:
    """A record for each cell."""
    for queries, systems, apart, ceiling in CELLS:
        means = quality(systems, apart)
        rng = np.random.default_rng([queries, systems, len(apart), round(100 * ceiling)])
        results = [
            covered(scores(rng, queries, means, ceiling), means, seed)
            for seed in range(repetitions)
        ]
        share, places = np.mean(results, axis=0).tolist()
        row = (queries, systems, apart, ceiling, repetitions, round(share, 4), round(places, 2))
        yield dict(zip(FIELDS, row, strict=True))


def main() -> None:
    arguments = options(__doc__, repetitions=700).parse_args()
    write_rows(arguments.out, measured(arguments.repetitions))


if __name__ == "__main__":
    main()
