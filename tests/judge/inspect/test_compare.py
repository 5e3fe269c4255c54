"""Two runs compared: what differs in how they were made, and how scores moved."""

import json

import pytest
from click.testing import CliRunner

from judge import compare_runs, judge_study
from judge.protocol.exchange import Answer
from study import Study, StudyError
from study.cli.root import cli
from tests.judge.small_studies import Scripted, ScriptedSettings, always


@pytest.fixture
def judged(campaign: Study, scripted: type[Scripted]) -> Study:
    """A study with a run by the paper's words and one by fenced ones, 5 points more lenient."""
    for name, prompts, value in (("a", "ccrs-paper-v1", "60"), ("b", "ccrs-paper-fenced-v1", "65")):
        scripted.answer = always(Answer(value))
        judge_study(campaign, ScriptedSettings(name=name, prompts=prompts))
    return campaign


def test_what_makes_two_runs_is_named(judged: Study) -> None:
    comparison = compare_runs(judged, "a", "b")
    assert [condition.name for condition in comparison.conditions] == [
        "prompt_version",
        "prompt_hash",
    ]
    assert (comparison.conditions[0].first, comparison.conditions[0].second) == (
        "ccrs-paper-v1",
        "ccrs-paper-fenced-v1",
    )
    assert comparison.other == ()
    assert "  prompt_version: ccrs-paper-v1 | ccrs-paper-fenced-v1" in comparison.lines()


def test_unknown_runs_and_one_run_twice_are_refused(judged: Study) -> None:
    with pytest.raises(StudyError, match="no run 'c'"):
        compare_runs(judged, "a", "c")
    with pytest.raises(StudyError, match="can't be compared with itself"):
        compare_runs(judged, "a", "a")


def test_the_command_reports_how_scores_moved(judged: Study) -> None:
    words = ["judge", "compare", str(judged.folder), "a", "b"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "a and b differ in:" in done.output
    assert "mean shift +5.00" in done.output
    comparison = json.loads(CliRunner().invoke(cli, [*words, "--json"]).output)
    by_construct = {entry["construct"]: entry for entry in comparison["scores"]}
    assert by_construct["QR"]["shift"]["value"] == 5
    assert [entry["name"] for entry in comparison["conditions"]] == [
        "prompt_version",
        "prompt_hash",
    ]


def test_scores_on_other_scales_are_not_compared(judged: Study) -> None:
    settings = judged.folder / "study.toml"
    scorer_settings = '\n[scorers."b"]\nscale = { min = 0, max = 200 }\n'
    settings.write_text(settings.read_text() + scorer_settings)
    done = CliRunner().invoke(cli, ["judge", "compare", str(judged.folder), "a", "b"])
    assert isinstance(done.exception, StudyError)
    assert "'a' and 'b' have different scales" in str(done.exception)


def test_runs_without_a_common_construct_are_reported(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = always(Answer("60"))
    for name, construct in (("a", "QR"), ("b", "CC")):
        # Another temperature is another run.
        warmth = 0.0 if name == "a" else 1.0
        judge_study(
            campaign, ScriptedSettings(name=name, constructs=(construct,), temperature=warmth)
        )
    done = CliRunner().invoke(cli, ["judge", "compare", str(campaign.folder), "a", "b"])
    assert isinstance(done.exception, StudyError)
    assert "no construct in common" in str(done.exception)
