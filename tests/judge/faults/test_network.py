"""An endpoint that is down, slow or unsteady, or sends something else than an answer."""

from typing import Any

import pytest

from judge import show_run
from judge.running.runner import RunStoppedError
from study import Study
from study.errors import StudyError
from tests.judge.faults.faulty_run import (
    WHOLE,
    InTheBackground,
    assert_completes,
    assert_stored_once,
    commanded,
    judged,
    judgments,
)
from tests.judge.stub.process import Stub

ONE_QUERY = {"construct": "any", "containing": "subject 2"}
"""The prompts on one query of four."""
OF_ONE_QUERY = WHOLE // 4


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            {"behaviour": "down"},
            r"127.0.0.1:\d+ \(Connection refused\)\. Check that the server runs",
        ),
        ({"behaviour": "closes"}, "Server disconnected. Try again later"),
        ({"behaviour": "hangs"}, r"no answer within 0.3 s.*--timeout"),
        ({"behaviour": "html"}, "its answer is HTML: <!doctype html>.*mostly ends in /v1"),
        ({"behaviour": "html", "status": 404}, "HTTP 404.*mostly ends in /v1"),
        ({"behaviour": "half_json"}, "its answer is not a JSON object"),
        ({"behaviour": "http_500"}, "HTTP 500: Internal error"),
        ({"behaviour": "redirect"}, "redirects to http://elsewhere.invalid/v1.*as --base-url"),
    ],
    ids=lambda value: value["behaviour"] if isinstance(value, dict) else "",
)
def test_an_endpoint_that_cannot_be_used_stops_before_the_first_prompt(
    small_study: Study, stub: Stub, rule: dict[str, Any], words: str
) -> None:
    stub.behave(rule)
    with pytest.raises(StudyError, match=rf"(?s)The endpoint can't be used: .*{words}"):
        judged(small_study, stub, timeout=0.3)
    assert judgments(small_study) == []
    assert stub.log().judged == []
    result = commanded(small_study, stub, "--timeout", "0.3")
    assert result.code == 2
    assert result.errors.startswith("Error: The endpoint can't be used: ")
    assert result.output == ""
    stub.behave()
    assert judged(small_study, stub).begun, "nothing was left behind by what never began"


