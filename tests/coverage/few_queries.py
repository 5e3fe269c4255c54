"""How often a statement on the order of responses is wrong where few queries were rated.

`python -m tests.coverage.few_queries` writes tests/coverage/few_queries.csv: 1,000 studies a cell,
2,000 from 60 queries on, some minutes. `better` is the share of studies in which a judge that
equals a rater in quality is called better (nominal .025), `non_inferior` that in which a judge
whose tau-b is below a rater's by exactly the margin passes (nominal .05); both for these raters,
`further_*` for raters like these.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.resampling import QueryResampling
from analysis.core.statistic import ORDER
from analysis.statistics.agreement.further_rater import beside_a_further_rater
from analysis.statistics.agreement.human_ceiling import HumanCeiling, human_ceiling

TABLE = Path(__file__).with_name("few_queries.csv")
QUERIES, RATERS, SYSTEMS = (10, 15, 20, 30, 60, 120), (3, 5), 4
#: From here on, where rates are near their level, there are twice as many studies.
MANY = 60
#: The judge's noise, as a share of a rater's: equal, and that of a judge at the margin.
EQUAL, WEAKER = 1.0, 1.3
POPULATION = 20_000


def study(
    rng: np.random.Generator, queries: int, raters: int, noise: float
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Ratings (n, raters), the judge (n,) and queries (n,) on 0 to 100 in steps of 5."""
    query = np.arange(queries * SYSTEMS) // SYSTEMS
    quality = 65 + 12 * rng.normal(size=queries)[query] + 15 * rng.normal(size=query.size)
    spread = 15 * np.append(np.ones(raters), noise)
    values = quality[:, None] + spread * rng.normal(size=(query.size, raters + 1))
    values = np.clip(5 * np.round(values / 5), 0, 100)
    return values[:, :raters], values[:, raters], query


def compared(rng: np.random.Generator, queries: int, raters: int, noise: float) -> HumanCeiling:
    """The judge beside a rater by tau-b within queries."""
    return human_ceiling(*study(rng, queries, raters, noise), "within_query", ORDER)


@cache
def margin(raters: int) -> float:
    """What the weaker judge's tau-b is below a rater's."""
    whole = compared(np.random.default_rng(1), POPULATION, raters, WEAKER).difference
    assert whole is not None
    return -whole.point


def cell(queries: int, raters: int, studies: int) -> dict[str, float | int]:
    """Shares of wrong statements."""
    resampling = QueryResampling(queries)
    one_sided = replace(resampling, level=2 * resampling.level - 1)
    wrong = dict.fromkeys(("better", "further_better", "non_inferior", "further_non_inferior"), 0)
    for number in range(studies):
        rng = np.random.default_rng((number, queries, raters))
        for noise, bound, used, name in (
            (EQUAL, 0.0, resampling, "better"),
            (WEAKER, -margin(raters), one_sided, "non_inferior"),
        ):
            ceiling = compared(rng, queries, raters, noise)
            assert ceiling.difference is not None
            wrong[name] += used.interval(ceiling.difference).low > bound
            wrong[f"further_{name}"] += beside_a_further_rater(ceiling, used).low > bound
    shares = {name: round(count / studies, 4) for name, count in wrong.items()}
    return {"queries": queries, "raters": raters, "studies": studies, **shares}


def main() -> None:
    """Simulate all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    studies = parser.parse_args().studies
    rows = []
    for queries, raters in product(QUERIES, RATERS):
        rows.append(cell(queries, raters, 2 * studies if queries >= MANY else studies))
        pd.DataFrame(rows).to_csv(TABLE, index=False)
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
