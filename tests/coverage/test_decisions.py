"""Answers on simulated studies: a few new ones, and what the committed table must show."""

from pathlib import Path

import pytest

from tests.coverage.decisions import KINDS, USES, counted, read

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "analysis" / "README.md"


@pytest.mark.parametrize("kind", KINDS)
def test_few_studies_have_a_false_yes(kind: str) -> None:
    # Of 5 studies at .05, 3 have one once in 800 runs.
    assert all(row["false_yes"] < 3 for row in counted(kind, 5000, 5).values())


def test_committed_table() -> None:
    page = README.read_text(encoding="utf-8")
    table = read()
    assert set(table) == {(kind, use) for kind in KINDS for use in USES}
    for row in table.values():
        assert row["studies"] >= 100
        assert row["false_yes"] <= 0.05 * row["studies"]
    for kind in KINDS:
        cells = [f"{table[kind, use]['yes'] / table[kind, use]['studies']:.2f}" for use in USES]
        assert all(cell.replace("0.", ".", 1) in page for cell in cells), kind
