"""What the endpoint does with a request, and what it remembers of it."""

import asyncio
import json
from collections.abc import Callable
from time import monotonic
from typing import Any

from tests.judge.stub.behaviours import error
from tests.judge.stub.completions import MODEL, completion, embeddings, score, tokens
from tests.judge.stub.connection import Connection
from tests.judge.stub.exchange import Reply, Seen
from tests.judge.stub.rules import Mode


class Endpoint:
    """The clients' side: completions and the list of models, as the mode has them."""

    def __init__(
        self, *, model: str = MODEL, max_model_len: int | None = None, keeps_log: bool = True
    ) -> None:
        self.mode = Mode()
        self.connections: set[Connection] = set()
        self._model = model
        self._max_model_len = max_model_len
        self._keeps_log = keeps_log
        self.forget()

    def forget(self) -> None:
        """Begin a new log. What is under way stays counted as unanswered."""
        self._log: list[dict[str, Any]] = []
        self._others: list[str] = []
        self._asked = self._answered = self._accepted = 0
        self._unanswered = getattr(self, "_unanswered", 0)
        self._most_unanswered = self._unanswered

    def report(self) -> dict[str, Any]:
        """Return what was seen since the log began."""
        return {
            "requests": self._log,
            "other_requests": self._others,
            "asked": self._asked,
            "answered": self._answered,
            "unanswered": self._unanswered,
            "most_unanswered": self._most_unanswered,
            "connections": self._accepted,
        }

    def opened(self, connection: Connection) -> None:
        """Count a connection."""
        self._accepted += 1
        self.connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self.connections.discard(connection)

    def take(
        self, method: str, path: str, headers: dict[str, str], body: bytes, connection: Connection
    ) -> Callable[[], None] | None:
        """Reply, now or later; for later, return what to call if the client goes before that."""
        if path == "/v1/chat/completions" and method == "POST":
            return self._chat(headers, body, connection)
        self._others.append(f"{method} {path}")
        if path == "/v1/embeddings" and method == "POST":
            connection.send(Reply(embeddings(json.loads(body))))
            return None
        connection.send(self._models() if path == "/v1/models" else _unknown(path))
        return None

    def _chat(
        self, headers: dict[str, str], body: bytes, connection: Connection
    ) -> Callable[[], None] | None:
        self._asked += 1
        self._unanswered += 1
        self._most_unanswered = max(self._most_unanswered, self._unanswered)
        seen = Seen(self._asked, headers, json.loads(body), self._unanswered, monotonic())
        entry = seen.kept() if self._keeps_log else {}
        if entry:
            self._log.append(entry)
        reply = self._reply(seen)

        def answer() -> None:
            self._unanswered -= 1
            if not reply.closes:
                self._answered += 1
                entry["status"], entry["answered_at"] = reply.status, monotonic()
            connection.send(reply)

        if not reply.delay and not reply.hangs:
            answer()
            return None
        timer = None
        if not reply.hangs:
            timer = asyncio.get_running_loop().call_later(reply.delay, answer)

        def gone() -> None:
            self._unanswered -= 1
            if timer is not None:
                timer.cancel()

        return gone

    def _reply(self, seen: Seen) -> Reply:
        model = str(seen.parameters.get("model", self._model))
        reply = Reply(completion(model, str(score(seen.digest)), tokens(seen.size)))
        for rule in self.mode.rules:
            rule.change(seen, reply)
        return reply

    def _models(self) -> Reply:
        if not self.mode.lists_models:
            return _unknown("/v1/models")
        model: dict[str, Any] = {"id": self._model, "object": "model", "owned_by": "tests"}
        if self._max_model_len is not None:
            model["max_model_len"] = self._max_model_len
        return Reply({"object": "list", "data": [model]})


class Controls:
    """The tests' side, on a port of its own that is always open."""

    def __init__(self, endpoint: Endpoint, follow: Callable[[], None]) -> None:
        self._endpoint = endpoint
        self._follow = follow

    def opened(self, connection: Connection) -> None:
        """Take any connection."""

    def closed(self, connection: Connection) -> None:
        """Let it go."""

    def take(
        self, method: str, path: str, headers: dict[str, str], body: bytes, connection: Connection
    ) -> None:
        """Tell the log, forget it, or change the mode."""
        del headers
        connection.send(self._reply(method, path, body))

    def _reply(self, method: str, path: str, body: bytes) -> Reply:
        if (method, path) == ("GET", "/control/log"):
            return Reply(self._endpoint.report())
        if (method, path) == ("POST", "/control/forget"):
            self._endpoint.forget()
            return Reply({})
        if (method, path) == ("POST", "/control/mode"):
            try:
                self._endpoint.mode = Mode(json.loads(body)["rules"])
            except (ValueError, TypeError, KeyError) as problem:
                return Reply({"problem": str(problem)}, status=400)
            self._follow()
            return Reply({})
        return _unknown(path)


def _unknown(path: str) -> Reply:
    reply = Reply(b"")
    error(reply, 404, f"Unknown path {path}", "not_found")
    return reply
