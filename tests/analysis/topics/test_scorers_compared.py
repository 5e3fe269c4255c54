"""One table a construct: which scorer orders as people do, what it lacks and takes."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.analysis import Analysis, ReportInputs
from analysis.core.context import Context
from analysis.core.estimates import EstimateList
from analysis.pipeline.sections import headings
from analysis.topics.agreement import judge_and_metrics, scorers_compared
from analysis.topics.agreement.association import judge_against_humans
from tests.analysis.claimed import with_claims
from tests.analysis.topics.test_judge_and_metrics import POINTS, simulated

RUN = {
    "name": "judge",
    "account": {
        "account": {
            "answered": 240, "calls": 2, "unended": 0, "seconds": 61.0, "cost": 1.5, "unpriced": 0,
        },
        "tokens": {"prompt": 1000, "completion": 24},
    },
}  # fmt: skip


def analysed(metrics: dict[str, float], low: tuple[str, ...] = ()) -> Analysis:
    frame = simulated(4, 5, metrics, 60)
    for name in low:
        rows = frame["scorer"] == name
        frame.loc[rows, "value"] = 1 - frame.loc[rows, "value"]
    frame["source"] = np.where(frame["scorer_kind"] == "metric", "own", "imported")
    frame["missing_reason"] = None
    lacking = frame.index[frame["scorer"] == "f1"][:3]
    frame.loc[lacking, "value"] = np.nan
    frame.loc[lacking, "missing_reason"] = "no_reference"
    own = {(name, "QR"): Scale(0, 1) for name in metrics}
    table = ScoreTable.from_frame(frame, {"QR": POINTS}, own)
    of = Context(table, None, Options(resamples=100, low_is_good=low))
    estimates = EstimateList(
        (
            *judge_against_humans(of, ("kendall_tau_b",)),
            *judge_and_metrics.judges_minus_metrics(of),
        )
    )
    return with_claims(
        Analysis("", of, estimates, inputs=ReportInputs((RUN,)), headings=headings())
    )


def test_scorers_stand_in_one_table_the_best_first() -> None:
    analysis = analysed({"f1": 40, "hallucination": 12}, low=("hallucination",))
    [table] = scorers_compared.scorer_tables(analysis)
    assert [row[0].text for row in table.rows] == ["judge", "hallucination", "f1"]
    assert table.columns == (
        "Scorer", "tau-b", "judge minus it", "No value", "Calls", "Tokens", "Cost", "Time",
    )  # fmt: skip
    judge, hallucination, f1 = ([cell.text for cell in row] for row in table.rows)
    assert judge[2:] == ["", "", "240", "1,024", "1.50", "61.0 s"]
    assert f1[3:] == ["3 no reference", "0", "0", "0.00", ""]
    assert float(hallucination[1]) > 0
    # The difference is on the responses that both scored.
    assert float(hallucination[2]) == pytest.approx(
        float(judge[1]) - float(hallucination[1]), abs=0.011
    )


def test_the_cheapest_within_the_margin_of_the_best_is_named() -> None:
    [sentence] = scorers_compared.reading(analysed({"f1": 5.5, "bleu": 60}))
    assert sentence.startswith(
        "QR: of 3 scorers the cheapest within .10 of the best is f1 (tau-b ."
    )
    assert "; asks no judge); the best is judge (tau-b ." in sentence
    assert "; cost 1.50), " in sentence
    [alone] = scorers_compared.reading(analysed({"f1": 50}))
    assert alone.startswith("QR: of 2 scorers judge orders responses best (tau-b .")
    assert alone.endswith("none within .10 of the best is known to be cheaper.")


def test_without_metrics_there_is_no_table() -> None:
    analysis = analysed({"f1": 40})
    frame = analysis.scores.frame
    people = ScoreTable.from_frame(frame[frame["scorer"] != "f1"], {"QR": POINTS})
    without = Analysis("", Context(people, None, Options(resamples=100)), analysis.estimates)
    assert list(scorers_compared.scorer_tables(without)) == []
    assert list(scorers_compared.reading(without)) == []


def test_metrics_stand_in_that_table_and_not_in_all_others(tmp_path: Path) -> None:
    metrics = {f"metric{number}": 10.0 + number for number in range(9)}
    frame = simulated(4, 5, metrics, 30)
    frame.loc[frame["scorer_kind"] == "metric", "value"] *= 100
    words = []
    for name, rows in (("none", frame["scorer_kind"] != "metric"), ("nine", frame["value"] >= 0)):
        source, out = tmp_path / f"{name}.csv", tmp_path / name
        frame[rows].to_csv(source, index=False)
        script = Path(sys.executable).with_name("ccrs")
        options = ["--scale", "0:100", "--resamples", "100", "--no-verify", "--out", out]
        subprocess.run([script, "report", source, *options], check=True, capture_output=True)
        page = (out / "report.html").read_text(encoding="utf-8")
        shown = re.sub(r"<(script|style|svg)[\s\S]*?</\1>|<[^>]+>", " ", page)
        words.append(len(shown.split()))
        assert ("Judges and metrics on QR, the best first" in shown) == (name == "nine")
    assert words[1] - words[0] <= 1500
    listed = (tmp_path / "nine" / "tables" / "judge-against-people.csv").read_text(encoding="utf-8")
    assert "metric8" in listed
