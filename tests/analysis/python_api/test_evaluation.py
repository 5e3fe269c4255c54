"""`import ccrs_study as ccrs; ccrs.evaluate(...)`: a judge compared with people in one line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ccrs_study as ccrs
from analysis.pipeline.estimation import analyse
from analysis.render.verdicts import verdicts

N = 90


@pytest.fixture(scope="module")
def wide() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    quality = rng.normal(60, 15, N)

    def scored(shift: float) -> np.ndarray:
        return np.clip(quality + shift + rng.normal(0, 10, N), 0, 100).round()

    table = pd.DataFrame({"question": np.repeat(np.arange(N // 3), 3), "model": [*"ABC"] * 30})
    return table.assign(llm=scored(8), anna=scored(0), ben=scored(0))


@pytest.fixture(scope="module")
def result(wide: pd.DataFrame) -> ccrs.Evaluation:
    return ccrs.evaluate(
        wide, "llm", ["anna", "ben"], query="question", system="model", scale=(0, 100), seed=5
    )


def test_figures_are_those_of_the_same_table_in_long_format(
    wide: pd.DataFrame, result: ccrs.Evaluation
) -> None:
    long = wide.melt(["question", "model"], ["llm", "anna", "ben"], "scorer", ignore_index=False)
    long = long.rename_axis("response_id").reset_index()
    long = long.rename(columns={"question": "query_id", "model": "system"}).assign(
        response_id=lambda rows: [f"row {n + 1}" for n in rows["response_id"]],
        construct="score",
        scorer_kind=lambda rows: np.where(rows["scorer"] == "llm", "judge", "human"),
    )
    scores = ccrs.ScoreTable.from_frame(long, {"score": ccrs.Scale(0, 100)})
    analysis = analyse(scores, options=ccrs.Options(seed=5))
    assert [e.as_json() for e in result.analysis.estimates] == [
        e.as_json() for e in analysis.estimates
    ]
    assert verdicts(analysis)[0].sentence in result.verdict


def test_a_long_table_needs_no_names(wide: pd.DataFrame) -> None:
    long = pd.DataFrame(
        {
            "response_id": [f"r{n}" for n in range(N)] * 2,
            "query_id": [f"q{n}" for n in wide["question"]] * 2,
            "construct": "QR",
            "scorer": ["llm"] * N + ["anna"] * N,
            "scorer_kind": ["judge"] * N + ["human"] * N,
            "value": [*wide["llm"], *wide["anna"]],
        }
    )
    first, *_, last, note = ccrs.evaluate(long).verdict.splitlines()
    assert first == "llm compared with anna: 90 responses to 30 queries; scale 0 to 100."
    assert last.startswith("QR: ")
    assert note.startswith("Note: no scale is declared; the values look as if")


def test_the_table_of_figures_has_a_row_for_each(result: ccrs.Evaluation) -> None:
    frame = result.to_frame()
    assert len(frame) == len(result.analysis.estimates)
    bias = frame[(frame["statistic"] == "bias") & (frame["scope"] == "pooled")]
    assert bias["value"].between(4, 12).all()


@pytest.mark.usefixtures("without_drawing")
def test_decisions_are_those_of_the_report(result: ccrs.Evaluation, tmp_path: Path) -> None:
    page = result.report(tmp_path / "report")
    written = json.loads(page.with_name("report.json").read_text())["decisions"]
    assert result.decisions == written
    assert {record["use"] for record in written} == {
        "rank_systems",
        "rank_all_systems",
        "choose_between_responses",
        "order_responses",
        "report_level",
        "replace_rater",
    }


@pytest.mark.usefixtures("without_drawing")
def test_an_evaluation_is_shown_plotted_and_written(
    result: ccrs.Evaluation, tmp_path: Path
) -> None:
    assert len(result.plot().axes) == 1
    shown = result._repr_html_()
    assert "<ul><li>score: " in shown
    assert "<p>llm compared with 2 raters (anna and ben): 90 responses to 30 queries" in shown
    assert "<th>Choose between two responses</th>" in shown
    folded = result.report(tmp_path / "report")
    assert folded.name == "report.html"
    assert "<details open" not in folded.read_text("utf-8")
    full = result.report(tmp_path / "full", full=True).read_text("utf-8")
    assert full.count("<details") == full.count("<details open")
    assert json.loads((tmp_path / "report" / "report.json").read_text())["estimates"]


def test_text_of_the_table_is_no_markup(wide: pd.DataFrame) -> None:
    renamed = wide.rename(columns={"llm": "<b>llm</b>"})
    shown = ccrs.evaluate(renamed, "<b>llm</b>", "anna", title="<script>")._repr_html_()
    assert "<b>llm" not in shown
    assert "<script>" not in shown


def test_one_of_the_two_alone_is_an_error(wide: pd.DataFrame) -> None:
    with pytest.raises(TypeError, match="both judge and human"):
        ccrs.evaluate(wide, judge="llm")


def test_every_public_name_can_be_imported() -> None:
    assert all(hasattr(ccrs, name) for name in ccrs.__all__)


SCRIPT = "import ccrs_study as ccrs; print(ccrs.Study.__module__, ccrs.Scale.__module__)"


def test_a_users_files_named_as_the_packages_hide_nothing(tmp_path: Path) -> None:
    script = tmp_path / "analysis.py"
    script.write_text(SCRIPT)
    (tmp_path / "study.py").write_text("raise AssertionError")
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "study.study study.base.scales", ran.stderr


def test_a_package_of_that_name_that_is_imported_first_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "study.py").write_text("")
    (tmp_path / "main.py").write_text(f"import study; {SCRIPT}")
    ran = subprocess.run(
        [sys.executable, tmp_path / "main.py"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "is imported as 'study', the name of a package of ccrs-study" in ran.stderr
