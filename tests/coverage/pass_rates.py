"""Coverage of a system's pass rate by a judge's rates and by labels: writes the committed table.

`python -m tests.coverage pass_rates` takes some two minutes of one core for 500 repetitions a
cell. Two systems answer 250 queries, of which some are rated; the judge decides all. A share of .3
of the variance in what people decide by, and in whether the judge decides as they do, is the
query's. `right` is the judge's rate of right verdicts; of the failures of the second system, whose
pass rate is estimated, it lets a further share `kinder` through. `rates` corrects by the two rates
of the judge on all labels, where five labels or more pass and five fail and it is shown to be
better than chance (`given`), `labels` by people's verdicts on the system itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from itertools import product

import numpy as np
from scipy.special import ndtri

from analysis.core.arrays import FloatArray
from analysis.core.resampling import QueryResampling
from analysis.statistics.binary.confusion_cells import confusion_cells
from analysis.statistics.binary.pass_rates import pass_rate_by_rates, why_rates_are_unknown
from analysis.statistics.correction.prediction_powered import corrected, learned_lambda
from analysis.statistics.correction.query_sums import query_sums
from tests.coverage.tables import options, write_rows

POOL, SYSTEMS, CLUSTERED = 250, 2, 0.3
LABELS = (15, 30, 75)
PREVALENCES = (0.5, 0.8, 0.95)
RIGHT = (0.8, 0.95)
KINDER = (0.0, 0.2)
QUERY = np.repeat(np.arange(POOL), SYSTEMS)
SECOND = np.tile([False, True], POOL)


@dataclass(frozen=True)
class Cell:
    """Labeled queries, share that people pass, the judge's rate of right verdicts, kindness."""

    labels: int
    prevalence: float
    right: float
    kinder: float

    def drawn(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Verdicts (n,) of people, NaN where not rated, and of the judge."""

        def behind() -> FloatArray:
            shared = np.sqrt(CLUSTERED) * rng.normal(size=(POOL, 1))
            return np.asarray(shared + np.sqrt(1 - CLUSTERED) * rng.normal(size=(POOL, SYSTEMS)))

        people = (behind() < ndtri(self.prevalence)).ravel()
        right = (behind() < ndtri(self.right)).ravel()
        right &= ~(SECOND & ~people & (rng.random(people.size) < self.kinder))
        rated = np.where(self.labels > QUERY, people, np.nan)
        return rated, np.where(right, people, ~people).astype(np.float64)


def rows(cell: Cell, repetitions: int) -> Iterator[dict[str, object]]:
    """Coverage, mean error and width of both ways."""
    seed = [int(1000 * part) for part in astuple(cell)]
    rng = np.random.default_rng(np.random.SeedSequence(20, spawn_key=tuple(seed)))
    resampling = QueryResampling(POOL)
    results: dict[str, list[tuple[float, float, float]]] = {"rates": [], "labels": []}
    for _ in range(repetitions):
        people, judge = cell.drawn(rng)
        statistic = pass_rate_by_rates(judge, people, QUERY, POOL, SECOND)
        interval = resampling.interval(statistic)
        unknown = why_rates_are_unknown(confusion_cells(judge, people, QUERY, POOL))
        ends = (np.nan, np.nan) if unknown else (interval.low, interval.high)
        results["rates"].append((statistic.point, *ends))
        first, second = (
            query_sums(people[of], judge[of], QUERY[of], POOL, human_width=1.0, judge_width=1.0)
            for of in (~SECOND, SECOND)
        )
        value = corrected(second, lam=learned_lambda([(first,), (second,)]))
        results["labels"].append((value.value, value.interval.low, value.interval.high))
    for way, of_samples in results.items():
        point, low, high = np.array(of_samples).T
        given = np.isfinite(low)
        covered = (low <= cell.prevalence) & (cell.prevalence <= high)
        yield {
            "labels": cell.labels,
            "prevalence": cell.prevalence,
            "right": cell.right,
            "kinder": cell.kinder,
            "way": way,
            "coverage": round(float(covered[given].mean()), 4) if given.any() else "",
            "error": round(float(point[given].mean() - cell.prevalence), 4) if given.any() else "",
            "width": round(float(np.median((high - low)[given])), 4) if given.any() else "",
            "given": round(float(given.mean()), 4),
            "repetitions": repetitions,
        }


def main() -> None:
    """Simulate all cells and write the table."""
    chosen = options(__doc__, 500).parse_args()
    cells = [Cell(*parts) for parts in product(LABELS, PREVALENCES, RIGHT, KINDER)]
    write_rows(chosen.out, (row for cell in cells for row in rows(cell, chosen.repetitions)))


if __name__ == "__main__":
    main()
