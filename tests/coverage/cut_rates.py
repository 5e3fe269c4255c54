"""Coverage of the rates of a graded judge at its best cut: writes the committed table.

`python -m tests.coverage cut_rates` takes some minutes of one core for 400 repetitions a cell.
Responses come in queries of three; a share of .3 of the variance in what people decide by, and in
the judge's noise, is the query's. The judge's score of 0 to 100 correlates by `correlation` with
what people decide by. Rates are of verdicts by cuts that were chosen on other queries. `coverage`
is of the rate that the reported cut has in the population (which differs between samples),
`of_best` of the rate at the population's best cut; `error` is the mean of rate minus the former.
`given` is the share of the samples that have an interval; coverage is of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import product

import numpy as np
from scipy.special import ndtri

from analysis.core.arrays import FloatArray
from analysis.statistics.binary.best_cut import best_cut
from analysis.statistics.binary.confusion_cells import confusion_cells
from analysis.statistics.binary.rates import balanced_accuracy, rate
from tests.coverage.tables import options, write_rows

PER_QUERY, CLUSTERED = 3, 0.3
ITEMS = (30, 60, 120, 240, 480)
PREVALENCES = (0.5, 0.8, 0.9)
CORRELATIONS = (0.4, 0.7, 0.9)
#: Queries from which the rates of the population are computed.
POPULATION = 40_000


@dataclass(frozen=True)
class Cell:
    """Number of responses, share that people pass, correlation of the judge with people."""

    items: int
    prevalence: float
    correlation: float

    def drawn(self, rng: np.random.Generator, queries: int) -> tuple[FloatArray, FloatArray]:
        """Verdicts (n,) of people and scores (n,) of the judge."""

        def behind() -> FloatArray:
            shared = np.sqrt(CLUSTERED) * rng.normal(size=(queries, 1))
            return np.asarray(
                shared + np.sqrt(1 - CLUSTERED) * rng.normal(size=(queries, PER_QUERY))
            )

        quality, noise = behind().ravel(), behind().ravel()
        people = (quality > -ndtri(self.prevalence)).astype(np.float64)
        scored = self.correlation * quality + np.sqrt(1 - self.correlation**2) * noise
        return people, np.clip(np.round(50 + 20 * scored), 0, 100)


def rows(cell: Cell, repetitions: int) -> Iterator[dict[str, object]]:
    """Coverage and mean error of the three rates."""
    seed = [int(1000 * part) for part in astuple(cell)]
    rng = np.random.default_rng(np.random.SeedSequence(21, spawn_key=tuple(seed)))
    people, scores = cell.drawn(rng, POPULATION)
    levels = np.arange(102)
    true_positive = np.array([(scores[people == 1] >= level).mean() for level in levels])
    true_negative = np.array([(scores[people == 0] < level).mean() for level in levels])
    truth = {
        "true_positive_rate": true_positive,
        "true_negative_rate": true_negative,
        "balanced_accuracy": (true_positive + true_negative) / 2,
    }
    best = int(truth["balanced_accuracy"].argmax())
    query = np.arange(cell.items) // PER_QUERY
    drawn: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in truth}
    for _ in range(repetitions):
        people, scores = cell.drawn(rng, cell.items // PER_QUERY)
        cut = best_cut(scores, people, query)
        if cut.reason:
            continue
        cells = confusion_cells(cut.verdicts, people, query)
        values = {name: rate(cells, name) for name in truth if name != "balanced_accuracy"}
        values["balanced_accuracy"] = balanced_accuracy(cells)
        for name, value in values.items():
            at_cut = float(truth[name][int(cut.cut)])
            interval = value.interval
            drawn[name].append((value.value, interval.low, interval.high, at_cut))
    for name, of_samples in drawn.items():
        point, low, high, at_cut = np.array(of_samples).T
        defined = np.isfinite(low)
        yield {
            "items": cell.items,
            "prevalence": cell.prevalence,
            "correlation": cell.correlation,
            "statistic": name,
            "coverage": round(float(((low <= at_cut) & (at_cut <= high))[defined].mean()), 4),
            "of_best": round(
                float(((low <= truth[name][best]) & (truth[name][best] <= high))[defined].mean()), 4
            ),
            "error": round(float((point - at_cut)[defined].mean()), 4),
            "width": round(float((high - low)[defined].mean()), 4),
            "given": round(float(defined.sum() / repetitions), 4),
            "repetitions": repetitions,
        }


def main() -> None:
    """Simulate all cells and write the table."""
    chosen = options(__doc__, 400).parse_args()
    cells = [Cell(*parts) for parts in product(ITEMS, PREVALENCES, CORRELATIONS)]
    write_rows(chosen.out, (row for cell in cells for row in rows(cell, chosen.repetitions)))


if __name__ == "__main__":
    main()
