"""A fair judge that saturates favors no system; a favored system is named."""

import csv
from pathlib import Path

import pytest

from tests.coverage.favored_systems import Cell, cells, measured

pytestmark = pytest.mark.slow

TABLE = Path(__file__).with_name("favored_systems.csv")


@pytest.mark.parametrize("ceiling", [0.42, 0.49])
def test_a_fair_judge_that_saturates_favors_no_system(ceiling: float) -> None:
    """With a line in people's value, .85 and .98 of these studies named a system."""
    row = measured(Cell(ceiling, 10.0, 6, 60, 2, 0.0), 100)
    # 100 studies at .05 name a system more than 12 times once in 700.
    assert float(str(row["ungated"])) <= 0.12


def test_committed_table_of_favored_systems() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [tuple(row[name] for name in Cell._fields) for row in table] == [
        cell.key for cell in cells()
    ]
    fair = [row for row in table if float(row["favored"]) == 0]
    for row in fair:
        # 200 studies at .05 name a system in more than .11 once in 5,000.
        assert float(row["named"]) <= 0.11, row
    assert sum(float(row["named"]) for row in fair) / len(fair) <= 0.05
    for row in table:
        if float(row["favored"]) and float(row["ceiling"]) <= 0.42 and int(row["queries"]) == 60:
            assert float(row["first"]) >= 0.8, row
