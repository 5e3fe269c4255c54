"""Prompts that meet the same error at each try: they hold no other, and are given up for good."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from study import Study, import_file
from tests.judge.faults.faulty_run import copied, judged, judgments, rows
from tests.judge.stub.process import Stub

RESPONSES, CONSTRUCTS = 115, 5
WHOLE = RESPONSES * CONSTRUCTS
TRIES = 3
# No try may time out on a busy machine: each is counted.
UNHURRIED: dict[str, Any] = {"tries": TRIES, "patience": 60, "timeout": 60}
KINDS: dict[str, dict[str, Any]] = {
    "401": {"behaviour": "wrong_key"},
    "404": {"behaviour": "model_not_found"},
    "429": {"behaviour": "throttled", "form": "none"},
    "429 with a wait": {"behaviour": "throttled", "form": "ms", "wait": 0.1},
    "501": {"behaviour": "http_status", "status": 501, "message": "Not implemented"},
    "redirect": {"behaviour": "redirect"},
    "SSE": {"behaviour": "event_stream"},
    "latin-1": {"behaviour": "latin_1"},
    "delta": {"behaviour": "delta"},
    "broken off": {"behaviour": "answers", "text": "8", "finish_reason": "FINISH_REASON_ABORT"},
}
# Each kind once; each number of prompts with few requests at a time and with many.
CASES = [
    ("401", 60, 4),
    ("404", 30, 32),
    ("429", 30, 4),
    ("429 with a wait", 60, 32),
    ("501", 200, 4),
    ("redirect", 200, 32),
    ("SSE", 30, 32),
    ("latin-1", 60, 4),
    ("delta", 200, 32),
    ("broken off", 30, 4),
]
QUICK = {"404", "429", "SSE", "broken off"}


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a study of 575 prompts; the last responses say to which numbers they belong."""
    folder = tmp_path_factory.mktemp("template") / "study"
    study = Study.create(folder)
    one = rows()[0]
    source = folder / "responses.csv"
    lines = ["query_id,response_id,query,reference,system,response,passage_1"]
    for number in range(RESPONSES):
        left = (RESPONSES - number) * CONSTRUCTS
        marks = " ".join(f"<{lasting}>" for lasting in (30, 60, 200) if left <= lasting)
        lines.append(
            f"q{number},r{number},{one['query']} {number},Reference {number}.,A,"
            f"Response {number} {marks},Passage {number}."
        )
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    import_file(study, source)
    study.close()
    return folder


@pytest.fixture
def large_study(_template: Path, tmp_path: Path) -> Iterator[Study]:
    """Return a study of 575 judgments to be made."""
    with copied(_template, tmp_path / "study") as opened:
        yield opened


@pytest.mark.parametrize(
    ("kind", "lasting", "concurrency"),
    [pytest.param(*case, marks=() if case[0] in QUICK else pytest.mark.slow) for case in CASES],
)
def test_prompts_that_always_fail_are_given_up_in_one_call(
    large_study: Study, stub: Stub, kind: str, lasting: int, concurrency: int
) -> None:
    when = {"construct": "any", "containing": f"<{lasting}>"}
    stub.behave({**KINDS[kind], "when": when})
    settings: dict[str, Any] = {"concurrency": concurrency, **UNHURRIED}
    outcome = judged(large_study, stub, **settings)
    assert (outcome.failed, outcome.remaining) == ({}, 0)
    assert outcome.missing == {"not_served": lasting}
    assert outcome.judged == WHOLE
    given_up = [row for row in judgments(large_study) if row["missing_reason"]]
    assert len(given_up) == lasting
    assert all(row["raw_answer"] for row in given_up), "the reason is stored"
    times = stub.log().times_asked()
    # A complaint (429) may be about other prompts, so that it counts in part.
    most = TRIES if not kind.startswith("429") else 2 * TRIES + 5
    assert max(times.values()) <= most
    assert sorted(times.values())[: WHOLE - lasting] == [1] * (WHOLE - lasting)

    # The others are asked before the last tries of these.
    asked = stub.log().judged
    good_at = max(request["at"] for request in asked if request["status"] == 200)
    if kind in {"401", "404", "429", "501", "redirect"}:
        failing = [request["at"] for request in asked if request["status"] != 200]
        assert good_at < max(failing)

    # The next call asks none of them; the option does.
    stub.behave()
    stub.forget()
    assert judged(large_study, stub, **settings).judged == 0
    assert stub.log().judged == []
    again = judged(large_study, stub, retry_unparsed=True, **settings)
    assert (again.judged, again.run_missing, len(stub.log().judged)) == (lasting, {}, lasting)


def test_a_prompt_beyond_the_quota_of_a_minute_is_too_long(large_study: Study, stub: Stub) -> None:
    when = {"construct": "any", "containing": "<60>"}
    stub.behave({"behaviour": "request_too_large", "when": when})
    outcome = judged(large_study, stub)
    assert (outcome.judged, outcome.missing, outcome.retries) == (WHOLE, {"too_long": 60}, {})
    assert set(stub.log().times_asked().values()) == {1}


def test_a_throttled_prompt_lets_the_others_pass(large_study: Study, stub: Stub) -> None:
    when = {"construct": "any", "containing": "<30>", "tries": 4}
    stub.behave({"behaviour": "throttled", "form": "ms", "wait": 0.3, "when": when})
    outcome = judged(large_study, stub, concurrency=4, patience=60)
    assert (outcome.judged, outcome.missing, outcome.failed) == (WHOLE, {}, {})
