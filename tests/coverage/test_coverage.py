"""A small run of the simulation, and what the committed table must show."""

import csv
from pathlib import Path

import pytest

from analysis.core.context import ENOUGH, MEASURED, QUERIES
from analysis.core.resampling import PERCENTILE_FROM
from tests.coverage.campaigns import Design
from tests.coverage.cells import Cell, Panel, Population, Shared
from tests.coverage.simulation import cells, finished, write

pytestmark = pytest.mark.slow

TABLE = Path(__file__).with_name("coverage.csv")

#: Centered here, two thirds of the ratings are at the end of the scale.
CROWDED = 105.0

#: Below this the interval for raters like these reaches as far as the data force it to.
LEAST = {"raters_like_these": ENOUGH, "these_raters": ENOUGH, "none": ENOUGH}


def small(kind: type[Cell], design: Design) -> Cell:
    return kind(design, seed=1, repetitions=60, resamples=100)


def test_small_run_covers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.coverage.cells.POPULATION_QUERIES", 20_000)
    panel = small(Panel, Design(queries=20, raters=3, severity=3, bounded=True))
    population = small(Population, Design(queries=30, raters=3, severity=6))
    averaged = Shared(Design(20, 0, 0, missing=0), 1, 60, 100, loading=0.7)
    rows = [*panel.rows(), *population.rows(), *averaged.rows()]
    # The panel's 13 by the jackknife and 5 of them by the bootstrap, four and two of the others.
    assert len(rows) == 24
    for row in rows:
        # 60 repetitions at .95: fewer than 50 covered happens once in 2,000.
        if row["method"] != "percentile_bootstrap" and row["target"] != "trap":
            assert row["withheld"] == 0, row
            assert float(str(row["coverage"])) >= 50 / 60, row


def test_a_table_is_gone_on_with(tmp_path: Path) -> None:
    wanted = [Shared(Design(10, 0, 0, missing=0), 1, 5, 100, loading=x) for x in (0.0, 0.5)]
    out = tmp_path / "table.csv"
    write(out, wanted, {wanted[1].key: wanted[1].rows()})
    there = finished(out, wanted)
    assert list(there) == [wanted[1].key]
    write(out, wanted, there | {wanted[0].key: wanted[0].rows()})
    assert list(finished(out, wanted)) == [cell.key for cell in wanted]
    # Too few repetitions are computed anew.
    more = [Shared(Design(10, 0, 0, missing=0), 1, 6, 100, loading=0.0)]
    assert finished(out, more) == {}


def used() -> list[dict[str, str]]:
    """Rows of the intervals that reports use."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    few = {"jackknife_t": True, "percentile_bootstrap": False}
    return [
        row
        for row in rows
        if row["target"] != "trap"
        and few.get(row["method"], int(row["queries"]) < PERCENTILE_FROM)
        == (int(row["queries"]) < PERCENTILE_FROM)
    ]


def crowded(row: dict[str, str]) -> bool:
    return float(row["center"]) == CROWDED


def test_the_table_is_whole() -> None:
    wanted = cells(5000, 1000)
    assert list(finished(TABLE, wanted)) == [cell.key for cell in wanted]


@pytest.mark.parametrize("target", LEAST)
def test_committed_table(target: str) -> None:
    rows = [row for row in used() if row["target"] == target]
    assert rows
    for row in rows:
        assert int(row["repetitions"]) >= 5000
        assert int(row["withheld"]) <= 0.1 * int(row["repetitions"]), row
        if not crowded(row):
            assert float(row["coverage"]) >= LEAST[target], row


def test_what_falls_short_is_named_in_the_report() -> None:
    short: dict[tuple[str, str], dict[int, float]] = {}
    assert {int(row["queries"]) for row in used() if crowded(row)} == set(QUERIES)
    for row in used():
        if crowded(row) and float(row["coverage"]) < ENOUGH:
            statistic, _, variant = row["statistic"].partition(" ")
            short.setdefault((statistic, variant), {})[int(row["queries"])] = round(
                float(row["coverage"]), 2
            )
    assert short == MEASURED
    # Even then at least this much.
    assert min(min(by.values()) for by in short.values()) >= 0.9


def test_the_traps_are_as_bad_as_told() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["target"] == "trap"]
    panels = [float(r["coverage"]) for r in rows if r["statistic"] == "bias pooled"]
    assert min(panels) < 0.4
    independent = {r["statistic"]: float(r["coverage"]) for r in rows if r["queries"] == "150"}
    assert independent["construct_correlation_average loading 0.9"] < 0.7
