"""The system message of a prompt version."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import (
    FilesSettings,
    OpenAISettings,
    copy_version,
    judge_study,
    list_runs,
    show_response,
)
from judge.prompts.prompt_versions import prompt_version
from judge.prompts.template import PAPER
from study import Study
from tests.judge.small_studies import Scripted, ScriptedSettings
from tests.judge.stub.process import Stub, running_stub

SYSTEM = "You are a strict judge.\nNever explain."


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


@pytest.fixture
def version(campaign: Study) -> str:
    """Return the paper's words with a system message, as a version of the study."""
    folder = copy_version(campaign.folder, "strict")
    settings = folder / "version.toml"
    settings.write_text(f"{settings.read_text()}\nsystem = {json.dumps(SYSTEM)}\n")
    return "strict"


def test_a_system_message_is_sent_before_each_prompt_and_makes_another_run(
    campaign: Study, stub: Stub, version: str
) -> None:
    plain = OpenAISettings(base_url=stub.base_url, model="stub-judge", constructs=("QR",))
    judge_study(campaign, plain.model_copy(update={"limit": 2}))
    stub.forget()
    outcome = judge_study(campaign, plain.model_copy(update={"prompts": version, "name": "s"}))
    assert (outcome.begun, outcome.missing, outcome.remaining) == (True, {}, 0)
    requests = stub.log().requests
    assert {(r["system"], r["messages"]) for r in requests} == {(SYSTEM, 2)}
    assert [run.name for run in list_runs(campaign)] == ["stub-judge", "s"]


def test_a_system_message_belongs_to_the_hash(campaign: Study, version: str) -> None:
    with_system, paper = prompt_version(version, campaign.folder), prompt_version(PAPER)
    assert with_system.system == SYSTEM
    assert with_system.templates == paper.templates
    assert with_system.hash != paper.hash


def test_a_batch_has_it(campaign: Study, version: str, tmp_path: Path) -> None:
    folder = tmp_path / "batch"
    judge_study(campaign, FilesSettings(model="m", requests=folder, prompts=version))
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    first = [json.loads(line)["body"]["messages"] for line in lines]
    assert first
    assert {message[0]["content"] for message in first} == {SYSTEM}
    assert {tuple(part["role"] for part in message) for message in first} == {("system", "user")}


def test_a_system_message_is_shown_with_the_prompts_of_a_response(
    campaign: Study, scripted: type[Scripted], version: str
) -> None:
    plain = ScriptedSettings(name="plain", constructs=("QR",), limit=1)
    judge_study(campaign, plain)
    judge_study(campaign, plain.model_copy(update={"name": "strict", "prompts": version}))
    response = str(campaign.score_table()["response_id"].iloc[0])
    shown = show_response(campaign, "strict", response)
    assert shown.system == SYSTEM
    lines = shown.lines()
    at = lines.index("system message before each prompt:")
    assert lines[at + 1 : at + 3] == ["    | You are a strict judge.", "    | Never explain."]
    assert lines[at:].index("QR:") > 0
    without = show_response(campaign, "plain", response)
    assert without.system is None
    assert not any("system message" in line for line in without.lines())
