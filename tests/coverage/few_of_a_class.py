"""Coverage of pass rates by a judge's rates, by the size of the smaller class: writes the table.

`python -m tests.coverage few_of_a_class` takes some three minutes of one core. The studies are
those of `pass_rates` with a judge that is as kind to both systems; each is counted where as many
labeled responses pass, or fail, as `smaller` states. `shown` are those in which the judge is shown
to be better than chance, of which alone a report has an interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from analysis.core.resampling import QueryResampling
from analysis.statistics.binary.confusion_cells import confusion_cells
from analysis.statistics.binary.pass_rates import pass_rate_by_rates
from analysis.statistics.binary.rates import balanced_accuracy
from tests.coverage.pass_rates import POOL, QUERY, SECOND, Cell
from tests.coverage.tables import options, write_rows

SMALLER = range(2, 11)
STUDIES = tuple(product((15, 30, 75), (0.8, 0.9, 0.95)))
RIGHT = (0.8, 0.95)


def counts(repetitions: int, right: float) -> Iterator[dict[str, object]]:
    """Number of studies, of those shown, and coverage, for each size of the smaller class."""
    rng = np.random.default_rng([22, int(100 * right)])
    resampling = QueryResampling(POOL)
    drawn: dict[int, list[tuple[bool, float]]] = {size: [] for size in SMALLER}
    for labels, prevalence in STUDIES:
        cell = Cell(labels, prevalence, right, 0.0)
        for _ in range(repetitions):
            people, judge = cell.drawn(rng)
            cells = confusion_cells(judge, people, QUERY, POOL)
            size = int(min(cells.total[:2].sum(), cells.total[2:].sum()))
            if size not in drawn or not balanced_accuracy(cells).interval.low > 0.5:
                continue
            statistic = pass_rate_by_rates(judge, people, QUERY, POOL, SECOND)
            interval = resampling.interval(statistic)
            if np.isfinite(interval.low):
                covers = interval.low <= prevalence <= interval.high
                drawn[size].append((covers, interval.high - interval.low))
    for size, of_size in drawn.items():
        covered = float(np.mean([hit for hit, _ in of_size])) if of_size else float("nan")
        yield {
            "right": right,
            "smaller": size,
            "shown": len(of_size),
            "coverage": round(covered, 4),
            "error": round(float(np.sqrt(covered * (1 - covered) / max(len(of_size), 1))), 4),
            "width": round(float(np.median([wide for _, wide in of_size])), 4) if of_size else "",
        }


def main() -> None:
    """Simulate both judges and write the table."""
    chosen = options(__doc__, 300).parse_args()
    write_rows(chosen.out, (row for right in RIGHT for row in counts(chosen.repetitions, right)))


if __name__ == "__main__":
    main()
