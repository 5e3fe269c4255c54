"""Answers on a judge beside one rater at their thresholds: new studies, and the committed table."""

import csv

import pytest

from tests.coverage.one_rater import KINDS, SIZES, TABLE, answer


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["order", "grades", "level", "rates"])
def test_a_judge_at_its_threshold_seldom_gets_a_yes(kind: str) -> None:
    # Of 200 studies at .05, more than 20 have a yes once in 1,000 runs.
    found = [answer(kind, 100, number) for number in range(10_000, 10_200)]
    assert found.count("yes") <= 20


def test_committed_table_of_one_rater() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["kind"], int(row["responses"])) for row in rows] == [
        (kind, size) for kind in KINDS for size in SIZES
    ]
    for row in rows:
        studies, yes = int(row["studies"]), int(row["yes"])
        assert studies >= 1000
        if row["kind"].startswith("perfect"):
            assert yes == studies
        else:
            assert yes <= 0.065 * studies
