"""False alarms and power of the signal of straight-lining: new campaigns, the committed table."""

import csv

import numpy as np
import pytest

from tests.coverage.straight_lining import KINDS, SIZES, TABLE, campaign, flagged


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_honest_raters_are_seldom_flagged(kind: str) -> None:
    # Of 100 campaigns at .05, more than 11 have a false alarm once in 100 runs.
    rng = np.random.default_rng(99)
    assert sum(any(flagged(campaign(rng, SIZES[0], KINDS[kind]))) for _ in range(100)) <= 11


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_who_turns_careless_after_a_third_is_found(kind: str) -> None:
    rng = np.random.default_rng(99)
    found = [flagged(campaign(rng, SIZES[0], KINDS[kind], slips=0.0))[0] for _ in range(50)]
    assert sum(found) >= 32


def test_committed_table_of_straight_lining() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sizes = [tuple(map(str, vars(size).values())) for size in SIZES]
    assert [(row["kind"], *list(row.values())[1:5]) for row in rows] == [
        (kind, *size) for kind in KINDS for size in sizes
    ]
    for row in rows:
        campaigns = int(row["campaigns"])
        assert campaigns >= 200
        assert int(row["false_alarm"]) <= 0.05 * campaigns, row
        assert int(row["found"]) >= 0.75 * campaigns, row
        if row["kind"] == "at_maximum":
            assert row["at_maximum"] == "0.85"
