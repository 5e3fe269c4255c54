"""Batches of OpenAI's service, which other providers and vLLM's `run_batch` accept as well."""

from collections.abc import Mapping
from typing import Any

from judge.engines.files.provider_format import (
    BatchReply,
    ProviderFormat,
    RequestSize,
    Sampling,
    bytes_of,
    failure_of,
)
from judge.protocol.exchange import Failure, answer_format, chat_messages


class OpenAIFormat(ProviderFormat):
    """JSON lines of chat completions."""

    name = "openai"
    most_requests = 50_000
    most_bytes = 200_000_000

    def request(self, name: str, prompt: str, sampling: Sampling) -> dict[str, Any]:
        """Return a line of OpenAI's batch input file."""
        # The service cannot be probed. Models that reason have another name for the limit.
        limit = "max_completion_tokens" if sampling.reasons else "max_tokens"
        body: dict[str, Any] = {
            **sampling.body,
            "model": sampling.model,
            limit: sampling.max_tokens,
        }
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if sampling.schema is not None:
            body |= answer_format(sampling.schema)
        if sampling.alternatives is not None:
            body |= {"logprobs": True, "top_logprobs": sampling.alternatives}
        return {
            "custom_id": name,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {**body, "messages": chat_messages(prompt, sampling.system)},
        }

    def size(self, request: Mapping[str, Any]) -> RequestSize:
        """Return the size of a line of OpenAI's batch input file."""
        body = request["body"]
        limit = body["max_tokens"] if "max_tokens" in body else body["max_completion_tokens"]
        texts = (message["content"] for message in body["messages"])
        return RequestSize(body["model"], bytes_of(*texts), limit)

    def reply(self, result: Mapping[str, Any]) -> BatchReply | Failure | None:
        """Read a line of OpenAI's output or error file, or of vLLM's `run_batch`."""
        error, response = result.get("error"), result.get("response")
        if isinstance(response, dict):
            body = response.get("body")
            if not body and isinstance(error, dict):
                # Some services put the text of a refusal next to the response.
                body = {"error": error}
            if isinstance(body, dict | str):
                status = response.get("status_code")
                return BatchReply(status if isinstance(status, int) else 200, body)
        return failure_of(error) if error else None
