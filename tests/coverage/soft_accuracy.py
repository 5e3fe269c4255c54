"""How often the interval of a difference of two judges' soft pairwise accuracies covers.

    python -m tests.coverage.soft_accuracy --out tests/coverage/soft_accuracy.csv

Takes some minutes. The true value is the difference to expect with as many queries, the mean over
the studies of a cell. Scores of systems share a query's difficulty; true means are all `equal` or
in `steps` of 4 points; the judges' errors are both as large as that of people's mean (`alike`), or
one is three times as large (`apart`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from unittest.mock import patch

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.resampling import QueryResampling, Replicates
from analysis.statistics.agreement import soft_difference
from analysis.statistics.agreement.soft_difference import SoftDifference
from tests.coverage.tables import options, write_rows

CELLS = tuple(product((15, 30, 100), (4, 8), ("equal", "steps"), ("alike", "apart")))
FIELDS = (
    "queries", "systems", "means", "judges", "repetitions", "difference", "coverage", "half_width",
)  # fmt: skip
STEP, QUERY, RESPONSE, ERROR, LARGER = 4.0, 12.0, 15.0, 8.0, 24.0


def study(
    rng: np.random.Generator, queries: int, systems: int, means: str, judges: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Scores (queries, systems) of two judges and of people."""
    shape = (queries, systems)
    quality = QUERY * rng.normal(size=(queries, 1)) + RESPONSE * rng.normal(size=shape)
    if means == "steps":
        quality -= STEP * np.arange(systems)
    errors = (ERROR, LARGER if judges == "apart" else ERROR, ERROR)
    first, second, people = (quality + error * rng.normal(size=shape) for error in errors)
    return first, second, people


def difference(scores: tuple[FloatArray, FloatArray, FloatArray], seed: int) -> SoftDifference:
    """The difference without its p, whose permutations take most of the time."""
    with patch.object(soft_difference, "LARGEST", 0):
        return soft_difference.soft_difference(*scores, seed=seed)


def simulated(
    queries: int, systems: int, means: str, judges: str, repetitions: int
) -> tuple[FloatArray, FloatArray]:
    """Values (repetitions,) and ends (repetitions, 2) of the intervals."""
    resampling = QueryResampling(queries)
    values, ends = np.empty(repetitions), np.empty((repetitions, 2))
    for number in range(repetitions):
        rng = np.random.default_rng((number, queries, systems, len(means), len(judges)))
        soft = difference(study(rng, queries, systems, means, judges), seed=number)
        left_out = Replicates(soft.value, soft.without_each_query, "jackknife", soft.n_queries)
        interval = resampling.interval_of(left_out)
        values[number], ends[number] = soft.value, (interval.low, interval.high)
    return values, ends


def measured(repetitions: int) -> Iterator[dict[str, object]]:
    """A record for each cell; the width is a mean."""
    for cell in CELLS:
        values, ends = simulated(*cell, repetitions)
        true = float(values.mean())
        covered = (ends[:, 0] <= true) & (true <= ends[:, 1])
        half_width = float(np.mean(ends[:, 1] - ends[:, 0]) / 2)
        figures = (round(true, 4), round(float(covered.mean()), 4), round(half_width, 4))
        yield dict(zip(FIELDS, (*cell, repetitions, *figures), strict=True))


def main() -> None:
    arguments = options(__doc__, repetitions=400).parse_args()
    write_rows(arguments.out, measured(arguments.repetitions))


if __name__ == "__main__":
    main()
