"""A small run of the simulation, and what the committed table must show."""

import csv
from pathlib import Path

import pytest

from analysis.resampling import PERCENTILE_FROM
from tests.coverage.simulation import Design, cover_raters_like_these, cover_these_raters

TABLE = Path(__file__).with_name("coverage.csv")


def test_small_run_covers() -> None:
    panel = Design(queries=20, raters=3, severity=3, bounded=True)
    rows = cover_these_raters(panel, repetitions=60, resamples=100, seed=1)
    population = Design(queries=30, raters=3, severity=6)
    rows += cover_raters_like_these(population, repetitions=60, seed=1)
    assert len(rows) == 22
    for row in rows:
        # 60 repetitions at .95: fewer than 50 covered happens once in 2,000.
        if row["method"] != "percentile_bootstrap":
            assert row["withheld"] == 0, row
            assert row["coverage"] >= 50 / 60, row


@pytest.mark.parametrize("target", ["these_raters", "raters_like_these"])
def test_committed_table(target: str) -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["target"] == target]
    assert rows
    for row in rows:
        assert int(row["repetitions"]) >= 1000
        percentile = row["method"] == "percentile_bootstrap"
        if percentile and int(row["queries"]) < PERCENTILE_FROM:
            continue
        # What reports use: at least .93 (Monte Carlo error .007).
        assert float(row["coverage"]) >= 0.93, row
