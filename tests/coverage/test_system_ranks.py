"""The committed table of places of systems, and one cell of it anew."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.coverage.system_ranks import CELLS, covered, quality, scores

pytestmark = pytest.mark.slow

TABLE = Path(__file__).with_name("system_ranks.csv")


def test_committed_table_of_system_ranks() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(CELLS)
    assert min(float(row["coverage"]) for row in table) >= 0.935


def test_equal_systems_have_every_place() -> None:
    rng = np.random.default_rng(0)
    means = quality(4, "equal")
    inside = [covered(scores(rng, 30, means, 0.0), means, seed)[0] for seed in range(200)]
    assert sum(inside) >= 178  # of 200 at .95, fewer once in 2,000
