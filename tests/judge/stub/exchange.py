"""A request as the endpoint saw it, and the reply that it is about to get."""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from tests.judge.stub.completions import construct, digest

# Of a request's headers these are kept; a key is kept as its digest only.
KEPT = (
    "user-agent",
    "accept",
    "content-type",
    "cookie",
    "accept-encoding",
    "connection",
    "x-title",
)


class Seen:
    """One request for a completion."""

    def __init__(
        self, number: int, headers: dict[str, str], body: dict[str, Any], unanswered: int, at: float
    ) -> None:
        self.number = number
        self.headers = headers
        self.unanswered = unanswered
        """Requests begun and not answered when this one came, itself included."""
        self.at = at
        """Seconds of the machine's monotonic clock, which its processes share."""
        messages = body.pop("messages", None) or []
        self.messages = len(messages)
        first = messages[0] if messages else {}
        self.system = _text(first.get("content")) if first.get("role") == "system" else None
        self.prompt = _text(messages[-1].get("content")) if messages else ""
        self.parameters = body
        self.digest = digest(self.prompt)
        self.construct = construct(self.prompt)
        self.size = len(self.prompt.encode("utf-8", "replace"))

    @cached_property
    def token_limit(self) -> int | None:
        """The most tokens that the answer may have."""
        for name in ("max_completion_tokens", "max_tokens"):
            if isinstance(self.parameters.get(name), int):
                return int(self.parameters[name])
        return None

    def kept(self) -> dict[str, Any]:
        """Return what the log holds of it: never the prompt, never a key."""
        key = self.headers.get("authorization")
        return {
            "number": self.number,
            "prompt": self.digest,
            "construct": self.construct,
            "bytes": self.size,
            "messages": self.messages,
            "system": self.system,
            "parameters": self.parameters,
            "headers": {name: self.headers[name] for name in KEPT if name in self.headers},
            "key_digest": None if key is None else key_digest(key.removeprefix("Bearer ")),
            "unanswered": self.unanswered,
            "at": self.at,
            "answered_at": None,
            "status": None,
        }


@dataclass
class Reply:
    """What a request gets. A behaviour changes it."""

    body: dict[str, Any] | bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    delay: float = 0.0
    """Seconds until it is sent."""
    sent_share: float = 1.0
    """Share of the promised body that is sent before the connection is cut; 1: the whole."""
    closes: bool = False
    """Close the connection instead of replying."""
    hangs: bool = False
    """Never reply."""

    @property
    def completion(self) -> dict[str, Any] | None:
        """The body, where it is an answer."""
        return self.body if isinstance(self.body, dict) and "choices" in self.body else None


def key_digest(key: str) -> str:
    """Return what the log holds in place of a key."""
    return sha256(key.encode()).hexdigest()[:16]


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")
