"""How often a fair judge on few ordered points is reported to favor a system, and one that does.

    python -m tests.coverage.favored_on_few_points --out tests/coverage/favored_on_few_points.csv

True quality is continuous: query (SD .7), response (SD 1) and system, neighbors `gap` apart.
People's points are cuts of quality plus the rater's severity (SD .5) and noise (SD 1) at evenly
spaced thresholds; the judge's are cuts of quality plus noise (SD .5) at thresholds of its own:
`as_people`, all of them lower by 1 (`lenient`), or wider apart below than above (`skewed`). No
judge's points are a line in people's. With `favored` the judge sees the first system that much
better. `named` is the share of studies in which the report names a system that the judge favors or
disfavors, `first` that in which it names the first as favored, `withheld` that in which too many
scores are at an end. A table that exists is continued; `--points` computes a part.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.resampling import QueryResampling
from analysis.core.simultaneous_intervals import SimultaneousIntervals, simultaneous_intervals
from analysis.statistics.calibration.error_by_system import error_by_system_given_human
from analysis.statistics.reliability.severity import severities
from analysis.topics.calibration.judge_error import saturated
from study.base.scales import Scale
from tests.coverage.favored_systems import finished
from tests.coverage.tables import write_rows

POINTS = (2, 3, 5, 7)
GAPS = (0.3, 1.0)
#: Systems, queries and raters.
DESIGNS = ((3, 15, 5), (4, 30, 2), (6, 60, 2))
JUDGES = ("as_people", "lenient", "skewed")
FAVORED = (0.0, 1.0)

QUERY, RESPONSE, SEVERITY, RATER, JUDGE = 0.7, 1.0, 0.5, 1.0, 0.5
FIELDS = (
    "points", "gap", "systems", "queries", "raters", "judge", "favored",
    "studies", "named", "first", "withheld", "width",
)  # fmt: skip


class Cell(NamedTuple):
    """A design, and how the judge scores."""

    points: int
    gap: float
    systems: int
    queries: int
    raters: int
    judge: str
    favored: float

    @property
    def key(self) -> tuple[str, ...]:
        """How the table names it."""
        return tuple(str(value) for value in self)


def cells() -> list[Cell]:
    """All cells, in the order of the table."""
    return [
        Cell(points, gap, *design, judge, favored)
        for points, gap, design, judge, favored in product(POINTS, GAPS, DESIGNS, JUDGES, FAVORED)
    ]


def thresholds(judge: str, points: int) -> FloatArray:
    """Where the judge cuts quality (points - 1,)."""
    if points == 2:
        return np.array([{"as_people": 0.0, "lenient": -1.0, "skewed": -0.5}[judge]])
    ends = {"as_people": (-1.5, 1.5), "lenient": (-2.5, 0.5), "skewed": (-2.5, 1.5)}[judge]
    place = np.linspace(0, 1, points - 1)
    return np.asarray(ends[0] + np.ptp(ends) * (np.sqrt(place) if judge == "skewed" else place))


def cut(values: FloatArray, at: FloatArray) -> FloatArray:
    """Points from 1."""
    return 1.0 + np.searchsorted(at, values.ravel()).reshape(values.shape)


def study(rng: np.random.Generator, cell: Cell) -> tuple[FloatArray, FloatArray, IntArray]:
    """The judge (n,), ratings (n, raters) and queries (n,); a response for each system in turn."""
    apart = cell.gap * (np.arange(cell.systems) - (cell.systems - 1) / 2)
    true = rng.normal(0, QUERY, (cell.queries, 1)) + apart
    true = true + rng.normal(0, RESPONSE, true.shape)
    seen = true + rng.normal(0, JUDGE, true.shape)
    seen[:, 0] += cell.favored
    noise = rng.normal(0, RATER, (true.size, cell.raters)) + rng.normal(0, SEVERITY, cell.raters)
    ratings = cut(true.reshape(-1, 1) + noise, thresholds("as_people", cell.points))
    query = np.repeat(np.arange(cell.queries), cell.systems)
    return cut(seen, thresholds(cell.judge, cell.points)).ravel(), ratings, query


def by_system(cell: Cell, number: int) -> SimultaneousIntervals | None:
    """Intervals of the systems' effects in a study, or none where they are withheld."""
    entropy = [number, *(round(100 * value) for value in cell if not isinstance(value, str))]
    rng = np.random.default_rng([*entropy, JUDGES.index(cell.judge)])
    judge, ratings, query = study(rng, cell)
    if saturated(judge, Scale(1, cell.points, 1, "ordinal")):
        return None
    produced = np.tile(np.eye(cell.systems, dtype=bool), (cell.queries, 1))
    ratings = ratings - severities(ratings, query).points
    effects = error_by_system_given_human(judge, ratings, query, produced, cell.queries).effects
    values = QueryResampling(cell.queries).evaluate(effects.weighted_statistic, "jackknife")
    return simultaneous_intervals(effects.points(), values, "jackknife")


def measured(cell: Cell, studies: int) -> dict[str, object]:
    """The row of a cell."""
    results = [by_system(cell, number) for number in range(studies)]
    shown = [intervals for intervals in results if intervals is not None]
    figures = (
        sum(bool(((i.low > 0) | (i.high < 0)).any()) for i in shown) / studies,
        sum(bool(i.low[0] > 0) for i in shown) / studies,
        1 - len(shown) / studies,
        float(np.nanmedian([i.high - i.low for i in shown])) if shown else float("nan"),
    )
    return dict(
        zip(FIELDS, (*cell.key, studies, *(round(figure, 3) for figure in figures)), strict=True)
    )


def main() -> None:
    """Compute the cells that the table lacks and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--points", type=int, choices=POINTS, help="only these cells")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    table = finished(options.out, options.studies, Cell._fields)
    for cell in cells():
        if cell.key not in table and options.points in (None, cell.points):
            table[cell.key] = measured(cell, options.studies)
            write_rows(options.out, [table[other.key] for other in cells() if other.key in table])
            print(*table[cell.key].values(), flush=True)


if __name__ == "__main__":
    main()
