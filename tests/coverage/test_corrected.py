"""A small run of the simulation of corrected means, and what the committed table must show."""

from pathlib import Path

import pytest

from analysis.topics.correction.unseen_failures import COVERS
from tests.coverage import regimes
from tests.coverage.corrected import CEILINGS, LABELS, Cell, rows
from tests.coverage.tables import read_rows

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("cell", [Cell(15, 0.78), Cell(30, 0.4)])
def test_small_run_covers(cell: Cell) -> None:
    for row in rows(cell, repetitions=80):
        # 80 repetitions at .95: fewer than 68 covered happens once in 3,000.
        if row["way"] == "report":
            assert float(str(row["coverage"])) >= 68 / 80, row


def test_committed_table_of_corrected_means() -> None:
    table = [row for row in read_rows("corrected.csv") if row["way"] == "report"]
    cells = [
        (int(r["labels"]), float(r["ceiling"]), r["statistic"])
        for r in table
        if float(r["failures"]) == 0
    ]
    assert sorted(cells) == sorted(
        (labels, ceiling, what)
        for labels in LABELS
        for ceiling in CEILINGS
        for what in ("mean", "difference")
    )
    for row in table:
        assert int(row["repetitions"]) >= 5000
        assert int(row["withheld"]) <= 100, row
        if float(row["failures"]) == 0:
            assert float(row["coverage"]) >= 0.935, row


def test_failures_that_the_judge_does_not_see() -> None:
    """The report states what an interval covers with them, where no rated response shows one."""
    table = [row for row in read_rows("corrected.csv") if float(row["failures"]) > 0]
    used = {
        (int(r["labels"]), r["statistic"]): float(r["coverage"])
        for r in table
        if r["way"] == "report"
    }
    assert sorted(used) == sorted((n, what) for n in LABELS for what in ("difference", "mean"))
    for (labels, what), covers in used.items():
        if what == "mean" and labels in COVERS:
            assert round(covers, 2) == COVERS[labels]
        else:
            assert covers >= 0.935


#: No data show these failures.
UNSEEN = ("12", "unrelated", "failures", "mean")


def test_committed_table_of_regimes() -> None:
    page = (ROOT / "data/manual/reference/corrected_scores.md").read_text(encoding="utf-8")
    table = [row for row in read_rows("regimes.csv") if row["way"] == "report"]
    assert {(r["labels"], r["judge"], r["scores"]) for r in table} == {
        regime.key for regime in regimes.regimes()
    }
    for row in table:
        assert int(row["repetitions"]) >= 1000
        place = (row["labels"], row["judge"], row["scores"], row["statistic"])
        assert (float(row["coverage"]) >= 0.935) == (place != UNSEEN), row
        assert f"{float(row['coverage']):.3f}".lstrip("0") in page, row


@pytest.mark.parametrize(("labels", "judge", "scores"), [(239, "fair", "40%"), (12, "close", "0%")])
def test_a_regime_covers(labels: int, judge: str, scores: str) -> None:
    for row in regimes.rows(regimes.Regime(labels, judge, scores), repetitions=80):
        assert float(str(row["coverage"])) >= 68 / 80, row
