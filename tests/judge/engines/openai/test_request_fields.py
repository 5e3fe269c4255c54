"""Further fields and headers of requests: what servers want beside the prompt."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judge import FilesSettings, OpenAISettings, judge_study, list_runs, preview, show_run
from judge.running.runner import RunStoppedError
from study import Study, StudyError
from study.cli.root import cli
from tests.judge.stub.exchange import key_digest
from tests.judge.stub.process import Stub, running_stub

SECRET = "c2VjcmV0LW9mLWEtZ2F0ZXdheQ"
TEMPLATE = {"enable_thinking": False}


@pytest.fixture(scope="module")
def _running() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


@pytest.fixture
def stub(_running: Stub) -> Stub:
    _running.behave()
    _running.forget()
    return _running


def settings(stub: Stub, **more: Any) -> OpenAISettings:
    return OpenAISettings(base_url=stub.base_url, model="stub-judge", constructs=("QR",), **more)


def test_fields_and_headers_are_sent_with_each_request_and_identify_the_run(
    campaign: Study, stub: Stub
) -> None:
    plain = judge_study(campaign, settings(stub, limit=1, name="plain"))
    stub.forget()
    body = {"reasoning_effort": "low", "chat_template_kwargs": TEMPLATE}
    with_body = settings(stub, body=body, header={"X-Title": "A study"}, name="low")
    outcome = judge_study(campaign, with_body)
    assert (plain.judged > 0, outcome.begun, outcome.missing) == (True, True, {})
    requests = stub.log().requests
    assert len(requests) > len(stub.log().judged), "the probe's are among them"
    for request in requests:
        assert request["parameters"]["reasoning_effort"] == "low"
        assert request["parameters"]["chat_template_kwargs"] == TEMPLATE
        assert request["headers"]["x-title"] == "A study"
    stored = show_run(campaign, "low").decoding
    assert (stored["body"], stored["headers"]) == (body, {"X-Title": "A study"})
    assert judge_study(campaign, with_body).judged == 0
    assert [run.name for run in list_runs(campaign)] == ["plain", "low"]
    shown = preview(campaign, with_body.model_copy(update={"name": None}))
    assert shown.run == "low"
    other = preview(campaign, settings(stub, body={"reasoning_effort": "high"}))
    assert other.run is None


def test_on_the_command_line(campaign: Study, stub: Stub) -> None:
    words = ["judge", str(campaign.folder), "--base-url", stub.base_url, "--constructs", "QR"]
    template = f"chat_template_kwargs={json.dumps({'a': [1, 'b,c=d'], **TEMPLATE})}"
    more = ["--body", "reasoning_effort=low", "--body", template, "--body", "top_k=5"]
    done = CliRunner().invoke(cli, [*words, *more, "--header", "X-Title=a, b = c"])
    assert done.exit_code == 0, done.output
    (request, *_) = stub.log().judged
    sent = {name: request["parameters"][name] for name in ("reasoning_effort", "top_k")}
    assert sent == {"reasoning_effort": "low", "top_k": 5}
    assert request["parameters"]["chat_template_kwargs"] == {"a": [1, "b,c=d"], **TEMPLATE}
    assert request["headers"]["x-title"] == "a, b = c"
    for wrong in ("top_k", "=5", "stop=[", "a={b}"):
        assert CliRunner().invoke(cli, [*words, "--body", wrong]).exit_code == 2


def test_a_header_with_a_secret_is_sent_and_not_stored(
    campaign: Study, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other-key")
    monkeypatch.setenv("GATEWAY", f"Bearer {SECRET}")
    own = settings(stub, header_env={"Authorization": "GATEWAY"}, name="j", limit=2)
    stub.behave("answers", text=f"85 {SECRET}")
    judge_study(campaign, own)
    assert {request["key_digest"] for request in stub.log().requests} == {key_digest(SECRET)}
    assert show_run(campaign, "j").decoding["headers"] == {"Authorization": None}
    for path in campaign.folder.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
    # Another secret is the same run.
    monkeypatch.setenv("GATEWAY", "Bearer another-secret")
    assert not judge_study(campaign, own.model_copy(update={"limit": 1})).begun


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"body": {"temperature": 1}}, "temperature is set by --temperature"),
        ({"body": {"stream": True}}, "stream: an answer comes alone and in one piece"),
        ({"body": {"x": float("nan")}}, "is not JSON"),
        ({"header": {"X-Api-Key": SECRET}}, "--header-env X-Api-Key=VARIABLE"),
        ({"header": {"Authorization": SECRET}}, "--header-env Authorization=VARIABLE"),
        ({"header": {"X-Title": "a\nb"}}, "printable ASCII"),
        ({"header": {"a b": "c"}}, "is not a header that can be added"),
        ({"header_env": {"Content-Length": "X"}}, "is not a header that can be added"),
    ],
)
def test_what_cannot_be_added_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message) as caught:
        OpenAISettings.checked(model="m", **more)
    assert SECRET not in str(caught.value)


def test_a_secret_that_cannot_be_sent_is_refused(
    campaign: Study, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = settings(stub, header_env={"X-Api-Key": "GATEWAY"})
    for value, message in (("", "GATEWAY is empty"), ("a\tb", "character that no header can have")):
        monkeypatch.setenv("GATEWAY", value)
        with pytest.raises(StudyError, match=message):
            judge_study(campaign, own)
    monkeypatch.setenv("GATEWAY", SECRET)
    far = own.model_copy(update={"base_url": "http://judge.invalid/v1"})
    with pytest.raises(StudyError, match=r"would go to judge\.invalid unencrypted"):
        judge_study(campaign, far)


def test_a_field_that_the_server_does_not_know_stops_before_the_first_prompt(
    campaign: Study, stub: Stub
) -> None:
    stub.behave("rejects", parameter="reasoning_effort")
    with pytest.raises(
        StudyError, match=r"refuses a plain question .*'reasoning_effort'"
    ) as caught:
        judge_study(campaign, settings(stub, body={"reasoning_effort": "low"}))
    assert not isinstance(caught.value, RunStoppedError)
    assert stub.log().judged == []


def test_a_batch_has_the_fields_too(campaign: Study, tmp_path: Path) -> None:
    folder = tmp_path / "batch"
    body = {"reasoning_effort": "low"}
    judge_study(campaign, FilesSettings(model="m", requests=folder, body=body))
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert lines
    assert {json.loads(line)["body"]["reasoning_effort"] for line in lines} == {"low"}
