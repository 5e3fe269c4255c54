"""A small run of the simulation, and what the committed table must show."""

from pathlib import Path

import numpy as np
import pytest

from analysis.core.context import ENOUGH, MEASURED, QUERIES
from analysis.statistics.agreement.human_ceiling import human_ceiling
from analysis.topics.correction import composite
from tests.coverage.campaigns import Design, campaign
from tests.coverage.ceiling_cells import Ceiling, true_ceiling
from tests.coverage.cells import Cell, Panel, Population, Shared
from tests.coverage.composite_cells import Composite
from tests.coverage.shortfalls import crowded, used
from tests.coverage.simulation import cells, finished, write
from tests.coverage.tables import read_rows

pytestmark = pytest.mark.slow

TABLE = Path(__file__).with_name("coverage.csv")


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


def test_small_run_of_ceilings_and_composites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.coverage.ceiling_cells.POPULATION", 2_000)
    monkeypatch.setattr("tests.coverage.composite_cells.POPULATION_QUERIES", 20_000)
    design = Design(queries=30, raters=3, severity=3)
    rows = [*small(Ceiling, design).rows(), *small(Composite, design).rows()]
    # Rater, judge and two differences; three ways in two scopes, with two differences each.
    assert len(rows) == 4 + 10
    for row in rows:
        assert float(str(row["coverage"])) >= 48 / 60, row


def test_true_ceilings_are_those_of_the_report() -> None:
    design = Design(queries=60, raters=4, severity=3, bounded=True)
    drawn = campaign(design, np.array([-3.0, 0, 3, 0]), np.random.default_rng(5))
    ceiling = human_ceiling(
        drawn.ratings[:, :-1], drawn.judge, drawn.query, "within_query", "kendall_tau_b"
    )
    assert ceiling.judge is not None
    truth = true_ceiling(drawn)
    assert truth["human_ceiling"] == pytest.approx(ceiling.rater.point)
    assert truth["judge_against_others"] == pytest.approx(ceiling.judge.point)


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


def test_the_table_is_whole() -> None:
    wanted = cells(5000, 1000)
    assert list(finished(TABLE, wanted)) == [cell.key for cell in wanted]


def test_few_intervals_are_withheld() -> None:
    for row in used():
        if int(row["queries"]) >= 15:
            assert int(row["withheld"]) <= 0.1 * int(row["repetitions"]), row


def test_what_falls_short_is_named_in_the_report() -> None:
    short: dict[tuple[str, str], dict[int, float]] = {}
    panels = [row for row in used() if row["cell"].startswith("panel") and crowded(row)]
    assert {int(row["queries"]) for row in panels} == set(QUERIES)
    for row in panels:
        if float(row["coverage"]) < ENOUGH:
            statistic, _, variant = row["statistic"].partition(" ")
            short.setdefault((statistic, variant), {})[int(row["queries"])] = round(
                float(row["coverage"]), 2
            )
    assert short == MEASURED
    # Even then at least this much.
    assert min(min(by.values()) for by in short.values()) >= 0.9


def test_coverage_of_composites_that_the_report_prints() -> None:
    lowest: dict[tuple[str, str, bool], dict[int, float]] = {}
    rows = [row for row in used() if row["cell"].startswith("composite")]
    assert {int(row["queries"]) for row in rows} == set(composite.QUERIES)
    for row in rows:
        statistic, *_, scope = row["statistic"].split()
        of = lowest.setdefault((statistic, scope, crowded(row)), {})
        queries = int(row["queries"])
        of[queries] = min(of.get(queries, 1.0), float(row["coverage"]))
    short = {
        key: {queries: round(share, 2) for queries, share in of.items() if share < ENOUGH}
        for key, of in lowest.items()
    }
    assert {key: of for key, of in short.items() if of} == composite.MEASURED


def test_the_traps_are_as_bad_as_told() -> None:
    rows = [row for row in read_rows(TABLE) if row["target"] == "trap"]
    panels = [float(r["coverage"]) for r in rows if r["statistic"] == "bias pooled"]
    assert min(panels) < 0.4
    independent = {r["statistic"]: float(r["coverage"]) for r in rows if r["queries"] == "150"}
    assert independent["construct_correlation_average loading 0.9"] < 0.7
