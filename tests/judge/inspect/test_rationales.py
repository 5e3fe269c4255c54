"""A judge's reasons from its answers to the report: shown, exported, read back."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from judge import export_run, judge_study, show_response
from judge.engines.files.answer_cells import FIELDS
from judge.protocol.exchange import Answer
from study import Study
from study.cli.root import cli
from study.importing.file_import import import_file
from tests.judge.small_studies import Scripted, ScriptedSettings

pytestmark = pytest.mark.usefixtures("without_drawing")

ANSWER = "It says <b>so</b>, \u202eesrever.\nTwice.\nScore: {}"


def with_reason(prompt: str) -> Answer:
    """Give the answers on IR a reason, and the others a bare number."""
    return Answer(ANSWER.format(90) if "Information Recall" in prompt else "40")


@pytest.fixture
def reasoned(campaign: Study, scripted: type[Scripted]) -> Study:
    scripted.answer = staticmethod(with_reason)
    judge_study(campaign, ScriptedSettings(name="j", prompts="ccrs-rationale-v1"))
    return campaign


def test_shown_with_the_response(reasoned: Study) -> None:
    with reasoned.read() as connection:
        key = str(connection.exec_driver_sql("SELECT key FROM response LIMIT 1").scalar_one())
    shown = show_response(reasoned, "j", key)
    of = {construct.construct: construct.judgments[0]["reason"] for construct in shown.constructs}
    assert of.pop("IR") == "It says <b>so</b>, \u202eesrever.\nTwice."
    assert set(of.values()) == {None}
    text = "\n".join(shown.lines())
    assert "its reason:" in text
    assert "It says <b>so</b>, \\u202eesrever." in text
    assert "\u202e" not in text


def test_exported_in_a_column_that_recordings_know(reasoned: Study, tmp_path: Path) -> None:
    export_run(reasoned, "j", tmp_path / "run.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text("utf-8").splitlines()]
    assert {row["reason"] for row in rows if row["construct"] == "IR"} == {
        "It says <b>so</b>, \u202eesrever.\nTwice."
    }
    assert {row["reason"] for row in rows if row["construct"] != "IR"} == {None}
    assert {row["rule"] for row in rows if row["construct"] == "IR"} == {"last_line"}
    assert set(rows[0]) <= set(FIELDS)


def test_in_the_report_of_the_study(reasoned: Study, tmp_path: Path) -> None:
    """From the command alone: reasons, what the run was made with, and its call."""
    with reasoned.read() as connection:
        keys = connection.exec_driver_sql("SELECT key FROM response ORDER BY id").scalars().all()
    with (tmp_path / "ratings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["response_id", "construct", "scorer", "scorer_kind", "value"])
        for number, key in enumerate(keys):
            for rater in ("ann", "ben"):
                for construct in ("IR", "QR"):
                    writer.writerow([key, construct, rater, "human", 10 + number])
    import_file(reasoned, tmp_path / "ratings.csv")
    out = tmp_path / "report"
    words = ["report", str(reasoned.folder), "--out", str(out), "--no-verify"]
    done = CliRunner().invoke(cli, [*words, "--resamples", "100"])
    assert done.exit_code == 0, done.output
    written = json.loads((out / "report.json").read_text(encoding="utf-8"))
    reasons = {
        response["construct"]: response["reason"] for response in written["largest_disagreements"]
    }
    assert reasons == {"IR": "It says <b>so</b>, \u202eesrever.\nTwice.", "QR": None}
    (run,) = written["provenance"]["judge_runs"]
    assert run["prompt_version"] == "ccrs-rationale-v1"
    assert [call["ended"] for call in run["account"]["calls"]] == ["done"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "It says &lt;b&gt;so&lt;/b&gt;, \\u202eesrever. Twice." in page
    assert "How the judge was run" in page
