"""Batches of Anthropic and Gemini.

The results below are made by hand in the forms that the providers document
(platform.claude.com/docs/en/api/messages/batches and ai.google.dev/gemini-api/docs/batch-api, read
in November 2026); none comes from a provider.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from judge import judge_study
from judge.engines.engine_settings import FilesSettings
from judge.engines.files.anthropic_format import AnthropicFormat
from judge.engines.files.gemini_format import GeminiFormat
from judge.protocol.exchange import Answer, Failure
from judge.protocol.logprob_distribution import ScoreTokens
from study import InputError, Study, StudyError
from study.base.scales import Scale
from tests.ccrs_command import in_process
from tests.judge.engines.files.provider_files import result, results, sent
from tests.judge.small_studies import fill

ANTHROPIC, GEMINI = AnthropicFormat(), GeminiFormat()


def anthropic(result: dict[str, Any]) -> Answer | Failure | None:
    return ANTHROPIC.read({"custom_id": "x", "result": result}, None)


def message(*content: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "type": "succeeded",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": list(content),
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 11,
                "cache_creation_input_tokens": 3,
                "cache_read_input_tokens": 100,
                "output_tokens": 36,
            },
        },
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def anthropic_error(kind: str, words: str = "Overloaded") -> dict[str, Any]:
    error = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
    return {"type": "errored", "error": error}


def test_a_message_is_an_answer() -> None:
    thinking = {"type": "thinking", "thinking": "It fits.", "signature": "c2ln"}
    hidden = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    answer = anthropic(message(thinking, hidden, text("8"), text("5")))
    assert isinstance(answer, Answer)
    assert (answer.text, answer.finish_reason, answer.missing) == ("85", "stop", None)
    assert (answer.reasoning or "").startswith("It fits.")
    assert answer.served_model == "claude-sonnet-4-5-20250929"
    # All tokens of the prompt, the cached ones among them.
    tokens = (answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)
    assert tokens == (114, 36, 100)


@pytest.mark.parametrize(
    ("stop", "finish", "missing"),
    [
        ("max_tokens", "length", None),
        ("model_context_window_exceeded", "length", None),
        ("refusal", "content_filter", "content_filter"),
        ("pause_turn", "pause_turn", None),
    ],
)
def test_a_message_that_ended_early_is_missing_with_its_reason(
    stop: str, finish: str, missing: str | None
) -> None:
    answer = anthropic(message(stop=stop))
    assert isinstance(answer, Answer)
    assert (answer.text, answer.finish_reason, answer.missing) == ("", finish, missing)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({"type": "canceled"}, "canceled"),
        ({"type": "expired"}, "expired"),
        (anthropic_error("overloaded_error"), "http_529"),
        (anthropic_error("rate_limit_error"), "http_429"),
        (anthropic_error("api_error"), "http_500"),
        (anthropic_error("authentication_error"), "http_401"),
        (anthropic_error("invalid_request_error", "Your credit balance is too low"), "no_quota"),
        (anthropic_error("a_new_error"), "error"),
        ({"type": "errored", "error": None}, "error"),
    ],
)
def test_what_was_not_processed_stays_open(result: dict[str, Any], reason: str) -> None:
    failure = anthropic(result)
    assert isinstance(failure, Failure)
    assert failure.reason == reason


@pytest.mark.parametrize(
    ("kind", "words", "missing"),
    [
        ("invalid_request_error", "prompt is too long: 210000 tokens > 200000", "too_long"),
        ("request_too_large", "Request exceeds the maximum size", "too_long"),
        ("invalid_request_error", "messages: text content blocks must be non-empty", "rejected"),
    ],
)
def test_a_refused_prompt_is_missing(kind: str, words: str, missing: str) -> None:
    answer = anthropic(anthropic_error(kind, words))
    assert isinstance(answer, Answer)
    assert answer.missing == missing


@pytest.mark.parametrize("result", [{}, {"type": "succeeded"}, {"type": "other"}])
def test_what_is_neither_is_reported(result: dict[str, Any]) -> None:
    assert anthropic(result) is None


def gemini(**line: Any) -> Answer | Failure | None:
    return GEMINI.read({"key": "x", **line}, ScoreTokens(Scale(), unprobed=True))


def candidate(*parts: dict[str, Any], finish: str = "STOP", **more: Any) -> dict[str, Any]:
    made = {"content": {"parts": list(parts), "role": "model"}, "finishReason": finish, **more}
    return {
        "candidates": [made],
        "usageMetadata": {
            "promptTokenCount": 90,
            "candidatesTokenCount": 2,
            "thoughtsTokenCount": 40,
            "cachedContentTokenCount": 64,
            "totalTokenCount": 132,
        },
        "modelVersion": "gemini-2.5-flash",
        "responseId": "r1",
    }


def test_a_candidate_is_an_answer() -> None:
    thought = {"text": "It fits.", "thought": True}
    answer = gemini(response=candidate(thought, {"text": "8"}, {"text": "5"}))
    assert isinstance(answer, Answer)
    assert (answer.text, answer.reasoning, answer.finish_reason) == ("85", "It fits.", "stop")
    assert answer.served_model == "gemini-2.5-flash"
    tokens = (answer.prompt_tokens, answer.completion_tokens, answer.reasoning_tokens)
    assert (*tokens, answer.cached_tokens) == (90, 42, 40, 64)


def test_probabilities_of_a_candidate() -> None:
    chosen = {"token": "80", "tokenId": 7, "logProbability": -0.2231436}
    other = {"token": "90", "tokenId": 8, "logProbability": -1.6094379}
    logprobs = {"chosenCandidates": [chosen], "topCandidates": [{"candidates": [chosen, other]}]}
    answer = gemini(response=candidate({"text": "80"}, logprobsResult=logprobs))
    assert isinstance(answer, Answer)
    assert answer.distribution == pytest.approx({"80": 0.8, "90": 0.2})


@pytest.mark.parametrize(
    ("response", "finish", "missing"),
    [
        (candidate(finish="MAX_TOKENS"), "length", None),
        (candidate(finish="SAFETY"), "content_filter", "content_filter"),
        (candidate(finish="RECITATION"), "content_filter", "content_filter"),
        (candidate(finish="OTHER"), "other", None),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "content_filter", "content_filter"),
    ],
)
def test_a_candidate_that_ended_early_is_missing_with_its_reason(
    response: dict[str, Any], finish: str, missing: str | None
) -> None:
    answer = gemini(response=response)
    assert isinstance(answer, Answer)
    assert (answer.text, answer.finish_reason, answer.missing) == ("", finish, missing)


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ({"error": {"code": 14, "message": "unavailable"}}, "http_503"),
        ({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}, "http_429"),
        ({"error": {"code": 1, "message": "cancelled"}}, "canceled"),
        ({"status": {"code": 13, "message": "internal"}}, "http_500"),
        ({"response": {"candidates": []}}, "no_choice"),
        ({"error": {"code": 3, "message": "the prompt exceeds the context"}}, "too_long"),
        ({"error": {"code": 400, "message": "an image is needed"}}, "rejected"),
    ],
)
def test_a_status_in_place_of_a_response(line: dict[str, Any], outcome: str) -> None:
    result = gemini(**line)
    assert result is not None
    assert (result.reason if isinstance(result, Failure) else result.missing) == outcome


def written(folder: Path, form: str) -> list[dict[str, Any]]:
    if form == "gemini":
        lines = (folder / "judge-001.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    body = json.loads((folder / "judge-001.json").read_text(encoding="utf-8"))
    assert set(body) == {"requests"}
    return list(body["requests"])


def test_requests_of_anthropic_are_the_body_of_a_batch(study: Study, tmp_path: Path) -> None:
    fill(study)
    body = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    options: dict[str, Any] = {
        "model": "claude",
        "format": "anthropic",
        "body": body,
        "reasoning_tokens": 2000,
        "omit_temperature": True,
    }
    wrote = judge_study(study, FilesSettings(requests=tmp_path, **options))
    assert any("--format anthropic" in note for note in wrote.notes)
    requests = written(tmp_path, "anthropic")
    assert len(requests) == 57
    params = dict(requests[0]["params"])
    assert [m["role"] for m in params.pop("messages")] == ["user"]
    assert params == {"model": "claude", "max_tokens": 2016, **body}
    again = judge_study(study, FilesSettings(requests=tmp_path, **options))
    assert any(note.startswith("57 prompts wait") for note in again.notes)
    lines = [{"custom_id": r["custom_id"], "result": message(text("70"))} for r in requests]
    got = results(tmp_path / "results.jsonl", lines)
    done = judge_study(study, FilesSettings(answers=(got,), **options))
    assert (done.answered, done.remaining, done.failed) == (57, 0, {})
    with pytest.raises(InputError, match="belongs to another run"):
        judge_study(study, FilesSettings(answers=(got,), model="claude"))


def test_a_run_may_be_sent_in_another_format(study: Study, tmp_path: Path) -> None:
    fill(study)
    words = ("judge", study.folder, "--engine", "files", "--model", "claude", "--name", "claude")
    first, second = tmp_path / "one", tmp_path / "two"
    begun = in_process(*words, "--requests", first)
    assert begun.returncode == 0, begun.stderr
    other = in_process(*words, "--requests", second, "--format", "anthropic")
    assert other.returncode == 0, other.stderr
    requests = written(second, "anthropic")
    lines = [{"custom_id": r["custom_id"], "result": message(text("70"))} for r in requests]
    got = [results(tmp_path / "anthropic.jsonl", lines[:30])]
    names = {request["custom_id"] for request in requests[:30]}
    rest = [result(line) for line in sent(first) if line["custom_id"] not in names]
    got += [results(tmp_path / "openai.jsonl", rest)]
    for path in got:
        read = in_process(*words, "--answers", path, "--max-missing", 1)
        assert read.returncode == 0, read.stderr
    runs = json.loads(in_process("judge", "list", study.folder, "--json").stdout)
    assert [run["name"] for run in runs] == ["claude"]
    table = study.score_table()
    assert table.loc[table["scorer"] == "claude", "value"].notna().sum() == 60


def test_requests_of_gemini_have_keys(study: Study, tmp_path: Path) -> None:
    fill(study)
    options: dict[str, Any] = {"model": "gemini", "format": "gemini"}
    sampling: dict[str, Any] = {"seed": 3, "logprobs": "on"}
    judge_study(study, FilesSettings(requests=tmp_path, **options, **sampling))
    requests = written(tmp_path, "gemini")
    request = requests[0]["request"]
    assert request["contents"][0]["role"] == "user"
    assert request["generationConfig"] == {
        "maxOutputTokens": 16,
        "temperature": 0.0,
        "seed": 3,
        "responseLogprobs": True,
        "logprobs": 20,
    }
    lines = [{"key": r["key"], "response": candidate({"text": "70"})} for r in requests]
    got = results(tmp_path / "results.jsonl", lines)
    done = judge_study(study, FilesSettings(answers=(got,), **options, **sampling))
    assert (done.answered, done.remaining, done.failed) == (57, 0, {})


def test_the_schema_of_an_answer_is_sent_in_each_form(study: Study, tmp_path: Path) -> None:
    fill(study)
    schemas = {}
    for form in ("openai", "anthropic", "gemini"):
        options: dict[str, Any] = {"format": form, "answer_schema": "on", "limit": 1}
        judge_study(study, FilesSettings(model=form, requests=tmp_path / form, **options))
    line = json.loads((tmp_path / "openai" / "judge-001.jsonl").read_text(encoding="utf-8"))
    schemas["openai"] = line["body"]["response_format"]["json_schema"]["schema"]
    assert line["body"]["max_tokens"] == 32
    [request] = written(tmp_path / "anthropic", "anthropic")
    schemas["anthropic"] = request["params"]["output_config"]["format"]["schema"]
    [request] = written(tmp_path / "gemini", "gemini")
    config = request["request"]["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    schemas["gemini"] = config["responseJsonSchema"]
    assert schemas["openai"] == schemas["anthropic"] == schemas["gemini"]
    assert schemas["openai"]["required"] == ["score"]


@pytest.mark.parametrize("option", [{"seed": 1}, {"logprobs": "on"}])
def test_what_a_form_cannot_express_is_refused(
    study: Study, tmp_path: Path, option: dict[str, Any]
) -> None:
    fill(study)
    settings = FilesSettings(model="m", format="anthropic", requests=tmp_path, **option)
    with pytest.raises(StudyError, match=f"--{next(iter(option))}: The Messages API"):
        judge_study(study, settings)
