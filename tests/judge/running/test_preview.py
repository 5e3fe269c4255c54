import json
from pathlib import Path

import pytest

from judge import OpenAISettings, judge_study, preview
from study import Study, StudyError
from tests.judge.small_studies import Scripted, ScriptedSettings, fill


def test_a_preview_counts_what_a_run_asks(any_study: Study, scripted: type[Scripted]) -> None:
    fill(any_study)
    for settings, run in (
        (ScriptedSettings(), None),
        (ScriptedSettings(systems=("A", "B"), constructs=("QR", "AC")), "scripted"),
    ):
        expected = preview(any_study, settings)
        assert expected.run == run
        outcome = judge_study(any_study, settings.model_copy(update={"name": None, "repeats": 1}))
        assert outcome.judged >= 0
    first = preview(any_study, ScriptedSettings(model="other"))
    assert first.prompts == {"CC": 12, "ID": 12, "AC": 12, "IR": 12, "QR": 9}
    assert first.postponed == 0
    assert len(scripted.asked) == 57


def test_nothing_is_asked_or_stored(campaign: Study, scripted: type[Scripted]) -> None:
    before = (campaign.folder / "study.db").read_bytes()
    shown = preview(campaign, ScriptedSettings(model="m"))
    assert (campaign.folder / "study.db").read_bytes() == before
    assert not scripted.asked
    assert shown.example is not None
    assert shown.example.startswith("Evaluate the")
    assert shown.lines()[-1] == "No prompt was sent and nothing was written."


def test_tokens_are_estimated_from_the_prompts_length(
    campaign: Study, scripted: type[Scripted]
) -> None:
    shown = preview(campaign, ScriptedSettings(model="m"))
    judge_study(campaign, ScriptedSettings())
    real = sum(len(request.prompt.encode()) for request in scripted.asked) / 4
    assert shown.prompt_tokens == pytest.approx(real, rel=0.02)


def test_limit_price_and_window(campaign: Study) -> None:
    limited = preview(campaign, ScriptedSettings(model="m", limit=10, price=(3.0, 15.0)))
    assert sum(limited.prompts.values()) == 10
    assert limited.postponed == 47
    assert limited.cost == pytest.approx((limited.prompt_tokens * 3 + 160 * 15) / 1e6, rel=0.05)
    too_long = preview(campaign, ScriptedSettings(model="m", window=100)).too_long
    assert too_long is not None
    assert "AC of q1/A" in too_long


def test_the_cost_of_a_model_that_may_reason_is_a_range(campaign: Study) -> None:
    settings = OpenAISettings(model="m", limit=10, price=(3.0, 15.0), reasoning_tokens=1000)
    shown = preview(campaign, settings)
    assert (shown.answer_tokens, shown.reasoning_tokens) == (160, 10_000)
    assert shown.cost is not None
    assert shown.cost_if_reasoning == pytest.approx(shown.cost + 10_000 * 15 / 1e6)
    lines = shown.lines()
    expected = "Answer tokens: at most 160, or 10,160 if the model reasons before it answers"
    assert expected in lines
    cost, highest = f"{shown.cost:,.2f}", f"{shown.cost_if_reasoning:,.2f}"
    reasons = "if the model reasons before it answers"
    assert f"Cost: about {cost}, or up to {highest} {reasons}" in lines
    never = preview(campaign, settings.model_copy(update={"reasoning_tokens": 0}))
    assert never.cost_if_reasoning is None
    assert f"Cost: about {cost}" in never.lines()


def test_an_existing_run_is_continued(campaign: Study, scripted: type[Scripted]) -> None:
    judge_study(campaign, ScriptedSettings(limit=20, name="mine"))
    shown = preview(campaign, ScriptedSettings(name="mine"))
    assert shown.run == "mine"
    assert sum(shown.prompts.values()) == 37
    assert len(scripted.asked) == 20


def test_an_unknown_system_is_refused_as_in_a_run(campaign: Study) -> None:
    with pytest.raises(StudyError, match="system 'Z'"):
        preview(campaign, ScriptedSettings(model="m", systems=("Z",)))


def test_on_the_command_line(campaign: Study, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from study.cli.root import cli

    words = ["judge", str(campaign.folder), "--model", "m", "--dry-run", "--constructs", "QR,AC"]
    done = CliRunner().invoke(cli, [*words, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["prompts"] == {"AC": 12, "QR": 9}
    done = CliRunner().invoke(cli, [*words, "--window", "60"])
    assert done.exit_code == 2
    assert "do not fit" in done.output or "beyond the window" in done.output
