"""An endpoint that refuses: the key, the model, a parameter, the prompt, or more prompts."""

import json
from typing import Any

import pytest

from judge.running.runner import RunStoppedError
from study import Study
from study.errors import StudyError
from tests.judge.faults.faulty_run import (
    WHOLE,
    assert_completes,
    assert_stored_once,
    commanded,
    judged,
    judgments,
    reasons,
)
from tests.judge.stub.exchange import key_digest
from tests.judge.stub.process import Stub

ONE_QUERY = {"construct": "any", "containing": "subject 2"}
OF_ONE_QUERY = WHOLE // 4
KEY = "sk-test-0123456789"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wrong_key", r"HTTP 401: Incorrect API key provided\. Check the key in"),
        ("forbidden", "HTTP 403: You are not allowed.*Check that the key may use this model"),
        ("no_quota", "HTTP 429: You exceeded your current quota.*account's quota"),
        ("model_not_found", "HTTP 404: The model `stub-judge` does not exist"),
    ],
)
def test_what_more_tries_cannot_mend_stops_at_once(
    small_study: Study,
    stub: Stub,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    words: str,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    stub.behave(name)
    result = commanded(small_study, stub)
    assert result.code == 2
    assert stub.log().asked == 1
    assert judgments(small_study) == []
    assert KEY not in result.errors
    with pytest.raises(StudyError, match=words):
        judged(small_study, stub)


@pytest.mark.parametrize("name", ["wrong_key", "forbidden", "no_quota", "model_not_found"])
def test_in_the_middle_of_a_run_it_stops_without_patience_too(
    small_study: Study, stub: Stub, name: str
) -> None:
    # The first questions are the probe's; later ones are refused as the prompts are.
    stub.behave({"behaviour": name, "when": {"after": 27}}, "slow", delay=0.01)
    with pytest.raises(RunStoppedError) as caught:
        judged(small_study, stub, concurrency=4, patience=0.01)
    # Those under way when the first refusal came, and none after it.
    log = stub.log()
    refused = [request for request in log.judged if request["status"] != 200]
    assert 1 <= len(refused) <= 4
    assert 16 <= assert_stored_once(small_study) <= 24
    assert caught.value.outcome.remaining == WHOLE - assert_stored_once(small_study)
    assert_completes(small_study, stub)


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    small_study: Study, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", KEY)
    assert judged(small_study, stub, api_key_env="OTHER_KEY", limit=5).answered == 5
    log = stub.log()
    assert {request["key_digest"] for request in log.requests} == {key_digest(KEY)}
    assert not any("cookie" in request["headers"] for request in log.requests)
    for path in small_study.folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    # Another host is not followed: the key would go there.
    stub.behave("redirect", to=stub.control_url, when={"construct": "any"})
    with pytest.raises(RunStoppedError, match="it redirects to http://127"):
        judged(small_study, stub, api_key_env="OTHER_KEY")


def test_a_wrong_name_is_answered_with_the_names_that_there_are(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("model_not_found")
    with pytest.raises(StudyError, match=r"Did you mean 'stub-judge'. The endpoint lists: stub-j"):
        judged(small_study, stub, model="stub-jugde")
    stub.behave("model_not_found", "no_models")
    with pytest.raises(StudyError, match=r"Check --base-url.*and --model"):
        judged(small_study, stub, model="stub-jugde")
    # Where the endpoint has one model, it need not be named.
    stub.behave()
    assert judged(small_study, stub, model=None, limit=1).run == "stub-judge"


@pytest.mark.parametrize(
    ("rules", "settings", "sent", "notes"),
    [
        (
            [{"behaviour": "rejects_max_tokens"}],
            {},
            {"max_completion_tokens": 16, "temperature": 0},
            "",
        ),
        (
            [{"behaviour": "rejects_temperature"}],
            {},
            {"max_tokens": 16},
            "The model refuses a temperature of 0 and uses its default.",
        ),
        (
            [{"behaviour": "rejects_seed"}],
            {"seed": 7},
            {"max_tokens": 16, "temperature": 0},
            "The model refuses a seed of 7",
        ),
        (
            [
                {"behaviour": "rejects_max_tokens"},
                {"behaviour": "rejects_temperature"},
                {"behaviour": "reasoning", "needs": 500},
            ],
            {"reasoning_tokens": 1000},
            {"max_completion_tokens": 1016},
            "The model reasons before it answers: it gets 1000 tokens more for that.",
        ),
    ],
    ids=["max_tokens", "temperature", "seed", "all of it"],
)
def test_what_the_model_takes_is_settled_before_the_first_prompt(
    small_study: Study,
    stub: Stub,
    rules: list[dict[str, Any]],
    settings: dict[str, Any],
    sent: dict[str, Any],
    notes: str,
) -> None:
    stub.behave(*rules)
    outcome = judged(small_study, stub, **settings)
    assert (outcome.judged, outcome.missing, outcome.failed) == (WHOLE, {}, {})
    assert assert_stored_once(small_study) == WHOLE
    log = stub.log()
    assert {request["status"] for request in log.judged} == {200}
    for request in log.judged:
        assert request["parameters"] == {"model": "stub-judge", **sent}
    assert notes in "\n".join(outcome.notes)
    # The same conditions are the same run: there is nothing left of it.
    assert judged(small_study, stub, **settings).judged == 0


@pytest.mark.parametrize("form", ["hidden", "field", "think"])
def test_a_model_that_reasons_gets_room_for_it(small_study: Study, stub: Stub, form: str) -> None:
    stub.behave("reasoning", form=form, needs=500)
    outcome = judged(small_study, stub)
    assert assert_stored_once(small_study) == outcome.judged == WHOLE
    assert {r["parameters"]["max_tokens"] for r in stub.log().judged} == {16 + 4096}
    assert "reasons before it answers" in outcome.notes[0]
    thoughts = {row["reasoning"] for row in judgments(small_study)}
    thought = "The response follows from the first passage. Say 40? No, more."
    assert thoughts == {thought if form == "field" else None}
    if form != "think":
        assert {row["reasoning_tokens"] for row in judgments(small_study)} <= {480, 481}


def test_reasoning_beyond_the_limit_is_missing_and_reported(small_study: Study, stub: Stub) -> None:
    stub.behave("reasoning", needs=500)
    outcome = judged(small_study, stub, reasoning_tokens=100)
    assert outcome.falls_short
    assert sum(outcome.missing.values()) == WHOLE
    assert set(outcome.missing) <= {"truncated", "empty_answer"}
    assert any("give it more with --reasoning-tokens" in note for note in outcome.notes)


@pytest.mark.parametrize("name", ["content_filter", "content_filter_400"])
def test_a_content_filter_makes_a_judgment_missing_for_good(
    small_study: Study, stub: Stub, name: str
) -> None:
    stub.behave(name, when=ONE_QUERY)
    outcome = judged(small_study, stub)
    assert outcome.judged == WHOLE
    assert outcome.missing == reasons(small_study) == {"content_filter": OF_ONE_QUERY}
    assert outcome.falls_short
    output = "\n".join(outcome.lines())
    assert f"Missing: {OF_ONE_QUERY} content_filter" in output
    assert "25.0% of the run is missing" in output
    # Asked again it would be filtered again: it is an answer, and the run is whole.
    stub.behave()
    stub.forget()
    again = judged(small_study, stub)
    assert (again.judged, again.remaining, stub.log().judged) == (0, 0, [])


@pytest.mark.parametrize("name", ["too_long", "too_long_vllm"])
def test_a_prompt_that_the_server_finds_too_long_is_missing(
    small_study: Study, stub: Stub, name: str
) -> None:
    stub.behave(name, window=900)
    outcome = judged(small_study, stub)
    # All but those on QR, which show no passages.
    assert outcome.missing == reasons(small_study) == {"too_long": WHOLE - WHOLE // 5}
    assert outcome.judged == WHOLE
    assert set(stub.log().times_asked().values()) == {1}


def test_a_prompt_that_the_server_refuses_is_missing(small_study: Study, stub: Stub) -> None:
    stub.behave("refuses", message="Messages are not understood.", when=ONE_QUERY)
    outcome = judged(small_study, stub)
    assert outcome.missing == reasons(small_study) == {"rejected": OF_ONE_QUERY}
    refused = [row for row in judgments(small_study) if row["missing_reason"] == "rejected"]
    assert "Messages are not understood." in refused[0]["raw_answer"]


def test_the_command_shows_what_the_server_said_of_refused_prompts(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("refuses", message="Not available in your region.", when=ONE_QUERY)
    done = commanded(small_study, stub)
    assert done.code == 1
    assert f"Missing: {OF_ONE_QUERY} rejected (the server refused this prompt)." in done.output
    assert done.output.count("  rejected: HTTP 400: Not available in your region.") == 1


def test_a_server_that_refuses_all_prompts_is_not_asked_for_ever(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("refuses", message="Messages are not understood.", when={"construct": "any"})
    words = "refused the last 20 prompts, and 12 others from all of the study: HTTP 400: Messages"
    with pytest.raises(RunStoppedError, match=words):
        judged(small_study, stub, concurrency=2)
    assert 32 <= len(stub.log().judged) <= 34


def test_a_server_that_refuses_the_first_prompts_only_is_asked_the_others(
    small_study: Study, stub: Stub
) -> None:
    when = {"construct": "any", "containing": "subject 1"}
    more = {"construct": "any", "containing": "subject 2"}
    stub.behave({"behaviour": "refuses", "when": when}, {"behaviour": "refuses", "when": more})
    outcome = judged(small_study, stub, concurrency=1)
    assert (outcome.judged, outcome.missing) == (WHOLE, {"rejected": WHOLE // 2})


def test_counts_by_reason_close_the_run(small_study: Study, stub: Stub) -> None:
    stub.behave(
        {"behaviour": "content_filter", "when": {"containing": "subject 1"}},
        {"behaviour": "answers", "text": "I cannot say.", "when": {"containing": "subject 3"}},
        {"behaviour": "http_500", "when": {"containing": "subject 4", "construct": "any"}},
    )
    result = commanded(small_study, stub, "--tries", "2")
    assert result.code == 1
    assert "Missing: 15 content_filter (the provider's content filter stopped" in result.output
    assert "No answer: 15 http_500." in result.output
    words = "75.0% of the run is missing, more than --max-missing (5.0%) allows."
    assert words in result.output
    assert "15 judgments are still to be made; run the command again." in result.output
    again = commanded(small_study, stub, "--tries", "2", "--json")
    counts = json.loads(again.output)
    assert (again.code, counts["failed"], counts["remaining"]) == (1, {"http_500": 15}, 15)
    assert len(judgments(small_study)) == WHOLE - 15


def test_a_text_that_a_firewall_forbids_does_not_stop_the_others(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("forbidden", when={"construct": "any", "containing": "subject 2"})
    outcome = judged(small_study, stub)
    assert outcome.missing == {"rejected": WHOLE // 4}
    assert outcome.judged == WHOLE


def test_a_prompt_that_hangs_for_ever_does_not_stop_the_others(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("hangs", when={"construct": "QR", "containing": "System A knows of subject 2"})
    outcome = judged(small_study, stub, timeout=1, patience=2, tries=50)
    assert outcome.failed == {"timeout": 1}
    assert outcome.judged == WHOLE - 1
    assert_completes(small_study, stub)
