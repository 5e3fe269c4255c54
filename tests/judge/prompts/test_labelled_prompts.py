"""A prompt version that maps labels to values: the same values by every way to obtain answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from judge import (
    FilesSettings,
    OpenAISettings,
    judge_study,
    reparse_run,
    show_run,
)
from judge.prompts.prompt_versions import prompt_version
from study import Study, StudyError
from study.schema.tables import judgments
from tests.judge.stub.process import Stub, running_stub

VERSION = """scale = [0, 100]
form = "label"

[labels]
yes = 100
partly = 50
no = 0
"""


@pytest.fixture(scope="module")
def _running() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


@pytest.fixture
def stub(_running: Stub) -> Stub:
    _running.behave()
    _running.forget()
    return _running


def write(study: Study, settings: str = VERSION) -> str:
    """Write the prompt version, on one construct."""
    folder = study.folder / "prompts" / "yes-no"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "version.toml").write_text(settings)
    (folder / "QR.txt").write_text("Does {response} answer {question}? yes, partly or no:\n")
    return "yes-no"


def read(study: Study) -> list[tuple[Any, ...]]:
    columns = (judgments.c.value, judgments.c.rule, judgments.c.raw_answer)
    with study.read() as connection:
        return [tuple(row) for row in connection.execute(select(*columns))]


def settings(stub: Stub, study: Study, **more: Any) -> OpenAISettings:
    return OpenAISettings.checked(
        base_url=stub.base_url, model="stub-judge", name="j", prompts=write(study), **more
    )


def test_free_answers_have_their_values(campaign: Study, stub: Stub) -> None:
    stub.behave({"behaviour": "answers", "text": "**Partly.**"})
    outcome = judge_study(campaign, settings(stub, campaign))
    assert (outcome.missing, outcome.remaining) == ({}, 0)
    assert set(read(campaign)) == {(50.0, "decorated", "**Partly.**")}
    run = show_run(campaign, "j")
    assert run.observed["logprobs"] == "not asked: answers are labels"
    assert reparse_run(campaign, "j").changed == 0


def test_a_schema_lists_the_labels(campaign: Study, stub: Stub) -> None:
    stub.behave("follows_schema")
    outcome = judge_study(campaign, settings(stub, campaign, answer_schema="on"))
    assert outcome.missing == {}
    assert {row[:2] for row in read(campaign)} <= {(v, "json") for v in (100.0, 50.0, 0.0)}
    sent = stub.log().requests[-1]["parameters"]["response_format"]["json_schema"]["schema"]
    assert sent["properties"] == {"label": {"type": "string", "enum": ["yes", "partly", "no"]}}
    assert show_run(campaign, "j").decoding["answer_schema"] == "label"
    with pytest.raises(StudyError, match="no probabilities"):
        judge_study(campaign, settings(stub, campaign, logprobs="on"))


def test_recorded_answers_and_those_of_a_batch(campaign: Study, tmp_path: Path) -> None:
    name = write(campaign)
    judge_study(campaign, FilesSettings(model="b", prompts=name, requests=tmp_path / "sent"))
    (sent,) = (tmp_path / "sent").glob("*.jsonl")
    results = []
    for line in sent.read_text(encoding="utf-8").splitlines():
        choice = {"message": {"content": "Verdict: no"}, "finish_reason": "stop"}
        response = {"status_code": 200, "body": {"model": "m", "choices": [choice]}}
        custom = json.loads(line)["custom_id"]
        results.append(json.dumps({"custom_id": custom, "response": response, "error": None}))
    answers = tmp_path / "results.jsonl"
    answers.write_text("\n".join(results), encoding="utf-8")
    assert judge_study(campaign, FilesSettings(model="b", prompts=name, answers=(answers,))).judged
    assert set(read(campaign)) == {(0.0, "labelled", "Verdict: no")}
    table = tmp_path / "answers.csv"
    table.write_text("query_id,system,construct,answer\nq1,A,QR,yes\nq2,A,QR,maybe\n")
    judge_study(campaign, FilesSettings(model="r", prompts=name, answers=(table,)))
    assert {(100.0, "bare", "yes"), (None, None, "maybe")} <= set(read(campaign))


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ('scale = [0, 1]\nform = "label"\n', 'labels: go with form = "label"'),
        ("scale = [0, 1]\n[labels]\nyes = 1\nno = 0\n", 'labels: go with form = "label"'),
        ('scale = [0, 1]\nform = "label"\n[labels]\nyes = 2\nno = 0\n', "yes = 2 is outside"),
        ('scale = [0, 1]\nform = "label"\n[labels]\nYes = 1\nyes = 0\n', "differ only in case"),
        ('scale = [0, 1]\nform = "label"\n[labels]\nyes = 1\nja = 1\n', "all have the same value"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(campaign: Study, settings: str, fault: str) -> None:
    write(campaign, settings)
    with pytest.raises(StudyError, match=fault):
        prompt_version("yes-no", campaign.folder)


def test_labels_with_other_values_are_another_prompt_version(campaign: Study) -> None:
    before = prompt_version(write(campaign), campaign.folder)
    after = prompt_version(write(campaign, VERSION.replace("50", "60")), campaign.folder)
    assert before.hash != after.hash