def test_an_endpoint_that_goes_down_loses_only_what_was_under_way(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("slow", delay=0.03)
    run = InTheBackground(lambda: judged(small_study, stub, patience=0.5, concurrency=4))
    stub.wait_for(lambda log: sum(r["status"] == 200 for r in log.judged) >= 12)
    stub.behave("down")
    log = stub.log()
    run.wait()
    assert isinstance(run.error, RunStoppedError)
    assert "No answer came for" in str(run.error)
    assert "All answers so far are stored; run the command again to resume" in str(run.error)
    stored = assert_stored_once(small_study)
    answered = sum(request["status"] == 200 for request in log.judged)
    assert answered - 4 <= stored <= answered
    assert run.error.outcome.judged == stored
    assert run.error.outcome.remaining == WHOLE - stored
    assert_completes(small_study, stub)


def test_a_flapping_endpoint_is_waited_for(small_study: Study, stub: Stub) -> None:
    stub.behave("slow", delay=0.05)
    # Several tries in a row may meet it while it is down.
    run = InTheBackground(lambda: judged(small_study, stub, constructs=("QR", "CC"), patience=120))
    stub.wait_for(lambda log: len(log.judged) >= 8)
    stub.behave({"behaviour": "flapping", "period": 0.3}, "slow", delay=0.05)
    run.wait()
    assert run.error is None
    assert run.outcome is not None
    assert (run.outcome.judged, run.outcome.failed) == (2 * WHOLE // 5, {})
    assert assert_stored_once(small_study) == 2 * WHOLE // 5


@pytest.mark.parametrize(
    "rule",
    [
        {"behaviour": "slow", "delay": 2},
        {"behaviour": "hangs"},
        {"behaviour": "closes"},
        {"behaviour": "cut"},
        {"behaviour": "cut", "share": 0.0},
        {"behaviour": "half_json"},
        {"behaviour": "html"},
        {"behaviour": "http_500"},
        {"behaviour": "http_503"},
        {"behaviour": "http_status", "status": 408},
        {"behaviour": "error_in_200"},
        {"behaviour": "error_in_200", "code": None},
        {"behaviour": "answers", "text": "8", "finish_reason": "error"},
        {"behaviour": "throttled", "form": "none"},
    ],
    ids=lambda rule: "-".join(str(value) for value in rule.values()),
)
def test_what_fails_once_is_tried_again(
    small_study: Study, stub: Stub, rule: dict[str, Any]
) -> None:
    waits = rule["behaviour"] in {"slow", "hangs"}
    stub.behave({**rule, "when": {**ONE_QUERY, "tries": 1}})
    outcome = judged(small_study, stub, timeout=1.5 if waits else 60)
    assert (outcome.judged, outcome.remaining, outcome.failed) == (WHOLE, 0, {})
    assert not outcome.falls_short
    assert assert_stored_once(small_study) == WHOLE
    times = sorted(stub.log().times_asked().values())
    expected = [1] * (WHOLE - OF_ONE_QUERY) + [2] * OF_ONE_QUERY
    if waits:
        # On a busy machine other answers may take longer than the timeout too.
        assert all(asked >= least for asked, least in zip(times, expected, strict=True))
    else:
        assert times == expected


@pytest.mark.parametrize(
    ("rule", "reason", "words"),
    [
        ({"behaviour": "hangs"}, "timeout", "no answer within 1 s"),
        ({"behaviour": "closes"}, "connection_cut", ""),
        ({"behaviour": "cut"}, "connection_cut", ""),
        ({"behaviour": "http_500"}, "http_500", "HTTP 500: Internal error"),
        ({"behaviour": "error_in_200"}, "http_502", "Provider returned error"),
    ],
    ids=lambda value: value["behaviour"] if isinstance(value, dict) else "",
)
def test_prompts_that_keep_failing_are_counted_and_left_for_the_next_run(
    small_study: Study, stub: Stub, rule: dict[str, Any], reason: str, words: str
) -> None:
    stub.behave({**rule, "when": ONE_QUERY})
    # More prompts fail at once than may be under way: none of them may keep the others waiting.
    outcome = judged(small_study, stub, timeout=1 if reason == "timeout" else 60, tries=2)
    assert outcome.failed == {reason: OF_ONE_QUERY}
    assert (
        outcome.judged
        == outcome.answered
        == assert_stored_once(small_study)
        == WHOLE - OF_ONE_QUERY
    )
    assert outcome.remaining == OF_ONE_QUERY
    assert outcome.missing_share == OF_ONE_QUERY / WHOLE
    assert outcome.falls_short
    output = "\n".join(outcome.lines())
    assert f"No answer: {OF_ONE_QUERY} {reason}." in output
    assert words in output
    assert f"{OF_ONE_QUERY} judgments are still to be made; run the command again." in output
    (call,) = show_run(small_study, "stub-judge").calls
    assert [note for note in call.notes if note.startswith(f"No answer: {reason}: ")]
    assert_completes(small_study, stub)


def test_the_command_exits_1_where_more_is_missing_than_was_allowed(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("http_500", when=ONE_QUERY)
    short = commanded(small_study, stub, "--tries", "2")
    assert short.code == 1
    assert f"No answer: {OF_ONE_QUERY} http_500." in short.output
    words = "25.0% of the run is missing, more than --max-missing (5.0%) allows."
    assert words in short.output
    # It is the run that falls short, however little the next call does.
    assert commanded(small_study, stub, "--tries", "2").code == 1
    assert commanded(small_study, stub, "--tries", "2", "--max-missing", "1").code == 0
    stub.behave()
    assert commanded(small_study, stub).code == 0
    assert assert_stored_once(small_study) == WHOLE


@pytest.mark.parametrize("form", ["seconds", "date", "ms", "quota"])
def test_nothing_is_sent_while_the_server_asks_to_wait(
    small_study: Study, stub: Stub, form: str
) -> None:
    # Retry-After knows whole seconds only.
    wait = {"seconds": 1.0, "date": 0.0, "ms": 0.4, "quota": 0.4}[form]
    stub.behave("throttled", form=form, wait=wait, when={"construct": "any", "first": 3})
    outcome = judged(small_study, stub, concurrency=4)
    assert (outcome.judged, outcome.failed) == (WHOLE, {})
    assert assert_stored_once(small_study) == WHOLE
    asked = stub.log().judged
    refused = [request for request in asked if request["status"] == 429]
    assert len(refused) == 3
    refused_at = min(request["answered_at"] for request in refused)
    # What left before the client had read the refusal may still come.
    late = [request["at"] - refused_at for request in asked if request["at"] > refused_at + 0.05]
    assert min(late) >= (wait or 0.001) - 0.01


def test_a_quota_that_is_used_up_is_waited_for_without_a_refusal(
    small_study: Study, stub: Stub
) -> None:
    stub.behave("spent", reset="400ms", when={"construct": "any", "first": 1})
    outcome = judged(small_study, stub, concurrency=1)
    assert outcome.judged == assert_stored_once(small_study) == WHOLE
    first, second = stub.log().judged[:2]
    assert second["at"] - first["answered_at"] >= 0.39


def test_a_wait_beyond_all_patience_stops_the_run(small_study: Study, stub: Stub) -> None:
    stub.behave("throttled", wait=3600, when={"construct": "any", "after": 10})
    with pytest.raises(
        RunStoppedError, match=r"asks to wait 3600 s.*All answers so far are stored"
    ):
        judged(small_study, stub, concurrency=4)
    assert assert_stored_once(small_study) == 10
    assert_completes(small_study, stub)


def test_a_server_that_complains_gets_fewer_prompts_at_once(small_study: Study, stub: Stub) -> None:
    stub.behave(
        {"behaviour": "http_503", "when": {"construct": "any", "first": 12}}, "slow", delay=0.03
    )
    outcome = judged(small_study, stub, concurrency=12)
    assert outcome.judged == WHOLE
    log = stub.log()
    assert log.most_unanswered <= 12
    after = [r["unanswered"] for r in log.judged if r["number"] > log.judged[11]["number"]]
    assert max(after[:8]) <= 6, "the first halving came with the first complaint"


@pytest.mark.parametrize("concurrency", [1, 5])
def test_no_more_is_under_way_than_was_allowed(
    small_study: Study, stub: Stub, concurrency: int
) -> None:
    stub.behave("slow", delay=0.01)
    assert judged(small_study, stub, concurrency=concurrency).judged == WHOLE
    log = stub.log()
    assert log.most_unanswered == concurrency
    assert log.connections <= concurrency + 1


def test_a_prompt_that_is_too_much_for_a_quota_does_not_hold_the_run_for_ever(
    small_study: Study, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.engines.openai.endpoint.FIRST_WAIT", 0.001)
    stub.behave("throttled", wait=0.001, when={"construct": "any", "containing": "subject 2"})
    outcome = judged(small_study, stub, tries=1, patience=20)
    assert (outcome.missing, outcome.failed) == ({"not_served": OF_ONE_QUERY}, {})
    assert outcome.judged == WHOLE
