"""The batch services of OpenAI, Anthropic and Gemini on this machine, which fail on request."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.judge.small_studies import score

KEY = "sk-secret-of-the-stub-0123456789"


@dataclass
class StoredBatch:
    """A batch that a call has started."""

    id: str
    form: str
    requests: list[dict[str, Any]]
    mark: str | None
    word: str
    results: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    message: str = ""
    upload: str | None = None

    @property
    def ended(self) -> bool:
        return self.word not in {"validating", "in_progress", "BATCH_STATE_PENDING"}


@dataclass
class Fault:
    """What happens to the next requests whose method and path begin so, instead of the reply."""

    start: str
    action: str
    """A status, `cut`: the reply is lost, `hold`: it waits for `released`, `half`: of a body."""
    before: bool = False
    """Whether nothing is done."""
    times: int = 1


class BatchServices:
    """The state of all three services, and the log of requests."""

    def __init__(self) -> None:
        self.base = ""
        self.log: list[str] = []
        self.files: dict[str, bytes] = {}
        self.batches: list[StoredBatch] = []
        self.faults: list[Fault] = []
        self.held = threading.Event()
        self.released = threading.Event()
        self.keeps_marks = True
        self.lists = True

    def fail(self, start: str, action: str, *, before: bool = False, times: int = 1) -> None:
        self.faults.append(Fault(start, action, before, times))

    def fault_of(self, line: str) -> Fault | None:
        for fault in self.faults:
            if line.startswith(fault.start) and fault.times:
                fault.times -= 1
                return fault
        return None

    def address(self, form: str) -> str:
        return f"{self.base}/{'v1beta' if form == 'gemini' else 'v1'}"

    def finish(self, batch: StoredBatch, answered: int | None = None) -> None:
        """Answer the requests of a batch; those beyond `answered` expire."""
        number = len(batch.requests) if answered is None else answered
        done = {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}[batch.form]
        batch.results = [done(request, True) for request in batch.requests[:number]]
        rest = [done(request, False) for request in batch.requests[number:]]
        if batch.form == "openai":
            batch.errors = rest
            batch.word = "expired" if rest else "completed"
        else:
            batch.results += rest
            batch.word = "ended" if batch.form == "anthropic" else "BATCH_STATE_SUCCEEDED"

    def new_batch(
        self, form: str, lines: list[dict[str, Any]], mark: Any, word: str
    ) -> StoredBatch:
        number = len(self.batches) + 1
        name = {"openai": "batch_", "anthropic": "msgbatch_", "gemini": "batches/b"}[form]
        batch = StoredBatch(f"{name}{number}", form, lines, mark, word)
        self.batches.append(batch)
        return batch

    def shown(self, batch: StoredBatch) -> dict[str, Any]:
        total, done, bad = len(batch.requests), len(batch.results), len(batch.errors)
        if batch.form == "openai":
            failed = {"data": [{"line": 3, "message": batch.message}]} if batch.message else None
            return {
                "id": batch.id,
                "created_at": 4_000_000_000,
                "status": batch.word,
                "input_file_id": batch.upload,
                "metadata": {"ccrs_file": batch.mark} if self.keeps_marks else None,
                "request_counts": {"total": total, "completed": done, "failed": bad},
                "output_file_id": f"file-{batch.id}-out" if done else None,
                "error_file_id": f"file-{batch.id}-err" if bad else None,
                "errors": failed,
            }
        if batch.form == "anthropic":
            expired = sum(line["result"]["type"] == "expired" for line in batch.results)
            url = f"{self.base}/v1/messages/batches/{batch.id}/results"
            return {
                "id": batch.id,
                "processing_status": batch.word,
                "request_counts": {
                    "processing": total - done,
                    "succeeded": done - expired,
                    "expired": expired,
                },
                "results_url": (batch.message or url) if batch.ended else None,
            }
        failed_ones = sum("error" in line for line in batch.results)
        shown: dict[str, Any] = {
            "name": batch.id,
            "metadata": {
                "displayName": batch.mark,
                "state": batch.word,
                "batchStats": {
                    "requestCount": str(total),
                    "successfulRequestCount": str(done - failed_ones),
                    "failedRequestCount": str(failed_ones),
                },
            },
            "done": batch.ended,
        }
        if batch.message:
            shown["error"] = {"code": 3, "message": batch.message}
        elif batch.ended:
            shown["response"] = {"responsesFile": f"files/out{batch.id[9:]}"}
        return shown


def _openai(line: dict[str, Any], answered: bool) -> dict[str, Any]:
    if not answered:
        error = {"code": "batch_expired", "message": "This request could not be executed."}
        return {"custom_id": line["custom_id"], "response": None, "error": error}
    body = {
        "model": "gpt-0",
        "choices": [
            {
                "message": {"content": score(line["body"]["messages"][-1]["content"])},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1},
    }
    response = {"status_code": 200, "body": body}
    return {"custom_id": line["custom_id"], "response": response, "error": None}


def _anthropic(request: dict[str, Any], answered: bool) -> dict[str, Any]:
    message = {
        "model": "claude-0",
        "content": [{"type": "text", "text": score(request["params"]["messages"][0]["content"])}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    result = {"type": "succeeded", "message": message} if answered else {"type": "expired"}
    return {"custom_id": request["custom_id"], "result": result}


def _gemini(line: dict[str, Any], answered: bool) -> dict[str, Any]:
    if not answered:
        return {"key": line["key"], "error": {"code": 4, "message": "Deadline exceeded."}}
    text = score(line["request"]["contents"][0]["parts"][0]["text"])
    candidate = {"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 1}
    response = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-0"}
    return {"key": line["key"], "response": response}


def _lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines() if line.strip()]


class RefusedError(Exception):
    """A status and a message."""


def _check(holds: object, message: str, status: int = 400) -> None:
    if not holds:
        raise RefusedError(status, message)


class _Handler(BaseHTTPRequestHandler):
    services: BatchServices
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def _answer(self) -> None:
        services = self.services
        parts = urlsplit(self.path)
        line = f"{self.command} {parts.path}"
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        services.log.append(line)
        fault = services.fault_of(line)
        status, headers, content = 200, {}, b"{}"
        if fault is None or not fault.before:
            try:
                content, headers = self._done(parts.path, parse_qs(parts.query), body)
            except RefusedError as refusal:
                status, message = refusal.args
                content = json.dumps({"error": {"message": message}}).encode()
        if fault is not None:
            if fault.action == "hold":
                services.held.set()
                services.released.wait(60)
            if fault.action.isdecimal():
                status, headers = int(fault.action), {"Retry-After": "0"}
                content = json.dumps({"error": {"message": f"stub {status}"}}).encode()
            if fault.action == "cut":
                self.close_connection = True
                return
        with suppress(BrokenPipeError, ConnectionResetError):
            self._reply(status, headers, content, half=fault is not None and fault.action == "half")

    def _reply(self, status: int, headers: dict[str, str], content: bytes, *, half: bool) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if half else content)
        self.close_connection = half

    def _done(
        self, path: str, query: dict[str, list[str]], body: bytes
    ) -> tuple[bytes, dict[str, str]]:
        self._check_key(path)
        headers: dict[str, str] = {}
        data = (
            self._gemini(path, body, headers) if "/v1beta" in path else self._v1(path, query, body)
        )
        return data if isinstance(data, bytes) else json.dumps(data).encode(), headers

    def _check_key(self, path: str) -> None:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        name = "Authorization"
        if "/messages/" in path:
            _check(self.headers.get("anthropic-version"), "anthropic-version: header is required")
            name, given = "x-api-key", self.headers.get("x-api-key", "")
        elif "/v1beta" in path:
            name, given = "x-goog-api-key", self.headers.get("x-goog-api-key", "")
        _check(given == KEY, f"Incorrect API key provided in {name}: {given}", 401)

    def _v1(self, path: str, query: dict[str, list[str]], body: bytes) -> Any:
        if path == "/v1/files":
            return {"id": self._upload(body), "object": "file", "purpose": "batch"}
        if path.startswith("/v1/files/"):
            name = path.split("/")[3].removeprefix("file-")
            batch = self._batch(name.rpartition("-")[0])
            lines = batch.results if name.endswith("-out") else batch.errors
            return "".join(json.dumps(line) + "\n" for line in lines).encode()
        return self._batches(path, query, body)

    def _batches(self, path: str, query: dict[str, list[str]], body: bytes) -> Any:
        services = self.services
        form = "anthropic" if path.startswith("/v1/messages/") else "openai"
        rest = path.partition("batches")[2].strip("/")
        if rest:
            name, _, results = rest.partition("/")
            batch = self._batch(name)
            if results:
                return "".join(json.dumps(line) + "\n" for line in batch.results).encode()
            return services.shown(batch)
        if self.command == "GET":
            _check(services.lists, "no such page", 404)
            return self._page(form, query)
        data = json.loads(body)
        if form == "anthropic":
            return services.shown(services.new_batch(form, data["requests"], None, "in_progress"))
        _check(data["input_file_id"] in services.files, "no such file")
        _check(data["endpoint"] == "/v1/chat/completions", "wrong endpoint")
        _check(data["completion_window"] == "24h", "wrong window")
        lines = _lines(services.files[data["input_file_id"]])
        batch = services.new_batch(form, lines, data["metadata"]["ccrs_file"], "validating")
        batch.upload = data["input_file_id"]
        return services.shown(batch)

    def _page(self, form: str, query: dict[str, list[str]]) -> Any:
        """Return a page, the newest first; here of at most two."""
        batches = [batch for batch in self.services.batches[::-1] if batch.form == form]
        after = query.get("after", query.get("after_id", [""]))[0]
        if after:
            batches = batches[1 + [batch.id for batch in batches].index(after) :]
        size = min(int(query["limit"][0]), 2)
        shown = [self.services.shown(batch) for batch in batches[:size]]
        return {"data": shown, "has_more": len(batches) > size}

    def _upload(self, body: bytes) -> str:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        fields = {}
        for each in BytesParser().parsebytes(head + body).walk():
            name = each.get_param("name", header="content-disposition")
            if name:
                fields[name] = each.get_payload(decode=True)
        _check(fields["purpose"] == b"batch", "wrong purpose")
        return self._stored(fields["file"], "file-")

    def _stored(self, content: Any, start: str) -> str:
        name = f"{start}{len(self.services.files) + 1}"
        self.services.files[name] = content
        return name

    def _gemini(self, path: str, body: bytes, headers: dict[str, str]) -> Any:
        services = self.services
        if path == "/upload/v1beta/files":
            if self.headers.get("X-Goog-Upload-Command") == "start":
                _check(self.headers.get("X-Goog-Upload-Protocol") == "resumable", "protocol")
                headers["X-Goog-Upload-URL"] = f"{services.base}{path}?upload_id=1"
                return {}
            _check(self.headers.get("X-Goog-Upload-Command") == "upload, finalize", "command")
            return {"file": {"name": self._stored(body, "files/f")}}
        if path.startswith("/download/v1beta/"):
            number = path.partition("files/out")[2].removesuffix(":download")
            lines = services.batches[int(number) - 1].results
            return "".join(json.dumps(line) + "\n" for line in lines).encode()
        if path.endswith(":batchGenerateContent"):
            _check("/models/gemini-0:" in path, "no such model", 404)
            data = json.loads(body)["batch"]
            lines = _lines(services.files[data["input_config"]["file_name"]])
            word = "BATCH_STATE_PENDING"
            return services.shown(services.new_batch("gemini", lines, data["display_name"], word))
        if path == "/v1beta/batches":
            return {"operations": [services.shown(b) for b in services.batches[::-1]]}
        return services.shown(self._batch(path.removeprefix("/v1beta/")))

    def _batch(self, name: str) -> StoredBatch:
        for batch in self.services.batches:
            if batch.id == name:
                return batch
        raise RefusedError(404, f"no such batch {name}")


@contextmanager
def running_services() -> Iterator[BatchServices]:
    """Start the services in a thread; they end with the block."""
    services = BatchServices()
    handler: Callable[..., Any] = type("Handler", (_Handler,), {"services": services})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    services.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield services
    finally:
        services.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
