"""Studies without effects: a small simulation, and what the committed table must show."""

from pathlib import Path

import pytest

from tests.coverage.null_studies import KINDS, counted, read

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "analysis" / "README.md"


@pytest.mark.parametrize("kind", KINDS)
def test_few_studies_have_a_false_claim(kind: str) -> None:
    # Of 10 studies at .05, 4 have one once in a thousand runs.
    assert counted(kind, first=5000, studies=10)["false"] < 4


def test_committed_table() -> None:
    page = README.read_text(encoding="utf-8")
    table = read()
    assert tuple(table) == KINDS
    for kind, row in table.items():
        assert row["studies"] >= 100
        assert row["false"] <= 0.05 * row["studies"], kind
        for count in ("false", "uncorrected"):
            share = f"{row[count] / row['studies']:.3f}".lstrip("0")
            assert f"{share} |" in page, (kind, count)
