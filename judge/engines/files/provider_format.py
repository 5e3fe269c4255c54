"""Formats of files: how a provider's batch service takes requests and returns results.

Results of every format are translated to replies of chat completions, so that refusals, truncated
answers and errors are read by the same rules as those of an endpoint.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from judge.prompts.answer_schema import AnswerSchema
from judge.protocol.chat_completion import read_reply
from judge.protocol.exchange import Answer, Failure
from judge.protocol.logprob_distribution import ScoreTokens
from judge.text import printable

# Characters of a provider's message that are stored.
_MESSAGE_LENGTH = 300


@dataclass(frozen=True)
class Sampling:
    """What is sent with each prompt."""

    model: str
    system: str
    max_tokens: int
    """Limit of an answer's tokens, those of reasoning included."""
    reasons: bool
    """Whether the model reasons before it answers."""
    temperature: float | None = None
    seed: int | None = None
    schema: AnswerSchema | None = None
    """Schema that the answer has to follow; None: free text."""
    alternatives: int | None = None
    """Number of likeliest tokens to return with their probabilities; None: none."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of each request."""


class BatchReply(NamedTuple):
    """A result as the reply of a chat completions endpoint."""

    status: int
    body: Mapping[str, Any] | str


class RequestSize(NamedTuple):
    """What a request asks for, by which its cost is estimated."""

    model: str | None
    """None where the format does not name it."""
    prompt_bytes: int
    answer_tokens: int
    """Most tokens of the answer, those of reasoning included."""


class ProviderFormat(ABC):
    """Writes requests, and reads results, of one provider's batch service."""

    name: ClassVar[str]
    id_field: ClassVar[str] = "custom_id"
    """Field of a request and of a result that names the prompt."""
    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]
    """The provider's limits for one file."""
    suffix: ClassVar[str] = ".jsonl"
    opening: ClassVar[bytes] = b""
    between: ClassVar[bytes] = b"\n"
    closing: ClassVar[bytes] = b"\n"
    """What is written before, between and after the requests of a file."""
    not_sent: ClassVar[Mapping[str, str]] = {}
    """Settings that requests of this format cannot express, with the remedy."""

    def recognizes(self, record: Mapping[str, Any]) -> bool:
        """Return whether a line of JSON is a result of this provider."""
        return isinstance(record.get(self.id_field), str)

    @abstractmethod
    def request(self, name: str, prompt: str, sampling: Sampling) -> dict[str, Any]:
        """Return the request of a prompt."""

    @abstractmethod
    def size(self, request: Mapping[str, Any]) -> RequestSize:
        """Return the size of a request that `request` made.

        Raises
        ------
        KeyError, TypeError
            The request has another form.
        """

    @abstractmethod
    def reply(self, result: Mapping[str, Any]) -> BatchReply | Failure | None:
        """Return what a result means; None where it has neither a response nor an error."""

    def read(
        self, result: Mapping[str, Any], scores: ScoreTokens | None
    ) -> Answer | Failure | None:
        """Return the answer in a result, or why there is none; None if it cannot be read."""
        reply = self.reply(result)
        if reply is None or isinstance(reply, Failure):
            return reply
        raw = _encoded(reply.body)
        answer = read_reply(reply.status, {}, raw, None, scores)
        return answer if isinstance(answer, Answer) else Failure(answer.reason, answer.detail)


def bytes_of(*texts: str) -> int:
    """Return the length of texts in bytes."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def failure_of(error: Any, reason: str = "error") -> Failure:
    """Return the failure that a provider's error describes."""
    code = error.get("code") if isinstance(error, dict) else None
    message = printable(_encoded(error).decode("utf-8", "replace"))
    return Failure(printable(str(code or reason))[:_MESSAGE_LENGTH], message[:_MESSAGE_LENGTH])


def count(usage: Mapping[str, Any], name: str) -> int | None:
    """Return a count of tokens; None where the provider does not report it."""
    number = usage.get(name)
    return number if type(number) is int and number >= 0 else None


def total(*counts: int | None) -> int | None:
    """Return the sum of the counts that are reported; None if none is."""
    known = [number for number in counts if number is not None]
    return sum(known) if known else None


def completion(
    parts: list[dict[str, Any]],
    finish_reason: str,
    model: Any,
    usage: Mapping[str, int | None],
    logprobs: Any = None,
) -> BatchReply:
    """Return an answer as a chat completion.

    Parameters
    ----------
    parts
        Parts of the content, of type `text` or `thinking`.
    usage
        Tokens: prompt, completion, reasoning and cached, as far as they are known.
    """
    choice = {
        "message": {"role": "assistant", "content": parts},
        "finish_reason": finish_reason,
        "logprobs": logprobs,
    }
    tokens = {
        "prompt_tokens": usage.get("prompt"),
        "completion_tokens": usage.get("completion"),
        "completion_tokens_details": {"reasoning_tokens": usage.get("reasoning")},
        "prompt_tokens_details": {"cached_tokens": usage.get("cached")},
    }
    return BatchReply(200, {"model": model, "choices": [choice], "usage": tokens})


def _encoded(body: Any) -> bytes:
    import json

    text = body if isinstance(body, str) else json.dumps(body)
    return text.encode("utf-8", "surrogatepass")
