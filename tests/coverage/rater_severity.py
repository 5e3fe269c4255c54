"""Coverage of people's difference between two systems when raters are assigned by system.

    python -m tests.coverage.rater_severity --out tests/coverage/rater_severity.csv

Each system has half of the raters, whose severity has a standard deviation of 10 points; in a share
`overlap` of the responses a rater of the other system replaces the own one (`swap`), or rates as
well (`double`). `spread` is the standard deviation of responses of the three systems around their
query, which the model takes as equal. Of an assignment that is by lot the report shows the plain
difference, otherwise the adjusted one; `plain` is the coverage of the plain one in every table.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.computation import t_quantile
from analysis.statistics.reliability.adjusted_systems import adjusted_systems
from tests.coverage.tables import options, write_rows

SEVERITY = 10.0
CELLS = tuple(
    product((30, 60), (4, 8), ("swap", "double"), (0.08, 0.2, 0.5), ((9, 9, 9), (3, 3, 20)))
)
FIELDS = (
    "queries", "raters", "kind", "overlap", "spread", "repetitions", "coverage", "width",
    "plain", "by_lot",
)  # fmt: skip


def ratings(
    rng: np.random.Generator,
    queries: int,
    raters: int,
    kind: str,
    overlap: float,
    spread: tuple[int, ...],
) -> FloatArray:
    """Ratings (queries * 3, raters) of three equally good systems, NaN where not rated."""
    half = raters // 2
    query, system = (place.ravel() for place in np.indices((queries, 3)))
    group = np.minimum(system, 1)
    assigned = (
        group * half
        + rng.permuted(np.tile(np.arange(queries) % half, (3, 1)), axis=1)[system, query]
    )
    other = (1 - group) * half + rng.integers(half, size=query.size)
    among = rng.permuted(np.tile(np.arange(queries) < round(overlap * queries), (3, 1)), axis=1)
    swapped = among[system, query]
    truth = 60 + rng.normal(0, 9, queries)[query]
    truth = truth + rng.normal(size=query.size) * np.asarray(spread)[system]
    values = truth[:, None] + rng.normal(0, SEVERITY, raters)
    values = values + rng.normal(0, 7, values.shape)
    rated = np.zeros(values.shape, dtype=bool)
    rows = np.arange(query.size)
    rated[rows, np.where(swapped & (kind == "swap"), other, assigned)] = True
    rated[rows[swapped], other[swapped]] = True
    return np.where(rated, values, np.nan)


def measured(repetitions: int) -> Iterator[dict[str, object]]:
    """A record for each cell."""
    for queries, raters, kind, overlap, spread in CELLS:
        rng = np.random.default_rng([queries, raters, round(100 * overlap), *spread])
        query, system = (place.ravel() for place in np.indices((queries, 3)))
        produced = system[:, None] == np.arange(3)
        covered, widths, plain, by_lot = [], [], [], 0
        for _ in range(repetitions):
            table = ratings(rng, queries, raters, kind, overlap, spread)
            by_query = np.nanmean(table, axis=1).reshape(queries, 3)
            apart = by_query[:, 0] - by_query[:, 2]
            reach = t_quantile(0.975, queries - 1) * apart.std(ddof=1) / np.sqrt(queries)
            plain.append(abs(apart.mean()) <= reach)
            adjusted = adjusted_systems(table, query, produced, queries, ("A", "B", "C"))
            if adjusted is None:
                by_lot += 1
                covered.append(plain[-1])
                widths.append(2 * reach)
                continue
            difference = adjusted.differences(np.array([0]), np.array([2]))
            covered.append(bool(difference.low[0] <= 0 <= difference.high[0]))
            widths.append(difference.high[0] - difference.low[0])
        yield dict(
            zip(
                FIELDS,
                (
                    queries, raters, kind, overlap, "-".join(map(str, spread)), repetitions,
                    round(float(np.mean(covered)), 4), round(float(np.median(widths)), 2),
                    round(float(np.mean(plain)), 4), by_lot,
                ),
                strict=True,
            )
        )  # fmt: skip


def main() -> None:
    arguments = options(__doc__, repetitions=300).parse_args()
    write_rows(arguments.out, measured(arguments.repetitions))


if __name__ == "__main__":
    main()
