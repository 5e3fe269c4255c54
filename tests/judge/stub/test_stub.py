"""The endpoint itself: what the tests of judging rely on."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.judge.stub.behaviours import BEHAVIOURS
from tests.judge.stub.exchange import key_digest
from tests.judge.stub.process import Stub, running_stub

START = "Evaluate the Question Relevance of the generated response to the user query.\nWhat?"

END = "Output: Only print the score and nothing else."
QR = f"{START}\n{END}"


def another(number: int) -> str:
    """Return one of many prompts."""
    return f"{START} {number}\n{END}"


@pytest.fixture(scope="module")
def running() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


@pytest.fixture
def stub(running: Stub) -> Stub:
    running.behave()
    running.forget()
    return running


def ask(stub: Stub, prompt: str = QR, **parameters: Any) -> tuple[int, dict[str, str], bytes]:
    """Ask once; return status, headers and body."""
    port = urlsplit(stub.base_url).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        body = {"model": "m", "messages": [{"role": "user", "content": prompt}], **parameters}
        headers = {"Authorization": "Bearer sk-secret", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body).encode(), headers)
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.headers.items()}, response.read()
    finally:
        connection.close()


def content(body: bytes) -> str:
    return str(json.loads(body)["choices"][0]["message"]["content"])


def test_the_score_is_a_function_of_the_prompt(stub: Stub) -> None:
    prompts = [another(number) for number in range(300)]
    scores = [content(ask(stub, prompt)[2]) for prompt in prompts[:20]]
    assert scores == [str(stub.score(prompt)) for prompt in prompts[:20]]
    assert len({stub.score(prompt) for prompt in prompts}) > 80


def test_the_log_records_requests_and_never_a_key(stub: Stub) -> None:
    ask(stub, QR, temperature=0, max_tokens=16)
    ask(stub, "Reply with 7.")
    log = stub.log()
    assert [request["construct"] for request in log.requests] == ["QR", None]
    first = log.judged[0]
    assert first["parameters"] == {"model": "m", "temperature": 0, "max_tokens": 16}
    assert first["status"] == 200
    assert first["at"] <= first["answered_at"] <= time.monotonic()
    assert first["key_digest"] == key_digest("sk-secret")
    assert "secret" not in json.dumps(log.requests)


def test_requests_under_way_at_once_are_counted(stub: Stub) -> None:
    stub.behave("slow", delay=0.2)
    with ThreadPoolExecutor(7) as threads:
        list(threads.map(lambda n: ask(stub, another(n)), range(7)))
    log = stub.log()
    spans = [(request["at"], request["answered_at"]) for request in log.requests]
    under_way = [sum(begun <= at < ended for begun, ended in spans) for at, _ in spans]
    assert [request["unanswered"] for request in log.requests] == under_way
    assert (log.most_unanswered, log.unanswered, log.answered) == (max(under_way), 0, 7)
    assert max(under_way) > 1


def test_down_refuses_and_up_takes_connections_again(stub: Stub) -> None:
    stub.behave("down")
    with pytest.raises(ConnectionRefusedError):
        ask(stub)
    stub.behave()
    assert ask(stub)[0] == 200


def test_flapping_is_down_and_up_by_turns(stub: Stub) -> None:
    stub.behave("flapping", period=0.1)
    states: list[int] = []
    until = time.monotonic() + 60
    while len(states) < 4 and time.monotonic() < until:
        with socket.socket() as client:
            state = client.connect_ex(("127.0.0.1", urlsplit(stub.base_url).port))
        if not states or states[-1] != state:
            states.append(state)
        time.sleep(0.01)
    assert len(states) == 4


def test_conditions_choose_the_requests(stub: Stub) -> None:
    stub.behave("http_500", when={"first": 2, "construct": "any"})
    prompts = ["probe", QR, "probe", QR, QR]
    assert [ask(stub, prompt)[0] for prompt in prompts] == [200, 500, 200, 500, 200]
    stub.behave("http_500", when={"tries": 1})
    assert [ask(stub, prompt)[0] for prompt in ["a", "a", "b", "b"]] == [500, 200, 500, 200]
    stub.behave("http_500", when={"every": 3})
    assert [ask(stub)[0] for _ in range(6)] == [200, 200, 500, 200, 200, 500]
    stub.behave("http_500", when={"share": 0.3})
    failed = sum(ask(stub, another(n))[0] == 500 for n in range(200))
    assert 40 <= failed <= 80


def test_a_cut_connection_holds_a_part_of_what_was_promised(stub: Stub) -> None:
    stub.behave("cut")
    with pytest.raises(http.client.IncompleteRead) as caught:
        ask(stub)
    assert caught.value.partial.startswith(b"{")
    stub.behave("closes")
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        ask(stub)


@pytest.mark.parametrize(
    ("form", "header"),
    [
        ("seconds", "retry-after"),
        ("date", "retry-after"),
        ("ms", "retry-after-ms"),
        ("quota", "x-ratelimit-reset-requests"),
    ],
)
def test_patience_is_asked_for_in_every_form(stub: Stub, form: str, header: str) -> None:
    stub.behave("throttled", form=form, wait=2)
    status, headers, _ = ask(stub)
    assert status == 429
    assert header in headers


def test_behaviours_go_together(stub: Stub) -> None:
    stub.behave("rejects_max_tokens", "reasoning", needs=500)
    assert b"max_completion_tokens" in ask(stub, max_tokens=16)[2]
    assert content(ask(stub, max_completion_tokens=16)[2]) == ""
    assert content(ask(stub, max_completion_tokens=600)[2]) == str(stub.score(QR))


def test_a_truncating_server_counts_only_what_it_used(stub: Stub) -> None:
    stub.behave("truncating", most=100)
    assert json.loads(ask(stub, QR)[2])["usage"]["prompt_tokens"] < 100
    assert json.loads(ask(stub, QR * 20)[2])["usage"]["prompt_tokens"] == 100


def test_every_behaviour_can_be_selected(stub: Stub) -> None:
    needed: dict[str, dict[str, Any]] = {
        "http_status": {"status": 418},
        "answers": {"text": "Score: 4"},
        "rejects": {"parameter": "n"},
        "needs_key": {"key": "sk-other"},
    }
    for name in set(BEHAVIOURS) - {"hangs", "cut", "closes"}:
        stub.behave({"behaviour": name, **needed.get(name, {})})
        assert ask(stub, max_tokens=16)[0] >= 200
    with pytest.raises(ValueError, match="no behaviour 'slwo'"):
        stub.behave("slwo")
    with pytest.raises(ValueError, match="dely"):
        stub.behave("slow", dely=1)
