"""False alarms and power of the signal of straight-lining: writes the committed table.

`python -m tests.coverage.straight_lining` simulates `--campaigns` campaigns a cell in which every
rater is honest, and as many in which the first rater turns careless after a third, and writes
tests/coverage/straight_lining.csv. Two raters rate each query. Campaigns with a flagged honest
rater, `false_alarm`, should be as rare as .05; `found` counts those whose careless rater is
flagged.

Honest values are query + response + construct + the rater's severity + error, normal, rounded to
steps and cut at 0 and 100. `kind` is where they lie: in the middle of the scale (`middle`), two
fifths of them at its maximum (`crowded`), 85% of them (`at_maximum`), 85% of them at a highest
value of each rater's own, from 85 to 100 (`own_maximum`), or on five points (`five_points`). The
careless rater gives 70 (75 of five points) on all constructs; `found_with_slips` counts those found
where 3% of these values stay honest.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.core.arrays import FloatArray
from annotate_ui.monitoring.constant_stretch import RatedResponses, constant_stretches

TABLE = Path(__file__).with_name("straight_lining.csv")
RATERS_A_QUERY = 2


@dataclass(frozen=True)
class Kind:
    """Where honest values lie: center, standard deviations of queries and raters, step."""

    center: float
    query: float = 18.0
    severity: float = 5.0
    step: float = 5.0
    careless: float = 70.0
    lowest_maximum: float = 100.0
    """No rater's highest value is lower; each has a highest value of their own."""


KINDS = {
    "middle": Kind(60),
    "crowded": Kind(92),
    "at_maximum": Kind(134, query=25, severity=8),
    "own_maximum": Kind(134, query=25, severity=8, lowest_maximum=85),
    "five_points": Kind(62, step=25, careless=75),
}


@dataclass(frozen=True)
class Size:
    """Raters and queries of a campaign, responses a query, and constructs."""

    raters: int
    queries: int
    responses: int
    constructs: int


#: In the first three, each rater has 8 queries.
SIZES = (
    Size(2, 8, 3, 5),
    Size(6, 24, 4, 5),
    Size(12, 48, 3, 5),
    Size(6, 60, 1, 5),
    Size(10, 120, 1, 5),
    Size(6, 30, 4, 1),
    Size(20, 200, 4, 5),
)


def campaign(
    rng: np.random.Generator, size: Size, kind: Kind, slips: float | None = None
) -> dict[int, RatedResponses]:
    """Draw the responses of each rater; the first one is careless unless `slips` is None."""
    shape = (size.queries, size.responses, size.constructs)
    truth = kind.center + rng.normal(0, kind.query, (size.queries, 1, 1))
    truth = truth + rng.normal(0, 18, (*shape[:2], 1)) + rng.normal(0, 12, shape)
    raters = {}
    for rater, mine in _queries(rng, size).items():
        query = np.repeat(rng.permutation(mine), size.responses)
        response = np.concatenate([rng.permutation(size.responses) for _ in mine])
        value = truth[query, response] + rng.normal(0, kind.severity)
        value = value + rng.normal(0, 9, value.shape)
        highest = rng.uniform(kind.lowest_maximum, 100)
        value = kind.step * np.round(np.clip(value, 0, highest) / kind.step)
        if slips is not None and rater == 0:
            value = _careless(rng, value, kind.careless, slips)
        raters[rater] = RatedResponses(query, value)
    return raters


def _queries(rng: np.random.Generator, size: Size) -> dict[int, list[int]]:
    """Give each query to the two raters who have the fewest."""
    mine: dict[int, list[int]] = {rater: [] for rater in range(size.raters)}
    for query in range(size.queries):
        order = sorted(rng.permutation(size.raters), key=lambda rater: len(mine[rater]))
        for rater in order[:RATERS_A_QUERY]:
            mine[int(rater)].append(query)
    return mine


def _careless(
    rng: np.random.Generator, honest: FloatArray, value: float, slips: float
) -> FloatArray:
    careless = rng.random(honest.shape) >= slips
    careless[: len(honest) // 3] = False
    return np.where(careless, value, honest)


def flagged(raters: dict[int, RatedResponses]) -> list[bool]:
    """Return whether each rater is flagged."""
    return [one.verdict == "flagged" for one in constant_stretches(raters).values()]


def cell(kind: str, size: Size, campaigns: int, seed: int) -> dict[str, object]:
    """Simulate a cell of the table."""
    rng = np.random.default_rng([seed, *(ord(letter) for letter in kind), *vars(size).values()])
    honest = [campaign(rng, size, KINDS[kind]) for _ in range(campaigns)]
    at_maximum = [np.mean(own.value == 100) for raters in honest for own in raters.values()]
    found = {
        slips: sum(flagged(campaign(rng, size, KINDS[kind], slips))[0] for _ in range(campaigns))
        for slips in (0.0, 0.03)
    }
    return {
        "kind": kind,
        **vars(size),
        "at_maximum": f"{np.mean(at_maximum):.2f}",
        "campaigns": campaigns,
        "false_alarm": sum(any(flagged(raters)) for raters in honest),
        "found": found[0.0],
        "found_with_slips": found[0.03],
    }


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.coverage.straight_lining")
    parser.add_argument("--campaigns", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rows = [cell(kind, size, given.campaigns, given.seed) for kind in KINDS for size in SIZES]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
