"""Batches of Anthropic's Message Batches API.

A file is the body of `POST /v1/messages/batches`; results are the JSON lines of a batch's
`results_url`. Source: platform.claude.com/docs/en/api/messages/batches.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from judge.engines.files.provider_format import (
    BatchReply,
    ProviderFormat,
    RequestSize,
    Sampling,
    bytes_of,
    completion,
    count,
    failure_of,
    total,
)
from judge.protocol.exchange import CONTENT_FILTER, Failure

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "refusal": CONTENT_FILTER,
}
"""Anthropic's stop reasons, and those of chat completions."""

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Types of errors, and the HTTP status with which the Messages API returns them."""


class AnthropicFormat(ProviderFormat):
    """Requests of the Messages API in one JSON document, a request a line."""

    name = "anthropic"
    most_requests = 100_000
    most_bytes = 256_000_000
    suffix = ".json"
    opening = b'{"requests": [\n'
    between = b",\n"
    closing = b"\n]}\n"
    not_sent: ClassVar[Mapping[str, str]] = {
        "seed": "The Messages API has no seed; leave --seed out.",
        "logprobs": "The Messages API returns no probabilities; leave --logprobs out.",
    }

    def recognizes(self, record: Mapping[str, Any]) -> bool:
        """Return whether a line of JSON is a result of this provider."""
        return super().recognizes(record) and "result" in record

    def request(self, name: str, prompt: str, sampling: Sampling) -> dict[str, Any]:
        """Return an element of the list `requests`."""
        params: dict[str, Any] = {
            **sampling.body,
            "model": sampling.model,
            "max_tokens": sampling.max_tokens,
            "messages": [{"role": "user", "content": prompt}],
        }
        if sampling.system:
            params["system"] = sampling.system
        if sampling.schema is not None:
            schema = {"type": "json_schema", "schema": sampling.schema.as_object}
            params["output_config"] = {**params.get("output_config", {}), "format": schema}
        if sampling.temperature is not None:
            params["temperature"] = sampling.temperature
        return {"custom_id": name, "params": params}

    def size(self, request: Mapping[str, Any]) -> RequestSize:
        """Return the size of an element of the list `requests`."""
        params = request["params"]
        texts = (message["content"] for message in params["messages"])
        size = bytes_of(params.get("system", ""), *texts)
        return RequestSize(params["model"], size, params["max_tokens"])

    def reply(self, result: Mapping[str, Any]) -> BatchReply | Failure | None:
        """Read a line of the results: succeeded, errored, canceled or expired."""
        outcome = result.get("result")
        if not isinstance(outcome, dict):
            return None
        kind, message = outcome.get("type"), outcome.get("message")
        if kind in {"canceled", "expired"}:
            return Failure(kind, f"the batch service did not process this prompt: {kind}")
        if kind == "errored":
            return _error(outcome.get("error"))
        if kind != "succeeded" or not isinstance(message, dict):
            return None
        usage = message.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        cached = count(usage, "cache_read_input_tokens")
        # `input_tokens` does not include what was read from a cache or written to it.
        prompt = total(
            count(usage, "input_tokens"), cached, count(usage, "cache_creation_input_tokens")
        )
        stop = str(message.get("stop_reason"))
        return completion(
            [_part(block) for block in message.get("content") or ()],
            _FINISH.get(stop, stop),
            message.get("model"),
            {"prompt": prompt, "completion": count(usage, "output_tokens"), "cached": cached},
        )


def _part(block: Any) -> dict[str, Any]:
    if isinstance(block, dict) and block.get("type") == "redacted_thinking":
        return {"type": "thinking", "thinking": "(redacted by the provider)"}
    return block if isinstance(block, dict) else {"type": "text", "text": block}


def _error(error: Any) -> BatchReply | Failure:
    """Read an error: as an endpoint's reply with its status, which may concern the prompt alone."""
    # The error of a result is itself an error response, which contains the error.
    inner = error.get("error") if isinstance(error, dict) else None
    if not isinstance(inner, dict):
        return failure_of(error)
    status = _STATUS.get(str(inner.get("type")))
    return failure_of(inner) if status is None else BatchReply(status, {"error": inner})
