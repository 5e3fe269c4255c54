import re
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, analyse, write_report
from analysis.core.analysis import Analysis
from analysis.render.section import Chapter, chapter
from analysis.topics.reliability import section
from tests.analysis.scores import POINTS, simulated, table
from tests.analysis.topics.test_reliability import DEGENERATE

QUICK = Options(resamples=200)


def shown(frame: pd.DataFrame, scale: Scale | None = POINTS) -> tuple[Analysis, Chapter | None]:
    analysis = analyse(table(frame, scale), options=QUICK)
    return analysis, chapter(section.SECTION, analysis)


def severe(frame: pd.DataFrame) -> pd.DataFrame:
    """Rater 2 gives 12 points less."""
    chosen = frame["scorer"] == "rater-2"
    return frame.assign(value=frame["value"].sub(12).where(chosen, frame["value"]).clip(0))


def test_the_section_says_who_stands_apart_and_how_many_raters_would_do() -> None:
    _, result = shown(severe(simulated(queries=40, constructs=("QR", "AC"), missing=0.1)))
    assert result is not None
    text = " ".join(result.reading)
    assert "Reliability of a single rating, ICC(A,1): QR ." in text
    assert "A mean with a reliability of .80 needs this many raters:" in text
    assert "the others on the same responses is rater-2 on" in text
    assert "9 points more severe than the panel." in text
    assert "Part of the disagreement is severity:" in text
    assert [figure.key for figure in result.figures] == [
        "severities", "reliability-of-means", "designs",
    ]  # fmt: skip
    assert all(len(figure.drawings) == 2 for figure in result.figures)
    keys = [entry.key for entry in result.tables]
    assert keys == [
        "human-reliability", "human-agreement", "raters", "variance-components", "designs",
    ]  # fmt: skip
    raters = result.tables[2]
    assert "Severity" in raters.columns
    assert "Drift" not in raters.columns
    row = next(row for row in raters.rows if row[1].text == "rater-2" and row[0].text == "QR")
    assert float(row[raters.columns.index("Severity")].text) == pytest.approx(-8, abs=1.5)


def test_scales_of_few_levels_have_their_columns() -> None:
    frame = simulated(queries=30)
    frame["value"] = np.clip(np.round(frame["value"] / 20), 1, 5)
    _, result = shown(frame, Scale(1, 5, 1, "ordinal"))
    assert result is not None
    columns = result.tables[1].columns
    assert {"Fleiss", "Gwet's AC1", "Gwet's AC2", "Brennan-Prediger"} <= set(columns)
    _, wide = shown(simulated(queries=30))
    assert wide is not None
    assert "Gwet's AC1" not in wide.tables[1].columns


def test_one_rater_makes_no_comparison() -> None:
    _, result = shown(simulated(raters=1))
    # No agreement between people is defined, so there is no section of it.
    assert result is None


SLOW = {"200 systems", "70 raters"}


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        # Each on a declared scale or on none, in turn.
        pytest.param(name, scale, id=name, marks=pytest.mark.slow if name in SLOW else ())
        for name, scale in zip(DEGENERATE, cycle((POINTS, None)), strict=False)
    ],
)
def test_degenerate_tables_are_reported(name: str, scale: Scale | None, tmp_path: Path) -> None:
    analysis = analyse(table(DEGENERATE[name], scale), options=QUICK)
    page = write_report(analysis, tmp_path / "report").read_text(encoding="utf-8")
    for figure in re.findall(r"<svg .*?</svg>", page, re.S):
        # A browser drops a shape that has a coordinate which is not a number.
        assert not re.search(r"[\s\"(,-](nan|inf)[\s\"),]", figure)
    assert 'id="verdict"' in page


@pytest.mark.usefixtures("without_drawing")
@pytest.mark.parametrize(
    ("change", "scale"),
    [
        (lambda v: v / 100, Scale(0, 1)),
        (lambda v: 1 + np.round(v / 25), Scale(1, 5, 1, "ordinal")),
        (lambda v: v / 10, Scale(0, 10)),
    ],
    ids=["0 to 1", "1 to 5", "0 to 10"],
)
def test_reliability_is_reported_on_every_kind_of_scale(
    change: Callable[["pd.Series[float]"], "pd.Series[float]"], scale: Scale, tmp_path: Path
) -> None:
    frame = simulated(queries=20, missing=0.2)
    analysis = analyse(table(frame.assign(value=change(frame["value"])), scale), options=QUICK)
    write_report(analysis, tmp_path / "report")
