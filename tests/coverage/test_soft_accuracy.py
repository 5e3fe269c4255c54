"""The committed table of differences in soft pairwise accuracy, and one cell of it anew."""

import pytest

from tests.coverage.soft_accuracy import CELLS, simulated
from tests.coverage.tables import read_rows

pytestmark = pytest.mark.slow


def test_committed_table_of_soft_accuracy() -> None:
    table = read_rows("soft_accuracy.csv")
    assert len(table) == len(CELLS)
    # The docstring of `soft_difference` states this range.
    assert min(float(row["coverage"]) for row in table) == pytest.approx(0.98, abs=0.005)


def test_the_interval_covers_the_expected_difference() -> None:
    values, ends = simulated(15, 4, "steps", "apart", 100)
    covered = (ends[:, 0] <= values.mean()) & (values.mean() <= ends[:, 1])
    assert covered.sum() >= 90  # of 100 at .98, fewer once in 10,000
