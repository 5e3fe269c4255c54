"""`ccrs judge` as it is typed: defaults, several values in one option, bad values, JSON."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from judge import judge_study
from judge.cli.engine_options import engine_options, settings_from
from judge.cli.judge_command import judge
from judge.engines.engine_settings import OpenAISettings
from study import Study, StudyError
from study.cli.root import cli
from tests.judge.small_studies import Scripted, ScriptedSettings
from tests.judge.stub.process import Stub, running_stub


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["judge", *map(str, words)])


def test_run_is_the_default_command(campaign: Study, stub: Stub) -> None:
    for words in (
        (campaign.folder, "--base-url", stub.base_url, "--limit", "2"),
        ("--limit", "2", "--base-url", stub.base_url, campaign.folder),
        ("run", campaign.folder, "--base-url", stub.base_url, "--limit", "2"),
    ):
        done = run(*words)
        assert done.exit_code == 0, done.output
        assert "2 judgments of the run" in done.output


def test_a_number_has_its_noun(campaign: Study, stub: Stub) -> None:
    words = (campaign.folder, "--base-url", stub.base_url, "--model", "m", "--constructs", "AC")
    done = run(*words, "--limit", "1")
    assert "1 judgment of the run 'm' was stored; 1 prompt was answered in" in done.output
    done = run(*words, "--limit", "10")
    assert "1 judgment is still to be made; run the command again." in done.output
    assert "Postponed" not in run(*words, "--dry-run").output
    assert "Postponed by --limit: 1 prompt\n" in run(
        *words[:-2], "--constructs", "CC", "--limit", "11", "--dry-run"
    ).output  # fmt: skip
    shown = run("show", campaign.folder, "m").output
    assert "1 of 1 prompt, 1 judgment," in shown


def test_help_names_the_commands_and_the_options() -> None:
    assert "\n  show " in run("--help").output
    assert "--dry-run" in run("run", "--help").output
    assert set(judge.commands) >= {"run", "prompts", "list", "show", "compare", "export", "reparse"}


def test_json_for_programs(campaign: Study, stub: Stub) -> None:
    done = run(campaign.folder, "--base-url", stub.base_url, "--json")
    assert done.exit_code == 0
    outcome = json.loads(done.output)
    assert (outcome["judged"], outcome["answered"], outcome["remaining"]) == (60, 57, 0)
    assert outcome["missing_share"] == 0


def test_several_in_one_option_or_in_several(campaign: Study, stub: Stub) -> None:
    words = ("--constructs", "QR, CC", "--constructs", "AC", "--systems", "A,B", "--json")
    done = run(campaign.folder, "--base-url", stub.base_url, *words)
    assert json.loads(done.output)["judged"] == 3 * 3 * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--base-url", "localhost:8000"), "base_url: write it as http://HOST:PORT/v1"),
        (("--base-url", "http://me:secret@localhost/v1"), "base_url: contains credentials"),
        (("--base-url", "http://localhost/v1?key=secret"), "base_url: ends in ? or #"),
        ((), "needs the endpoint's address"),
        (("--engine", "openapi"), "Did you mean 'openai'"),
        (("--engine", "batch"), "The engine of requests and answers in files is 'files'"),
        (("--engine", "recorded"), "The engine of requests and answers in files is 'files'"),
        (("--prompts", "mine"), "Versions: ccrs-context-first-v1"),
        (("--model", " "), "model = ' ': is blank"),
        (("--requests", "out"), "--requests: not available with the engine 'openai'"),
        (
            ("--engine", "files", "--seed", "3", "--drift", "4"),
            "--drift: not available with the engine 'files'; leave it out.",
        ),
    ],
)
def test_invalid_values_are_refused_without_repeating_a_secret(
    campaign: Study, words: tuple[str, ...], message: str
) -> None:
    done = run(campaign.folder, "--model", "m", *words)
    assert done.exit_code != 0
    assert isinstance(done.exception, StudyError)
    assert message in str(done.exception)
    assert "secret" not in str(done.exception)


def test_a_key_does_not_travel_unencrypted(
    campaign: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    settings = OpenAISettings(base_url="http://judge.invalid/v1", model="m", api_key_env="MY_KEY")
    with pytest.raises(
        StudyError, match=r"MY_KEY would go to judge\.invalid unencrypted"
    ) as caught:
        judge_study(campaign, settings)
    assert "sk-very-secret" not in str(caught.value)
    monkeypatch.setenv("MY_KEY", "two words")
    with pytest.raises(StudyError, match="contains a blank"):
        judge_study(campaign, settings)


def test_a_study_that_is_named_like_a_command(
    tmp_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Study.create("list").close()
    done = run("run", "list", "--base-url", stub.base_url)
    assert "has no responses yet" in str(done.exception)


def test_judging_works_where_an_event_loop_runs(campaign: Study, stub: Stub) -> None:
    async def as_in_a_notebook() -> int:
        return judge_study(
            campaign, OpenAISettings(base_url=stub.base_url, constructs=("QR",))
        ).judged

    assert asyncio.run(as_in_a_notebook()) == 12


def test_status_and_report_know_the_run(campaign: Study, stub: Stub) -> None:
    assert run(campaign.folder, "--base-url", stub.base_url, "--name", "mine").exit_code == 0
    shown = CliRunner().invoke(cli, ["status", str(campaign.folder)]).output
    assert "mine" in shown
    assert "ccrs assign" in shown


def test_progress_is_reported_after_every_commit(campaign: Study, scripted: type[Scripted]) -> None:
    reached = []
    judge_study(campaign, ScriptedSettings(limit=5), reached.append)
    assert [reach.answered for reach in reached] == [1, 2, 3, 4, 5]
    assert {reach.total for reach in reached} == {5}
    assert scripted.asked


def test_an_option_of_several_engines_takes_the_values_of_each_and_names_every_default() -> None:
    logprobs, reasoning = (
        next(option for option in engine_options() if option.name == name)
        for name in ("logprobs", "reasoning_tokens")
    )
    assert isinstance(logprobs, click.Option)
    assert isinstance(reasoning, click.Option)
    assert isinstance(logprobs.type, click.Choice)
    assert set(logprobs.type.choices) == {"auto", "on", "off"}
    assert "Default: off (files), auto (openai)." in str(logprobs.help)
    assert "Default: 0 (files), 4096 (openai)." in str(reasoning.help)
    assert (
        settings_from({"engine": "openai", "logprobs": "auto"}).model_dump()["logprobs"] == "auto"
    )
    with pytest.raises(StudyError, match="logprobs"):
        settings_from({"engine": "files", "logprobs": "auto"})
