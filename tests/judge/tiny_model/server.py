"""Serve the model as an OpenAI-compatible endpoint.

`python -m tests.judge.tiny_model.server FOLDER --log FILE`, in an environment with
requirements.txt. It prints its address when it is ready, and returns real probabilities of tokens
where they are asked for. Each answer is computed by itself on one thread, so that it depends on its
prompt alone, bit for bit, and on no other prompt under way.
"""

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.judge.stub.completions import digest
from tests.judge.tiny_model.answering import Asked, Judge, RefusedError, is_message


class Log:
    """A file with a line for each request's beginning and end; without a path, nothing."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("a", encoding="utf-8") if path else None
        self._lock = threading.Lock()
        self._number = 0

    def begun(self, request: str, prompt: str | None) -> int:
        """Write that a request has come; return its number."""
        with self._lock:
            self._number += 1
            named = None if prompt is None else digest(prompt)
            self._write(event="begin", number=self._number, request=request, prompt=named)
            return self._number

    def ended(self, number: int, status: int) -> None:
        """Write that its answer is ready."""
        with self._lock:
            self._write(event="end", number=number, status=status)

    def _write(self, **entry: Any) -> None:
        if self._file is not None:
            self._file.write(json.dumps({**entry, "at": time.time()}) + "\n")
            self._file.flush()


class Server(ThreadingHTTPServer):
    """An endpoint for one model."""

    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, port: int, judge: Judge, name: str, log: Log, *, like_vllm: bool) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.judge, self.name, self.log, self.like_vllm = judge, name, log, like_vllm

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about clients that are killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    server: Server
    protocol_version = "HTTP/1.1"
    # Head and body of an answer leave in one piece, and at once.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Tell the health, or the models."""
        self._reply(None, self._state)

    def do_POST(self) -> None:
        """Answer a prompt."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        if self.server.like_vllm and self.path == "/tokenize":
            self._reply(None, lambda: {"tokens": self.server.judge.tokens(body["prompt"])})
            return
        self._reply(_last_content(body), lambda: self._completion(body))

    def _reply(self, prompt: str | None, make: Callable[[], dict[str, Any]]) -> None:
        number = self.server.log.begun(f"{self.command} {self.path}", prompt)
        status, body = 500, {}
        try:
            status, body = 200, make()
        except RefusedError as refused:
            status, body = refused.status, {"error": refused.error}
        finally:
            self.server.log.ended(number, status)
        self._send(status, json.dumps(body).encode())

    def _state(self) -> dict[str, Any]:
        if self.path == "/health":
            return {"status": "ok"}
        if self.path != "/v1/models":
            raise RefusedError(404, "not_found", f"No such path: {self.path}")
        window = self.server.judge.window
        owner = "vllm" if self.server.like_vllm else "tests"
        judge = {"id": self.server.name, "object": "model", "owned_by": owner}
        return {"object": "list", "data": [{**judge, "max_model_len": window}]}

    def _completion(self, body: Any) -> dict[str, Any]:
        if self.path != "/v1/chat/completions":
            raise RefusedError(404, "not_found", f"No such path: {self.path}")
        completion = self.server.judge.answer(Asked.checked(body, self.server.name))
        message = {"role": "assistant", "content": completion.text}
        logprobs = None if completion.logprobs is None else {"content": completion.logprobs}
        choice = {"index": 0, "message": message, "finish_reason": completion.finish_reason}
        return {
            "id": f"chatcmpl-{time.time_ns()}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.server.name,
            "choices": [{**choice, "logprobs": logprobs}],
            "usage": {
                "prompt_tokens": completion.prompt_tokens,
                "completion_tokens": completion.completion_tokens,
                "total_tokens": completion.prompt_tokens + completion.completion_tokens,
            },
        }

    def _send(self, status: int, content: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            self.wfile.flush()
        except OSError:
            # The client has ended, perhaps killed; nobody reads the answer.
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Keep quiet: the log has its own file."""


def _last_content(body: Any) -> str | None:
    """Return the prompt of a request, whatever else is wrong with it."""
    messages = body.get("messages") if isinstance(body, dict) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    return last["content"] if last is not None and is_message(last) else None


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    """Load the model, and answer until asked to end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--name", default="tiny-random", help="name of the model")
    parser.add_argument("--log", type=Path, help="file for a line about each prompt's life")
    parser.add_argument(
        "--end-with-input",
        action="store_true",
        help="end when standard input does, which it also does when the one who started this dies",
    )
    parser.add_argument(
        "--like-vllm",
        action="store_true",
        help="take vLLM's logprob_token_ids, and tell tokens at /tokenize",
    )
    options = parser.parse_args()
    if options.end_with_input:
        threading.Thread(target=_end_with_input, daemon=True).start()
    judge = Judge(options.folder)
    server = Server(
        options.port, judge, options.name, Log(options.log), like_vllm=options.like_vllm
    )
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
