"""The committed comparison with other packages is what the page on corrected scores states."""

from pathlib import Path

from tests.benchmarks.against_other_packages import SCORES, largest, narrower_rows, readme_row
from tests.coverage.corrected import LABELS
from tests.coverage.regimes import FAILURES
from tests.coverage.tables import read_rows

ROOT = Path(__file__).parents[2]
TABLE = read_rows(Path(__file__).with_name("against_other_packages.csv").resolve())
PAGE = (ROOT / "data/manual/reference/corrected_scores.md").read_text(encoding="utf-8")
FIGURES = [
    (scores, str(labels), what)
    for scores in SCORES
    for labels in LABELS
    for what in ("mean", "difference")
]


def of(figure: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Coverage and median width by way."""
    return {
        row["way"]: (float(row["coverage"]), float(row["median_width"]))
        for row in largest(TABLE)
        if (row["scores"], row["labels"], row["statistic"]) == figure
    }


def test_the_table_of_the_page() -> None:
    for scores in SCORES:
        for labels in LABELS:
            assert readme_row(TABLE, scores, labels) in PAGE


def test_figures_that_are_shown_cover() -> None:
    lowest = min(of(figure)["ours"][0] for figure in FIGURES)
    assert lowest >= 0.935
    assert f"lowest: {lowest:.3f}".replace("0.", ".") in PAGE
    for way, stated in (("weight one", "cje-eval's 23"), ("truescore", "truescore's 8")):
        sufficient = sum(
            covers >= 0.935
            for figure in FIGURES
            for name, (covers, _) in of(figure).items()
            if way in name
        )
        assert stated.endswith(f" {sufficient}")
        assert stated in PAGE


def test_how_often_another_package_is_narrower() -> None:
    rows = narrower_rows(TABLE)
    assert f"In {len(FIGURES) - len(rows)} of the {len(FIGURES)} no other package" in PAGE
    for row in rows.values():
        assert row in PAGE
    assert PAGE.count(" ± .") == len(rows)
    percent = {figure: float(row.split(" | ")[4]) for figure, row in rows.items()}
    usual = [share for figure, share in percent.items() if figure[0] != FAILURES]
    failing = [share for figure, share in percent.items() if figure[0] == FAILURES]
    assert f"in {len(usual)} one is narrower by up to {max(usual):.0f}%" in PAGE
    assert f"fail equally often by {min(failing):.0f}% to {max(failing):.0f}%" in PAGE
