"""A server that behaves in ways which the stub does not know: bodies, keys, charges, replicas."""

import gzip
import json
import sys
import threading
import time
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import pytest

from judge import OpenAISettings, Outcome, judge_study
from judge.running.runner import RunStoppedError
from study import Study
from tests.judge.faults.faulty_run import SHORT_WAITS, WHOLE, judgments

KEY = "sk-other/0123456789+Abc="
Headers = dict[str, str]


class Asked(NamedTuple):
    """A request: its number among those for completions, whether it is a prompt of the study."""

    number: int
    is_prompt: bool
    key: str
    body: dict[str, Any]


class Raw(NamedTuple):
    """What is sent back, byte for byte."""

    status: int = 200
    headers: Headers = {}  # noqa: RUF012  (never changed)
    body: bytes = b""
    cut: bool = False
    pause: float = 0.0


def said(content: Any = "7", **more: Any) -> Raw:
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    choice = {"message": message, "finish_reason": "stop"}
    return Raw(body=json.dumps({"choices": [choice], **more}).encode())


@contextmanager
def serving(reply: Callable[[Asked], Raw]) -> Iterator[str]:
    """Serve replies on this machine; return the address."""
    numbers, lock = count(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                number = next(numbers)
            key = str(self.headers["Authorization"]).removeprefix("Bearer ")
            raw = reply(Asked(number, b"Evaluate the" in sent, key, json.loads(sent)))
            self.send_response(raw.status)
            for name, value in raw.headers.items():
                self.send_header(name, value)
            if raw.cut:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"%x\r\n%s" % (len(raw.body), raw.body[: len(raw.body) // 2]))
                self.close_connection = True
                return
            self.send_header("Content-Length", str(len(raw.body)))
            self.end_headers()
            for at in range(0, len(raw.body), 16) if raw.pause else ():
                self.wfile.write(raw.body[at : at + 16])
                self.wfile.flush()
                time.sleep(raw.pause)
            if not raw.pause:
                self.wfile.write(raw.body)

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


def judged(study: Study, address: str, **settings: Any) -> Outcome:
    return judge_study(study, OpenAISettings(base_url=address, **{**SHORT_WAITS, **settings}))


@pytest.mark.parametrize(
    "odd",
    [
        said([{"type": "text", "text": ""}, {"type": "text", "text": "7"}]),
        said([{"type": "text", "text": None}, {"type": "output_text", "text": "7"}]),
        said(7),
        said("7", error={}),
        said("7", error={"code": None, "message": ""}),
        said("7", message={"reasoning_content": {"steps": [9]}}),
        said("7", usage="many"),
        said("7", usage={"prompt_tokens": -3, "completion_tokens": "2"}),
        said("7", usage={"prompt_tokens": {"key": KEY}, "completion_tokens": [1]}),
        Raw(headers={"Content-Encoding": "gzip"}, body=gzip.compress(said().body)),
        Raw(headers={"Content-Encoding": "deflate"}, body=zlib.compress(said().body)),
        Raw(headers={"Content-Type": "text/plain; charset=utf-16"}, body=said().body),
        Raw(headers={"X-Key": KEY, "Set-Cookie": KEY}, body=b"\xef\xbb\xbf" + said().body),
        Raw(status=201, body=b" \n" * 50 + said().body),
    ],
)
def test_an_answer_in_an_odd_form_is_read(small_study: Study, odd: Raw) -> None:
    with serving(lambda asked: odd if asked.is_prompt else said()) as address:
        outcome = judged(small_study, address, limit=4, tries=2)
    assert (outcome.judged, outcome.missing, outcome.failed) == (4, {}, {})
    assert {row["value"] for row in judgments(small_study)} == {7}


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (Raw(body=said().body, cut=True), "connection_cut"),
        (Raw(headers={"Content-Encoding": "gzip"}, body=gzip.compress(said().body)[:-20]), ""),
        (Raw(headers={"Content-Encoding": "gzip"}, body=said().body), ""),
        (Raw(headers={"Content-Encoding": "br"}, body=said().body), ""),
        (Raw(body=said().body, pause=0.5), "timeout"),
        (said("7", error={"message": "out of memory"}), "http_500"),
        (Raw(429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), "http_429"),
    ],
)
def test_what_fails_once_is_asked_again(small_study: Study, odd: Raw, reason: str) -> None:
    failed: list[int] = []

    def reply(asked: Asked) -> Raw:
        if asked.is_prompt and not failed:
            failed.append(asked.number)
            return odd
        return said()

    with serving(reply) as address:
        outcome = judged(small_study, address, limit=4, timeout=1)
    assert (outcome.judged, outcome.missing, outcome.failed) == (4, {}, {})
    assert sum(outcome.retries.values()) == 1
    assert reason in str(outcome.retries)
    assert {row["value"] for row in judgments(small_study)} == {7}


@pytest.mark.parametrize("after", ["99999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_of_years_ends_the_run_in_words(small_study: Study, after: str) -> None:
    busy = Raw(429, {"Retry-After": after})
    with (
        serving(lambda asked: busy if asked.is_prompt else said()) as address,
        pytest.raises(RunStoppedError, match="The endpoint asks to wait"),
    ):
        judged(small_study, address, patience=2)
    assert judgments(small_study) == []


def test_a_replica_that_loads_is_waited_for(small_study: Study) -> None:
    def reply(asked: Asked) -> Raw:
        loading = {20: 404, 21: 404, 22: 503, 23: 404, 24: 503}
        status = loading.get(asked.number, 200)
        return said() if status == 200 else Raw(status, body=b"<html>Not yet</html>")

    with serving(reply) as address:
        outcome = judged(small_study, address, tries=1, concurrency=1)
    assert (outcome.judged, outcome.missing, outcome.failed) == (WHOLE, {}, {})


class Tokens:
    """A server whose tokens each hold for some requests, and a command that prints the newest."""

    def __init__(self, folder: Path, holds: int, refusal: Raw) -> None:
        self._path, self._holds, self._refusal = folder / "token", holds, refusal
        self._lock, self._left, self._made = threading.Lock(), holds, 0
        self._path.write_text(self.current)
        program = "import sys; print(open(sys.argv[1]).read())"
        self.command = f"{quote(sys.executable)} -S -c {quote(program)} {quote(str(self._path))}"

    @property
    def current(self) -> str:
        return f"{KEY}{self._made:04d}"

    def reply(self, asked: Asked) -> Raw:
        with self._lock:
            if asked.key != self.current:
                return self._refusal
            self._left -= 1
            if self._left == 0:
                self._made, self._left = self._made + 1, self._holds
                self._path.write_text(self.current)
            return said()


@pytest.mark.parametrize(
    "refusal",
    [
        Raw(401, body=f"not {KEY}".encode()),
        Raw(403, body=b'{"message": "Bearer Token has expired"}'),
        Raw(400, body=b'{"error": {"message": "API key expired. Please renew the API key."}}'),
    ],
)
def test_a_token_that_holds_for_some_requests_is_read_again(
    small_study: Study, tmp_path: Path, refusal: Raw
) -> None:
    tokens = Tokens(tmp_path, 25, refusal)
    with serving(tokens.reply) as address:
        outcome = judged(small_study, address, api_key_command=tokens.command, tries=2)
    assert (outcome.judged, outcome.missing, outcome.failed) == (WHOLE, {}, {})
    files = [path for path in small_study.folder.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)


@pytest.mark.parametrize("status", [301, 307, 401, 403, 404])
def test_a_prompt_that_is_always_refused_costs_only_itself_and_shows_no_key(
    small_study: Study, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    echoed = b64encode(f"user:{KEY}".encode()).decode()
    refused = Raw(
        status,
        {"Location": f"https://elsewhere.invalid/{echoed}?api-key={KEY}#\xff"},
        json.dumps({"usage": {KEY: [KEY]}, "error": {"message": [KEY, {"auth": echoed}]}}).encode(),
    )

    def reply(asked: Asked) -> Raw:
        text = json.dumps(asked.body)
        return refused if asked.is_prompt and "System B knows of subject 3" in text else said()

    with serving(reply) as address:
        outcome = judged(small_study, address, tries=2)
    assert outcome.judged == WHOLE
    assert sum(outcome.missing.values()) == 5
    contents = [path.read_bytes() for path in small_study.folder.rglob("*") if path.is_file()]
    contents += ["\n".join(outcome.lines()).encode()]
    assert not any(form[:20].encode() in text for form in (KEY, echoed[8:]) for text in contents)


@pytest.mark.parametrize("outside", [False, True], ids=["counted", "counted in the total only"])
def test_the_largest_cost_is_not_passed_by_what_a_server_charges(
    small_study: Study, outside: bool
) -> None:
    """Some servers count the tokens of reasoning in the total only, and charge for them."""
    charged, lock = [0], threading.Lock()

    def reply(asked: Asked) -> Raw:
        prompt = len(json.dumps(asked.body["messages"])) // 4
        reasoning = asked.body["max_tokens"] - 2
        time.sleep(0.01)
        with lock:
            charged[0] += prompt + 2 + reasoning
        counts = {
            "prompt_tokens": prompt,
            "completion_tokens": 2 if outside else 2 + reasoning,
            "total_tokens": prompt + 2 + reasoning,
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }
        return said(usage=counts)

    most = 150_000
    with serving(reply) as address, pytest.raises(RunStoppedError, match="--max-cost") as caught:
        judged(
            small_study, address, price=(1e6, 1e6), max_cost=most, concurrency=32,
            reasoning_tokens=2000,
        )  # fmt: skip
    assert caught.value.outcome.judged > 0
    assert most / 2 < charged[0] <= most
    # An answer that came while the call was being stopped was charged, and is not stored.
    assert (caught.value.outcome.cost or 0) <= charged[0]


class Quota:
    """A server that accepts some prompts in each window of time, and every plain question."""

    def __init__(self, most: int, window: float, *, tells: bool) -> None:
        self._most, self._window, self._tells = most, window, tells
        self._lock, self._taken, self._until = threading.Lock(), 0, 0.0
        self.complaints = 0

    def reply(self, asked: Asked) -> Raw:
        if not asked.is_prompt:
            return said()
        with self._lock:
            now = time.monotonic()
            if now >= self._until:
                self._taken, self._until = 0, now + self._window
            self._taken += 1
            if self._taken <= self._most:
                return said()
            self.complaints += 1
            wait = {"retry-after-ms": f"{(self._until - now) * 1000:.0f}"} if self._tells else {}
            return Raw(429, wait, b'{"error": {"message": "Rate limit reached for tokens"}}')


@pytest.mark.parametrize(
    ("most", "window", "tells"),
    [
        pytest.param(10, 0.5, True, id="with a wait"),
        pytest.param(10, 0.5, False, id="without"),
        # The waits of the tests are 25 times shorter than those of users: a minute.
        pytest.param(30, 2.4, False, id="a minute without", marks=pytest.mark.slow),
    ],
)
def test_a_quota_of_prompts_gives_none_of_them_up(
    small_study: Study, most: int, window: float, tells: bool
) -> None:
    """Plain questions are answered all the time, so that they prove nothing about the prompts."""
    quota = Quota(most, window, tells=tells)
    with serving(quota.reply) as address:
        outcome = judged(small_study, address, concurrency=32, patience=60)
    assert (outcome.judged, outcome.missing, outcome.failed) == (WHOLE, {}, {})
    assert quota.complaints < 10 * WHOLE
