"""How often a judge drawn from the raters' own population is called better or worse than a rater.

`python -m tests.coverage.further_rater` writes tests/coverage/further_rater.csv: 500 studies per
cell, some five minutes. Raters, and the judge as one of them, differ in noise by a factor whose
logarithm has the standard deviation `spread`.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import CeilingMeasure, human_ceiling

TABLE = Path(__file__).with_name("further_rater.csv")
MEASURES: tuple[CeilingMeasure, ...] = ("kendall_tau_b", "pearson")
SPREADS, RATERS, QUERIES, SYSTEMS = (0.0, 0.3, 0.6), (3, 5, 8), (15, 30, 100), 4


def study(
    rng: np.random.Generator, queries: int, raters: int, spread: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Ratings (n, raters), the judge (n,) and queries (n,) on 0 to 100 in steps of 5."""
    query = np.arange(queries * SYSTEMS) // SYSTEMS
    quality = 65 + 12 * rng.normal(size=queries)[query] + 15 * rng.normal(size=query.size)
    noise = 15 * np.exp(spread * rng.normal(size=raters + 1))
    values = quality[:, None] + noise * rng.normal(size=(query.size, raters + 1))
    values = np.clip(5 * np.round(values / 5), 0, 100)
    return values[:, :raters], values[:, raters], query


def decided(
    measure: CeilingMeasure, queries: int, raters: int, spread: float, studies: int
) -> tuple[float, float]:
    """Share of studies in which each interval excludes 0: these raters, raters like these."""
    resampling = QueryResampling(queries)
    counts = np.zeros(2)
    for number in range(studies):
        rng = np.random.default_rng((number, queries, raters, round(10 * spread)))
        ratings, judge, query = study(rng, queries, raters, spread)
        ceiling = human_ceiling(ratings, judge, query, "within_query", measure)
        assert ceiling.difference is not None
        intervals = (
            resampling.interval(ceiling.difference),
            beside_a_further_rater(ceiling, resampling),
        )
        counts += [interval.low > 0 or interval.high < 0 for interval in intervals]
    these, like_these = counts / studies
    return float(these), float(like_these)


def main(studies: int = 500) -> None:
    """Simulate all cells and write the table."""
    rows = []
    for measure, spread, raters, queries in product(MEASURES, SPREADS, RATERS, QUERIES):
        these, like_these = decided(measure, queries, raters, spread, studies)
        rows.append((measure, spread, raters, queries, studies, these, like_these))
        print(*rows[-1], flush=True)
    columns = ["measure", "spread", "raters", "queries", "studies", "these_raters",
               "raters_like_these"]  # fmt: skip
    pd.DataFrame(rows, columns=columns).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
