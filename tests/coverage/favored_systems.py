"""How often a fair judge that saturates is reported to favor a system, and a favored one is named.

    python -m tests.coverage.favored_systems --out tests/coverage/favored_systems.csv

The judge has one error function for all systems: true value plus noise, cut at the maximum, where
the share `ceiling` of its scores lies. Neighboring systems are `gap` points apart. With `favored`
the first system gets so many points more before the cut. `named` is the share of studies in which
the report names a system that the judge favors or disfavors, `first` that in which it names the
first system as favored, `withheld` that in which too many scores are at the maximum; `ungated`
is what `named` would be if nothing were withheld. 200 studies a cell take some five minutes of one
core; `--ceiling` computes a part, and a table that exists is continued.
"""

from __future__ import annotations

import argparse
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.resampling import QueryResampling
from analysis.core.simultaneous_intervals import SimultaneousIntervals, simultaneous_intervals
from analysis.statistics.calibration.error_by_system import error_by_system_given_human
from analysis.topics.calibration.judge_error import SATURATED
from tests.coverage.tables import read_rows, write_rows

CEILINGS = (0.0, 0.2, 0.42, 0.49, 0.67)
GAPS = (3.0, 10.0)
#: Systems, queries and raters.
DESIGNS = ((3, 15, 5), (3, 30, 2), (4, 30, 3), (4, 60, 5), (6, 60, 2))
FAVORED = (0.0, 12.0)

MIDDLE, QUERY, RESPONSE, RATER, JUDGE = 55.0, 8.0, 10.0, 12.0, 6.0
FIELDS = (
    "ceiling", "gap", "systems", "queries", "raters", "favored",
    "studies", "at_maximum", "named", "first", "withheld", "ungated", "width",
)  # fmt: skip


class Cell(NamedTuple):
    """A design, and how the judge scores."""

    ceiling: float
    gap: float
    systems: int
    queries: int
    raters: int
    favored: float

    @property
    def key(self) -> tuple[str, ...]:
        """How the table names it."""
        return tuple(str(value) for value in self)


def cells() -> list[Cell]:
    """All cells, in the order of the table."""
    return [
        Cell(ceiling, gap, *design, favored)
        for ceiling, gap, design, favored in product(CEILINGS, GAPS, DESIGNS, FAVORED)
    ]


def _rounded(values: FloatArray) -> FloatArray:
    return np.clip(5 * np.round(values / 5), 0, 100)


def _true(rng: np.random.Generator, systems: int, gap: float, queries: int) -> FloatArray:
    """True values (queries, systems) before anything is cut."""
    apart = gap * (np.arange(systems) - (systems - 1) / 2)
    level = MIDDLE + rng.normal(0, QUERY, (queries, 1)) + apart
    return np.asarray(level + rng.normal(0, RESPONSE, (queries, systems)))


@cache
def _kindness(ceiling: float, systems: int, gap: float) -> float:
    """Points added to the judge's scores so that the share `ceiling` rounds to the maximum."""
    if not ceiling:
        return -5.0
    rng = np.random.default_rng(0)
    true = _true(rng, systems, gap, 200_000 // systems)
    scores = true + rng.normal(0, JUDGE, true.shape)
    return 97.5 - float(np.quantile(scores, 1 - ceiling))


def study(rng: np.random.Generator, cell: Cell) -> tuple[FloatArray, FloatArray, IntArray]:
    """The judge (n,), ratings (n, raters) and queries (n,); a response for each system in turn."""
    true = _true(rng, cell.systems, cell.gap, cell.queries)
    judge = true + _kindness(cell.ceiling, cell.systems, cell.gap)
    judge[:, 0] += cell.favored
    scores = _rounded(judge + rng.normal(0, JUDGE, true.shape))
    ratings = _rounded(true.reshape(-1, 1) + rng.normal(0, RATER, (true.size, cell.raters)))
    return scores.ravel(), ratings, np.repeat(np.arange(cell.queries), cell.systems)


def by_system(cell: Cell, number: int) -> tuple[SimultaneousIntervals, float]:
    """Intervals of the systems' effects in a study, and the share of scores at the maximum."""
    rng = np.random.default_rng([number, *(round(100 * value) for value in cell)])
    judge, ratings, query = study(rng, cell)
    produced = np.tile(np.eye(cell.systems, dtype=bool), (cell.queries, 1))
    effects = error_by_system_given_human(judge, ratings, query, produced, cell.queries).effects
    values = QueryResampling(cell.queries).evaluate(effects.weighted_statistic, "jackknife")
    intervals = simultaneous_intervals(effects.points(), values, "jackknife")
    return intervals, float((judge == 100).mean())


def measured(cell: Cell, studies: int) -> dict[str, object]:
    """The row of a cell."""
    results = [by_system(cell, number) for number in range(studies)]
    low = np.array([intervals.low for intervals, _ in results])
    high = np.array([intervals.high for intervals, _ in results])
    share = np.array([share for _, share in results])
    withheld = share > SATURATED
    apart = ((low > 0) | (high < 0)).any(axis=1)
    figures = (
        studies, share.mean(), (apart & ~withheld).mean(), ((low[:, 0] > 0) & ~withheld).mean(),
        withheld.mean(), apart.mean(), float(np.nanmedian(high - low)),
    )  # fmt: skip
    shown = [round(float(figure), 3) for figure in figures[1:]]
    return dict(zip(FIELDS, (*cell.key, studies, *shown), strict=True))


def finished(
    path: Path, studies: int, names: tuple[str, ...]
) -> dict[tuple[str, ...], dict[str, object]]:
    """Rows of an existing table by the columns `names`, where they have as many studies."""
    if not path.exists():
        return {}
    return {
        tuple(row[name] for name in names): dict[str, object](row)
        for row in read_rows(path)
        if int(row["studies"]) >= studies
    }


def main() -> None:
    """Compute the cells that the table lacks and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--ceiling", type=float, choices=CEILINGS, help="only these cells")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    table = finished(options.out, options.studies, Cell._fields)
    for cell in cells():
        if cell.key not in table and options.ceiling in (None, cell.ceiling):
            table[cell.key] = measured(cell, options.studies)
            write_rows(options.out, [table[other.key] for other in cells() if other.key in table])
            print(*table[cell.key].values(), flush=True)


if __name__ == "__main__":
    main()
