"""Batches of the Gemini API: JSON lines of GenerateContentRequest with a key.

The model is not in the file; it is named when the batch is created. Source:
ai.google.dev/gemini-api/docs/batch-api and ai.google.dev/api/generate-content.
"""

from collections.abc import Mapping
from typing import Any

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

# Codes of google.rpc.Status, which results may have in place of a status of HTTP.
_STATUS = {
    2: 500,
    3: 400,
    4: 504,
    5: 404,
    7: 403,
    8: 429,
    9: 400,
    11: 400,
    13: 500,
    14: 503,
    16: 401,
}
_CANCELED = 1


class GeminiFormat(ProviderFormat):
    """Requests as JSON lines of a key and a GenerateContentRequest."""

    name = "gemini"
    id_field = "key"
    # The documentation limits a file to 2 GB, and states no number of requests.
    most_requests = 1_000_000
    most_bytes = 2_000_000_000

    def recognizes(self, record: Mapping[str, Any]) -> bool:
        """Return whether a line of JSON is a result of this provider."""
        parts = (record.get(name) for name in ("response", "error", "status"))
        return super().recognizes(record) and any(isinstance(part, dict) for part in parts)

    def request(self, name: str, prompt: str, sampling: Sampling) -> dict[str, Any]:
        """Return a line of the input file."""
        further = dict(sampling.body)
        config: dict[str, Any] = {
            **further.pop("generationConfig", {}),
            "maxOutputTokens": sampling.max_tokens,
        }
        if sampling.temperature is not None:
            config["temperature"] = sampling.temperature
        if sampling.seed is not None:
            config["seed"] = sampling.seed
        if sampling.schema is not None:
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = sampling.schema.as_object
        if sampling.alternatives is not None:
            config |= {"responseLogprobs": True, "logprobs": sampling.alternatives}
        request: dict[str, Any] = {
            **further,
            "contents": [{"role": "user", "parts": [{"text": prompt}]}],
            "generationConfig": config,
        }
        if sampling.system:
            request["systemInstruction"] = {"parts": [{"text": sampling.system}]}
        return {"key": name, "request": request}

    def size(self, request: Mapping[str, Any]) -> RequestSize:
        """Return the size of a line of the input file, which does not name the model."""
        inner = request["request"]
        contents = [*inner["contents"], inner.get("systemInstruction", {"parts": []})]
        texts = (part["text"] for content in contents for part in content["parts"])
        return RequestSize(None, bytes_of(*texts), inner["generationConfig"]["maxOutputTokens"])

    def reply(self, result: Mapping[str, Any]) -> BatchReply | Failure | None:
        """Read a line of the result file: a GenerateContentResponse, or a status."""
        response = result.get("response")
        error = result.get("error") or result.get("status")
        if not isinstance(response, dict):
            return _error(error) if error else None
        candidates = response.get("candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        feedback = response.get("promptFeedback")
        usage = _usage(response.get("usageMetadata"))
        model = response.get("modelVersion")
        if not isinstance(first, dict):
            if isinstance(feedback, dict) and feedback.get("blockReason"):
                return completion([], CONTENT_FILTER, model, usage)
            return Failure("no_choice", "the response contains no candidate")
        content = first.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        finish = str(first.get("finishReason"))
        return completion(
            [_part(part) for part in parts or ()],
            finish.lower(),
            model,
            usage,
            _logprobs(first.get("logprobsResult")),
        )


def _usage(usage: Any) -> dict[str, int | None]:
    usage = usage if isinstance(usage, dict) else {}
    thoughts = count(usage, "thoughtsTokenCount")
    return {
        "prompt": count(usage, "promptTokenCount"),
        # Thoughts are not among the tokens of the candidates.
        "completion": total(count(usage, "candidatesTokenCount"), thoughts),
        "reasoning": thoughts,
        "cached": count(usage, "cachedContentTokenCount"),
    }


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, dict) and part.get("thought"):
        return {"type": "thinking", "thinking": part.get("text")}
    return part if isinstance(part, dict) else {"text": part}


def _logprobs(result: Any) -> dict[str, Any] | None:
    """Return the probabilities of tokens in the form of a chat completion."""
    if not isinstance(result, dict):
        return None
    chosen, likeliest = result.get("chosenCandidates"), result.get("topCandidates")
    if not isinstance(chosen, list) or not isinstance(likeliest, list):
        return None
    return {
        "content": [
            {**_token(token), "top_logprobs": [_token(other) for other in _candidates(others)]}
            for token, others in zip(chosen, likeliest, strict=False)
        ]
    }


def _candidates(step: Any) -> list[Any]:
    found = step.get("candidates") if isinstance(step, dict) else None
    return found if isinstance(found, list) else []


def _token(candidate: Any) -> dict[str, Any]:
    known = candidate if isinstance(candidate, dict) else {}
    return {"token": known.get("token"), "logprob": known.get("logProbability")}


def _error(error: Any) -> BatchReply | Failure:
    code = error.get("code") if isinstance(error, dict) else None
    if code == _CANCELED:
        return failure_of({**error, "code": "canceled"})
    status = _STATUS.get(code, code) if isinstance(code, int) else None
    return (
        failure_of(error)
        if status is None
        else BatchReply(status, {"error": {**error, "code": None}})
    )
