"""Errors that one prompt meets, and errors that everybody meets for a while."""

import sys
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from judge.running.runner import RunStoppedError
from study import Study
from study.errors import StudyError
from tests.judge.faults.faulty_run import (
    WHOLE,
    InTheBackground,
    assert_stored_once,
    commanded,
    judged,
    judgments,
)
from tests.judge.stub.exchange import key_digest
from tests.judge.stub.process import Stub

ONE_PROMPT = {"construct": "QR", "containing": "System A knows of subject 2"}
FIRST_KEY, SECOND_KEY = "sk-first-0123456789", "sk-second-0123456789"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"behaviour": "wrong_key"}, "HTTP 401: Incorrect API key provided."),
        ({"behaviour": "model_not_found"}, "HTTP 404: The model `stub-judge` does not exist"),
        ({"behaviour": "redirect"}, "it redirects to http://elsewhere.invalid/v1"),
        ({"behaviour": "http_status", "status": 402}, "HTTP 402: Internal error"),
        ({"behaviour": "no_quota"}, "HTTP 429: You exceeded your current quota"),
    ],
    ids=lambda value: value["behaviour"] if isinstance(value, dict) else "",
)
def test_an_error_that_one_prompt_always_meets_costs_only_this_prompt(
    small_study: Study, stub: Stub, rule: dict[str, Any], words: str
) -> None:
    stub.behave({**rule, "when": ONE_PROMPT})
    outcome = judged(small_study, stub, tries=3)
    assert (outcome.judged, outcome.missing, outcome.remaining) == (WHOLE, {"not_served": 1}, 0)
    (refused,) = [row for row in judgments(small_study) if row["missing_reason"] is not None]
    assert (refused["response"], refused["construct_key"]) == ("q2-A", "QR")
    assert words in refused["raw_answer"]
    assert max(stub.log().times_asked().values()) == 3

    # The option asks it again, and no other; once it is answered, that is its score.
    assert judged(small_study, stub, tries=3).judged == 0
    assert max(stub.log().times_asked().values()) == 3
    stub.behave()
    stub.forget()
    again = judged(small_study, stub, tries=3, retry_unparsed=True)
    assert (again.judged, again.run_missing, len(stub.log().judged)) == (1, {}, 1)
    assert judged(small_study, stub).judged == 0


@pytest.mark.parametrize("name", ["wrong_key", "model_not_found"])
def test_an_error_that_everybody_meets_for_a_while_is_waited_for(
    small_study: Study, stub: Stub, name: str
) -> None:
    stub.behave({"behaviour": name, "when": {"after": 25, "first": 31}})
    outcome = judged(small_study, stub, tries=1, concurrency=4)
    assert (outcome.judged, outcome.missing, outcome.failed) == (WHOLE, {}, {})
    assert assert_stored_once(small_study) == WHOLE
    # Prompts that were under way at once share the plain questions; and none is sent meanwhile.
    refused = [request for request in stub.log().requests if request["status"] != 200]
    prompts = sum(request["construct"] is not None for request in refused)
    assert prompts <= 4
    assert sum(outcome.retries.values()) == prompts


def test_without_an_end_patience_ends_the_run(small_study: Study, stub: Stub) -> None:
    stub.behave({"behaviour": "model_not_found", "when": {"after": 25}})
    with pytest.raises(RunStoppedError, match=r"can't be used: HTTP 404.*The model `stub-judge`"):
        judged(small_study, stub, patience=1, concurrency=4)
    log = stub.log()
    assert len([request for request in log.judged if request["status"] != 200]) <= 4
    questions = [r for r in log.requests if r["status"] != 200 and r["construct"] is None]
    assert len(questions) >= 2


def command(path: Path) -> str:
    """Return a command that prints a file."""
    program = "import sys; print(open(sys.argv[1]).read())"
    return f"{quote(sys.executable)} -c {quote(program)} {quote(str(path))}"


def test_a_key_that_expires_is_read_again(small_study: Study, stub: Stub, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{FIRST_KEY}\n")
    stub.behave({"behaviour": "needs_key", "key": FIRST_KEY}, "slow", delay=0.02)
    run = InTheBackground(
        lambda: judged(small_study, stub, api_key_command=command(path), concurrency=4)
    )
    stub.wait_for(lambda log: sum(r["status"] == 200 for r in log.judged) >= 8)
    path.write_text(SECOND_KEY)
    stub.behave({"behaviour": "needs_key", "key": SECOND_KEY}, "slow", delay=0.02)
    run.wait()
    assert run.outcome is not None
    assert (run.outcome.judged, run.outcome.missing) == (WHOLE, {})
    assert "http_401" not in run.outcome.retries
    assert assert_stored_once(small_study) == WHOLE
    used = [request["key_digest"] for request in stub.log().requests]
    assert set(used) == {key_digest(FIRST_KEY), key_digest(SECOND_KEY)}
    files = [path for path in small_study.folder.rglob("*") if path.is_file()]
    for key in (FIRST_KEY, SECOND_KEY):
        assert not any(key.encode() in path.read_bytes() for path in files)


def test_a_new_key_may_come_later_than_the_end_of_the_old_one(
    small_study: Study, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment variable is read again as well, such as where a notebook sets it."""
    monkeypatch.setenv("OPENAI_API_KEY", FIRST_KEY)
    stub.behave({"behaviour": "needs_key", "key": FIRST_KEY}, "slow", delay=0.02)
    run = InTheBackground(lambda: judged(small_study, stub, concurrency=4, patience=60))
    stub.wait_for(lambda log: len(log.judged) >= 8)
    stub.behave({"behaviour": "needs_key", "key": SECOND_KEY}, "slow", delay=0.02)
    stub.wait_for(lambda log: sum(r["status"] == 401 for r in log.requests) >= 6)
    monkeypatch.setenv("OPENAI_API_KEY", SECOND_KEY)
    run.wait()
    assert run.outcome is not None
    assert (run.outcome.judged, run.outcome.missing) == (WHOLE, {})


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("no-such-command-anywhere", r"can't be run \(No such file or directory\)"),
        ("cat 'secret", r"can't be run \(check its quotes\)"),
        (f"{quote(sys.executable)} -c 'import sys; sys.exit(3)'", "exits with 3"),
        (f"{quote(sys.executable)} -c 0", "prints nothing"),
    ],
)
def test_a_command_that_gives_no_key_is_refused_before_the_first_prompt(
    small_study: Study, stub: Stub, words: str, problem: str
) -> None:
    message = f"The command of --api-key-command {problem}. Run it alone to see why."
    with pytest.raises(StudyError, match=message):
        judged(small_study, stub, api_key_command=words)
    result = commanded(small_study, stub, "--api-key-command", words)
    assert result.code == 2
    assert stub.log().asked == 0
