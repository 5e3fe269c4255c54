"""Coverage of the rates of a judge that passes or fails responses: writes the committed table.

`python -m tests.coverage binary_rates` takes some five minutes of one core for 1,000 repetitions a
cell. Responses come in queries of three; a share of the variance (`clustered`) in what people
decide by is the query's, and so is one in whether the judge decides as they do, with the same
probability (`right`) for passes and fails. `wilson` is what reports use for rates; `logit` is the
jackknife, of rates on the logit scale, of MCC and kappa on Fisher's z scale. `given` is the share
of the samples that have an interval; coverage is of these.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtri

from analysis.core.arrays import FloatArray
from analysis.core.interval import Interval
from analysis.core.resampling import QueryResampling
from analysis.statistics.binary.confusion_cells import ConfusionCells, confusion_cells
from analysis.statistics.binary.rates import balanced_accuracy, kappa, mcc, rate
from tests.coverage.tables import options, read_rows, write_rows

ITEMS, PER_QUERY = (15, 30, 60, 99, 198), 3
PREVALENCES = (0.05, 0.2, 0.5, 0.8, 0.95)
RIGHT = (0.6, 0.9, 0.97)
CLUSTERED = 0.3
RATES = ("true_positive_rate", "true_negative_rate", "precision", "f1", "accuracy")


@dataclass(frozen=True)
class Cell:
    """Number of responses, share that people pass, the judge's rate of right verdicts, clusters."""

    items: int
    prevalence: float
    right: float
    clustered: float

    @property
    def key(self) -> tuple[str, ...]:
        """How the table names it."""
        return str(self.items), str(self.prevalence), str(self.right), str(self.clustered)

    def drawn(self, rng: np.random.Generator, queries: int) -> tuple[FloatArray, FloatArray]:
        """Verdicts (queries, PER_QUERY) of people and of the judge."""

        def behind() -> FloatArray:
            shared = np.sqrt(self.clustered) * rng.normal(size=(queries, 1))
            own = np.sqrt(1 - self.clustered) * rng.normal(size=(queries, PER_QUERY))
            return np.asarray(shared + own)

        people = behind() < ndtri(self.prevalence)
        right = behind() < ndtri(self.right)
        return people.astype(np.float64), np.where(right, people, ~people).astype(np.float64)

    @property
    def truth(self) -> dict[str, float]:
        """The rates of all responses."""
        p, right = self.prevalence, self.right
        passes = p * right + (1 - p) * (1 - right)
        chance = p * passes + (1 - p) * (1 - passes)
        spread = np.sqrt(p * (1 - p) * passes * (1 - passes))
        return {
            **dict.fromkeys(("true_positive_rate", "true_negative_rate", "accuracy"), right),
            "balanced_accuracy": right,
            "precision": p * right / passes,
            "f1": 2 * p * right / (p + passes),
            "verdict_kappa": (right - chance) / (1 - chance),
            "mcc": float((p * right - p * passes) / spread),
        }


def intervals(cells: ConfusionCells) -> Iterator[tuple[str, str, Interval]]:
    """The intervals of all statistics by each method."""
    resampling = QueryResampling(len(cells.sums))
    for name in RATES:
        yield name, "wilson", rate(cells, name).interval
    for name in RATES[:2]:
        yield name, "logit", _jackknife(cells, name, resampling)
    yield "balanced_accuracy", "wilson", balanced_accuracy(cells).interval
    for name, statistic in (("mcc", mcc(cells)), ("verdict_kappa", kappa(cells))):
        yield name, "logit", resampling.interval(statistic, "fisher_z")


def _jackknife(cells: ConfusionCells, name: str, resampling: QueryResampling) -> Interval:
    from analysis.core.query_statistic import QueryStatistic, ratio
    from analysis.statistics.binary.rates import RATES as QUOTIENTS

    quotient = QUOTIENTS[name]
    hits, of = cells.sums @ np.array(quotient.hits), cells.sums @ np.array(quotient.of)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        total = weights @ of
        return ratio(weights @ hits, total, total > 0)

    reason = None if of.sum() > 0 else quotient.empty
    statistic = QueryStatistic(weighted_statistic, of > 0, cells.n_responses, 0, reason)
    return resampling.interval(statistic, "logit")


def rows(cell: Cell, repetitions: int) -> Iterator[dict[str, object]]:
    """Coverage, mean width and share of samples with an interval, of each statistic and method."""
    seed = [int(1000 * float(part)) for part in cell.key]
    rng = np.random.default_rng(np.random.SeedSequence(19, spawn_key=tuple(seed)))
    queries = cell.items // PER_QUERY
    query = np.arange(cell.items) // PER_QUERY
    ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(repetitions):
        people, judge = cell.drawn(rng, queries)
        cells = confusion_cells(judge.ravel(), people.ravel(), query)
        for name, method, interval in intervals(cells):
            ends.setdefault((name, method), []).append((interval.low, interval.high))
    for (name, method), of_samples in ends.items():
        low, high = np.array(of_samples).T
        given = np.isfinite(low)
        covered = (low <= cell.truth[name]) & (cell.truth[name] <= high)
        yield {
            "items": cell.items,
            "prevalence": cell.prevalence,
            "right": cell.right,
            "clustered": cell.clustered,
            "statistic": name,
            "method": method,
            "coverage": round(float(covered[given].mean()), 4) if given.any() else "",
            "width": round(float((high - low)[given].mean()), 4) if given.any() else "",
            "given": round(float(given.mean()), 4),
            "repetitions": repetitions,
        }


def cells_of_table() -> list[Cell]:
    """All cells, in the order of the table."""
    return [Cell(*parts) for parts in product(ITEMS, PREVALENCES, RIGHT, (CLUSTERED, 0.0))]


def main() -> None:
    """Compute the cells that the table lacks and write it."""
    parser: argparse.ArgumentParser = options(__doc__, 1000)
    parser.add_argument("--items", type=int, choices=ITEMS, help="only cells of this size")
    chosen = parser.parse_args()
    table: dict[tuple[str, ...], list[dict[str, object]]] = {}
    if chosen.out.exists():
        for row in read_rows(chosen.out):
            if int(row["repetitions"]) >= chosen.repetitions:
                key = (row["items"], row["prevalence"], row["right"], row["clustered"])
                table.setdefault(key, []).append(dict(row))
    for cell in cells_of_table():
        if cell.key not in table and chosen.items in (None, cell.items):
            table[cell.key] = list(rows(cell, chosen.repetitions))
            ordered = [row for c in cells_of_table() for row in table.get(c.key, [])]
            write_rows(chosen.out, ordered)
            print(*cell.key, table[cell.key][0]["coverage"], flush=True)


if __name__ == "__main__":
    main()
