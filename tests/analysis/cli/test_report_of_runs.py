"""A study judged by several runs, with a jury of them: what the commands say of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analysis.cli.doctor import doctor
from analysis.cli.report import report
from judge import judge_study
from study import Study
from study.cli.root import cli
from tests.analysis.pipeline.pages import VALIDATOR
from tests.judge.small_studies import Scripted, ScriptedSettings, fill

pytestmark = pytest.mark.usefixtures("without_drawing")

JURY = '[juries.jury]\nof = ["plain", "shuffled", "fenced"]\nby = "mean"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study judged by a scripted stand-in: the same prompt always gets the same score."""
    fresh = type("Fresh", (Scripted,), {"asked": []})
    monkeypatch.setattr("judge.running.session.load_engine", {"scripted": fresh}.__getitem__)
    study = Study.create(tmp_path / "mine", f'name = "Mine"\n{JURY}')
    fill(study, queries=8)
    for name, more in (
        ("plain", {"repeats": 2}),
        ("shuffled", {"shuffle_passages": 1}),
        ("fenced", {"prompts": "ccrs-paper-fenced-v1"}),
    ):
        settings: dict[str, Any] = {"name": name, "model": "m", **more}
        judge_study(study, ScriptedSettings(**settings))
    study.close()
    return study.folder


def test_the_report_says_what_moves_scores_and_of_whom_a_jury_consists(folder: Path) -> None:
    words = [str(folder), "--no-verify", "--resamples", "200"]
    result = CliRunner().invoke(report, words, prog_name="report")
    assert result.exit_code == 0, result.output
    assert "jury (judge): the mean of plain, shuffled and fenced" in result.stdout
    written = json.loads((folder / "report" / "report.json").read_text("utf-8"))
    VALIDATOR.validate(written)
    (jury,) = (entry for entry in written["scorers"] if entry["scorer"] == "jury")
    assert jury["derived_from"] == ["plain", "shuffled", "fenced"]

    def of(statistic: str) -> list[dict[str, Any]]:
        return [e for e in written["estimates"] if e["statistic"] == statistic]

    repeated = of("variance_between_runs")
    assert {e["params"]["differ"] for e in repeated} == {"nothing (repeats)"}
    assert {e["value"] for e in repeated} == {0}
    by = {e["params"]["differ"]: e for e in of("variance_between_judges")}
    assert set(by) == {"passage order", "prompts", "prompts + passage order"}
    assert by["prompts"]["value"] > 0
    # The jury is a judge everywhere, but no run of its own.
    assert "jury" in {e["scorers"][0] for e in of("mean")}
    stable = ("run_variance_share", "variance_between_runs", "flip_rate", "judge_agreement")
    assert not of("run_agreement")
    assert not [e for name in stable for e in of(name) if "jury" in e["scorers"]]
    page = (folder / "report" / "report.html").read_text("utf-8")
    assert "Judge stability" in page
    assert "the mean of plain, shuffled and fenced" in page
    assert "Whether plain would give the same scores again" not in page


def test_status_and_doctor_name_the_jury(folder: Path) -> None:
    status = CliRunner().invoke(cli, ["status", str(folder)])
    assert "jury: the mean of plain, shuffled and fenced." in " ".join(status.output.split())
    result = CliRunner().invoke(doctor, [str(folder)])
    assert "jury follows from the scores of plain, shuffled and fenced" in result.output
    record = json.loads(CliRunner().invoke(doctor, [str(folder), "--json"]).output)
    assert record["derived_from"] == {"jury": ["plain", "shuffled", "fenced"]}
