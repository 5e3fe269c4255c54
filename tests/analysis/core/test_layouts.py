"""Ratings of two layouts are never pooled: one is taken, and the other is counted."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from analysis import AnalysisError, Options, Scale, ScoreTable, TableError, analyse
from analysis.cli.report import report
from analysis.core.layouts import select_layout, values_by_layout


def frame(side_by_side: int = 4, queries: int = 10) -> pd.DataFrame:
    """A response of each of two systems to each query; the last queries side by side."""
    draw = np.random.default_rng(1)
    rows = []
    for q in range(queries):
        layout = "side_by_side" if q >= queries - side_by_side else "single"
        for system in "AB":
            quality = draw.uniform(20, 80)
            for scorer, kind in (("anna", "human"), ("ben", "human"), ("judge", "judge")):
                rows.append(
                    {
                        "response_id": f"r{q}{system}",
                        "query_id": f"q{q}",
                        "system": system,
                        "construct": "QR",
                        "scorer": scorer,
                        "scorer_kind": kind,
                        "value": round(quality + draw.normal(0, 8), 1),
                        "layout": layout if kind == "human" else None,
                    }
                )
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame) -> ScoreTable:
    return ScoreTable.from_frame(rows, {"QR": Scale(0, 100)})


def test_the_layout_with_more_values_is_taken_and_the_other_counted() -> None:
    scores = table(frame())
    assert values_by_layout(scores) == {"single": 24, "side_by_side": 16}
    taken, message = select_layout(scores)
    assert values_by_layout(taken) == {"single": 24}
    assert message is not None
    assert "24 values" in message
    assert "16 with" in message
    # What the judge says of the others stays.
    assert len(taken.frame) == len(scores.frame) - 16
    analysis = analyse(scores, options=Options(resamples=100))
    assert analysis.warnings[0] == message
    rated = analysis.rated["QR"]
    assert np.isfinite(rated.ratings).sum() == 24


def test_the_other_one_is_taken_where_it_is_asked_for() -> None:
    taken, message = select_layout(table(frame()), "side_by_side")
    assert values_by_layout(taken) == {"side_by_side": 16}
    assert message is not None
    assert "--layout single" in message


def test_one_layout_or_none_is_left_as_it_is() -> None:
    for rows in (frame(0), frame().drop(columns="layout"), frame().assign(layout=None)):
        scores = table(rows)
        assert select_layout(scores) == (scores, None)
    assert "layout" not in table(frame().assign(layout=None)).frame
    assert select_layout(table(frame(0)), "single")[1] is None


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(AnalysisError, match="there are 20 single"):
        select_layout(table(frame(5, 10).query("layout != 'side_by_side'")), "side_by_side")
    with pytest.raises(TableError, match="layout is 'sideways'"):
        table(frame().assign(layout="sideways"))


def test_values_without_a_layout_stay_with_either() -> None:
    rows = frame()
    rows.loc[(rows["scorer"] == "ben"), "layout"] = None
    taken, message = select_layout(table(rows))
    assert values_by_layout(taken) == {"single": 12}
    assert (taken.frame["scorer"] == "ben").sum() == 20
    assert message is not None


def test_the_report_says_it_at_its_top(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    frame().to_csv(path, index=False)
    passed = [str(path), "--scale", "0:100", "--resamples", "100", "--no-verify"]
    done = CliRunner().invoke(report, [*passed, "--layout", "side_by_side"])
    assert done.exit_code == 0, done.output
    assert "16 values with responses to a query side by side" in done.output
    page = (tmp_path / "scores-report" / "report.html").read_text(encoding="utf-8")
    assert page.index("not pooled") < page.index('class="verdict')
    assert page.count("not pooled") == 1
    assert '"layout": "side_by_side"' in (tmp_path / "scores-report" / "report.json").read_text()
