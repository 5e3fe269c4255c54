"""How the endpoint goes wrong: each behaviour changes the reply that an honest server gives.

The words of the errors are those that the named servers send.
"""

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from hashlib import blake2b
from typing import Any

from tests.judge.stub.completions import tokens
from tests.judge.stub.exchange import Reply, Seen

Behaviour = Callable[..., None]
"""Called with the request, the reply to change, and the options of the rule."""

PAGE = b"<!doctype html><html><head><title>Gateway</title></head><body>Sign in</body></html>"


def error(
    reply: Reply, status: int, message: str, code: str | None = None, **more: str | None
) -> None:
    """Make the reply an error in OpenAI's form."""
    body = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    reply.status, reply.body = status, {"error": {**body, **more}}


def healthy(_seen: Seen, _reply: Reply) -> None:
    """Answer as it should."""


# The connection.


def slow(_seen: Seen, reply: Reply, *, delay: float = 0.5) -> None:
    """Take its time."""
    reply.delay += delay


def hangs(_seen: Seen, reply: Reply) -> None:
    """Take the request and never answer."""
    reply.hangs = True


def closes(_seen: Seen, reply: Reply) -> None:
    """Take the request and close the connection."""
    reply.closes = True


def cut(_seen: Seen, reply: Reply, *, share: float = 0.5) -> None:
    """Promise the whole body, send a part, and cut the connection."""
    reply.sent_share = share


# Replies that are not answers.


def http_status(_seen: Seen, reply: Reply, *, status: int, message: str = "Internal error") -> None:
    """Fail with a status."""
    error(reply, status, message, type="server_error")


def half_json(_seen: Seen, reply: Reply) -> None:
    """Send the first half of the answer as if it were whole."""
    whole = json.dumps(reply.body).encode()
    reply.body = whole[: len(whole) // 2]


def html(_seen: Seen, reply: Reply, *, status: int = 200) -> None:
    """Send a page, as a proxy does."""
    reply.status, reply.body, reply.kind = status, PAGE, "text/html; charset=utf-8"


def error_in_200(_seen: Seen, reply: Reply, *, code: int | None = 502) -> None:
    """Hand on another server's error with a status of 200, as gateways do."""
    reply.body = {"error": {"message": "Provider returned error", "code": code}}


def event_stream(_seen: Seen, reply: Reply) -> None:
    """Send the answer as a stream of events, which nobody asked for."""
    event = json.dumps({"choices": [{"delta": {"content": "85"}}]})
    reply.body = f"data: {event}\n\ndata: [DONE]\n\n".encode()
    reply.kind = "text/event-stream"


def latin_1(_seen: Seen, reply: Reply) -> None:
    """Send the answer in another encoding than that of JSON."""
    if reply.completion is not None:
        reply.completion["choices"][0]["message"]["content"] = "85 – schön".replace("–", "-")
        reply.body = json.dumps(reply.completion, ensure_ascii=False).encode("latin-1")


def delta(_seen: Seen, reply: Reply) -> None:
    """Send the answer as a piece of a stream, without a message."""
    if reply.completion is not None:
        choice = reply.completion["choices"][0]
        choice["delta"] = choice.pop("message")


def redirect(_seen: Seen, reply: Reply, *, to: str = "http://elsewhere.invalid/v1") -> None:
    """Send the client to another host."""
    reply.status, reply.body = 307, b""
    reply.headers["Location"] = f"{to}/chat/completions"


# Too much asked of it.


def throttled(
    _seen: Seen, reply: Reply, *, wait: float = 1, form: str = "seconds", status: int = 429
) -> None:
    """Ask for patience: form is seconds, date, ms, quota or none."""
    error(reply, status, "Rate limit reached for requests", "rate_limit_exceeded", type="requests")
    if form == "seconds":
        reply.headers["Retry-After"] = f"{wait:g}"
    elif form == "date":
        # A date has whole seconds: the next one, so that the wait is not cut short.
        moment = datetime.now(UTC) + timedelta(seconds=wait + 1)
        reply.headers["Retry-After"] = format_datetime(moment.replace(microsecond=0), usegmt=True)
    elif form == "ms":
        reply.headers["retry-after-ms"] = f"{wait * 1000:.0f}"
    elif form == "quota":
        spent(_seen, reply, reset=f"{wait:g}s")


def spent(_seen: Seen, reply: Reply, *, reset: str = "1s") -> None:
    """Say that the quota of requests is used up."""
    reply.headers["x-ratelimit-limit-requests"] = "60"
    reply.headers["x-ratelimit-remaining-requests"] = "0"
    reply.headers["x-ratelimit-reset-requests"] = reset


def request_too_large(seen: Seen, reply: Reply, *, limit: int = 30_000) -> None:
    """Refuse a prompt that alone exceeds the quota of tokens a minute, in OpenAI's words."""
    message = (
        f"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit "
        f"{limit}, Requested {limit + tokens(seen.size)}. The input or output tokens must be "
        "reduced in order to run successfully."
    )
    error(reply, 429, message, "rate_limit_exceeded", type="tokens")


def no_quota(_seen: Seen, reply: Reply) -> None:
    """Refuse for want of money."""
    message = "You exceeded your current quota, please check your plan and billing details."
    error(reply, 429, message, "insufficient_quota", type="insufficient_quota")


# Who may ask, and for what.


def wrong_key(_seen: Seen, reply: Reply) -> None:
    """Refuse the key."""
    error(reply, 401, "Incorrect API key provided.", "invalid_api_key")


def needs_key(seen: Seen, reply: Reply, *, key: str) -> None:
    """Refuse every key but this one, as if the others had expired."""
    if seen.headers.get("authorization") != f"Bearer {key}":
        error(reply, 401, "The access token expired.", "token_expired")


def forbidden(_seen: Seen, reply: Reply) -> None:
    """Refuse the model to this key."""
    error(reply, 403, "You are not allowed to sample from this model.", "model_access_denied")


def model_not_found(seen: Seen, reply: Reply) -> None:
    """Not have the model."""
    name = seen.parameters.get("model")
    message = f"The model `{name}` does not exist or you do not have access to it."
    error(reply, 404, message, "model_not_found")


def other_model(_seen: Seen, reply: Reply, *, name: str = "another-model") -> None:
    """Serve another model than was asked for, and say so in the answer only."""
    if reply.completion is not None:
        reply.completion["model"] = name


def changing(
    seen: Seen, reply: Reply, *, name: str = "stub-judge-2", fingerprint: str = "fp_stub_2"
) -> None:
    """Serve a newer model: with "when": {"after": n}, in the middle of a run."""
    other_model(seen, reply, name=name)
    if reply.completion is not None:
        reply.completion["system_fingerprint"] = fingerprint


# What it makes of the prompt.


def truncating(seen: Seen, reply: Reply, *, most: int = 2048) -> None:
    """Use the first tokens of the prompt only, and count only these, as Ollama does."""
    if reply.completion is not None and tokens(seen.size) > most:
        reply.completion["usage"]["prompt_tokens"] = most


def content_filter(_seen: Seen, reply: Reply) -> None:
    """Stop the answer by a filter."""
    if reply.completion is not None:
        choice = reply.completion["choices"][0]
        choice["finish_reason"], choice["message"]["content"] = "content_filter", None


def content_filter_400(_seen: Seen, reply: Reply) -> None:
    """Refuse the prompt by a filter, in Azure's words."""
    message = (
        "The response was filtered due to the prompt triggering Azure OpenAI's content management "
        "policy. Please modify your prompt and retry."
    )
    error(reply, 400, message, "content_filter", param="prompt")


def too_long(seen: Seen, reply: Reply, *, window: int = 4096) -> None:
    """Refuse a prompt beyond the window, in OpenAI's words."""
    needed = tokens(seen.size) + (seen.token_limit or 0)
    if needed > window:
        message = (
            f"This model's maximum context length is {window} tokens. However, your messages "
            f"resulted in {needed} tokens. Please reduce the length of the messages."
        )
        error(reply, 400, message, "context_length_exceeded", param="messages")


def too_long_vllm(seen: Seen, reply: Reply, *, window: int = 4096) -> None:
    """Refuse a prompt beyond the window, in vLLM's words."""
    if tokens(seen.size) + (seen.token_limit or 0) > window:
        message = (
            f"This model's maximum context length is {window} tokens. However, you requested "
            f"{seen.token_limit} output tokens and your prompt contains {tokens(seen.size)} input "
            "tokens. Please reduce the length of the input prompt."
        )
        reply.status = 400
        reply.body = {
            "error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}
        }


def refuses(_seen: Seen, reply: Reply, *, message: str = "Invalid request.") -> None:
    """Refuse the prompt without a reason that a client could know."""
    error(reply, 400, message)


# What it accepts besides the prompt.


def rejects(seen: Seen, reply: Reply, *, parameter: str, instead: str | None = None) -> None:
    """Refuse a parameter, in OpenAI's words."""
    value = seen.parameters.get(parameter)
    if parameter not in seen.parameters:
        return
    if instead is not None:
        message = (
            f"Unsupported parameter: '{parameter}' is not supported with this model. "
            f"Use '{instead}' instead."
        )
        error(reply, 400, message, "unsupported_parameter", param=parameter)
        return
    message = (
        f"Unsupported value: '{parameter}' does not support {value} with this model. Only the "
        "default (1) value is supported."
    )
    error(reply, 400, message, "unsupported_value", param=parameter)


def reasoning(seen: Seen, reply: Reply, *, needs: int = 500, form: str = "hidden") -> None:
    """Reason before the answer, and have nothing to say where the limit is below `needs`.

    form is hidden (counted in usage only), field (reasoning_content), or think (in the answer).
    """
    completion = reply.completion
    if completion is None:
        return
    choice, usage = completion["choices"][0], completion["usage"]
    message, limit = choice["message"], seen.token_limit
    enough = limit is None or limit >= needs
    spent_tokens = needs - 20 if enough else limit or 0
    thought = "The response follows from the first passage. Say 40? No, more."
    if form == "think":
        message["content"] = f"<think>\n{thought}\n" + (
            f"</think>\n\n{message['content']}" if enough else ""
        )
    else:
        usage["completion_tokens_details"] = {"reasoning_tokens": spent_tokens}
        message["content"] = message["content"] if enough else ""
        if form == "field":
            message["reasoning_content"] = thought
    usage["completion_tokens"] += spent_tokens
    if not enough:
        choice["finish_reason"], usage["completion_tokens"] = "length", limit


# What it answers.


def answers(_seen: Seen, reply: Reply, *, text: str, finish_reason: str = "stop") -> None:
    """Answer this text."""
    if reply.completion is not None:
        choice = reply.completion["choices"][0]
        choice["message"]["content"], choice["finish_reason"] = text, finish_reason


def follows_schema(seen: Seen, reply: Reply) -> None:
    """Answer in the JSON that is asked for, where a schema is sent."""
    wanted = (seen.parameters.get("response_format") or {}).get("json_schema")
    if reply.completion is None or wanted is None:
        return
    message = reply.completion["choices"][0]["message"]
    message["content"] = json.dumps(fitting(wanted["schema"], int(message["content"])), indent=1)


def fitting(schema: dict[str, Any], score: int) -> Any:
    """Return a value that follows a schema, the score where it may be one."""
    if schema["type"] == "object":
        return {name: fitting(field, score) for name, field in schema["properties"].items()}
    if schema["type"] == "array":
        return [fitting(schema["items"], score) for _ in range(1 + score % 3)]
    values = schema.get("enum")
    if values is not None:
        return score if score in values else values[score % len(values)]
    if schema["type"] == "string":
        return f"A text of {score} words."
    return min(max(score, schema["minimum"]), schema["maximum"])


def wavering(seen: Seen, reply: Reply) -> None:
    """Answer another score each time, whatever the seed."""
    answers(seen, reply, text=str(seen.number % 101))


def no_usage(_seen: Seen, reply: Reply) -> None:
    """Count nothing."""
    if reply.completion is not None:
        del reply.completion["usage"]


def constant_usage(_seen: Seen, reply: Reply, *, prompt_tokens: int = 10) -> None:
    """Count the same for every prompt."""
    if reply.completion is not None:
        reply.completion["usage"]["prompt_tokens"] = prompt_tokens


def logprobs(seen: Seen, reply: Reply, *, form: str = "real", mass: float = 0.999) -> None:
    """Tell the probabilities of the first token, where they are asked for.

    form is real (falling over 20 scores from the one in the answer, `mass` together), or what some
    servers do instead: one_hot, after_temperature, few, digits.
    """
    if reply.completion is None or not seen.parameters.get("logprobs"):
        return
    choice = reply.completion["choices"][0]
    text = choice["message"]["content"]
    if not text.isdigit():
        return
    weights = [-0.3 * k for k in range(20)]
    if form == "after_temperature":
        weights = [weight / max(seen.parameters.get("temperature", 1), 1e-3) for weight in weights]
    if form == "one_hot":
        weights, mass = [0.0] + [-9999.0] * 19, 1.0
    whole = math.log(sum(map(math.exp, weights)) / mass)
    names = [str((int(text) + k) % 101) for k in range(20)]
    if form == "digits":
        digits = [str((int(text[0]) + k) % 10) for k in range(10)]
        names = [*digits, *(f"word-{k}" for k in range(10))]
    top = [
        {"token": name, "logprob": weight - whole}
        for name, weight in zip(names, weights, strict=True)
    ]
    top = top[: 5 if form == "few" else seen.parameters.get("top_logprobs", 0)]
    content = [{**top[0], "top_logprobs": top}]
    if form == "digits":
        content += [{"token": digit, "logprob": 0.0, "top_logprobs": []} for digit in text[1:]]
    choice["logprobs"] = {"content": content}


_cached_from: dict[bytes, float] = {}
"""Beginnings of prompts in a cache, and the moment from which they are found there."""


def caching(seen: Seen, reply: Reply, *, name: str = "", block: int = 512) -> None:
    """Count cached tokens as a provider's cache would: no cache, only its arithmetic.

    A beginning in whole blocks of bytes is found once an answer to a prompt with it has left, so of
    prompts that come together none finds it. Caches with other names know nothing of each other.
    """
    if reply.completion is None:
        return
    content, state = seen.prompt.encode(), blake2b(name.encode())
    ready, blocks, still = seen.at + reply.delay, 0, True
    for start in range(0, len(content) - block + 1, block):
        state.update(content[start : start + block])
        key = state.digest()
        still = still and _cached_from.get(key, math.inf) <= seen.at
        blocks += still
        _cached_from[key] = min(ready, _cached_from.get(key, math.inf))
    cached = blocks * block // 4
    reply.completion["usage"]["prompt_tokens_details"] = {"cached_tokens": cached}


BEHAVIOURS: dict[str, Behaviour] = {
    behaviour.__name__: behaviour
    for behaviour in (
        *(healthy, slow, hangs, closes, cut),
        *(http_status, half_json, html, error_in_200, redirect),
        *(event_stream, latin_1, delta),
        *(throttled, spent, request_too_large, no_quota),
        *(wrong_key, needs_key, forbidden, model_not_found, other_model, changing),
        *(truncating, content_filter, content_filter_400, too_long, too_long_vllm, refuses),
        *(
            rejects,
            reasoning,
            answers,
            follows_schema,
            wavering,
            no_usage,
            constant_usage,
            logprobs,
            caching,
        ),
    )
} | {
    "http_500": partial(http_status, status=500),
    "http_503": partial(http_status, status=503, message="The server is overloaded"),
    "rejects_max_tokens": partial(rejects, parameter="max_tokens", instead="max_completion_tokens"),
    "rejects_temperature": partial(rejects, parameter="temperature"),
    "rejects_seed": partial(rejects, parameter="seed", instead="temperature"),
}

OF_THE_WHOLE = ("down", "flapping", "no_models")
"""Not of one request: refuses connections, always or by turns; does not list its models."""


def options_of(rule: dict[str, Any]) -> dict[str, Any]:
    """Return a rule's options: all but its name and its condition."""
    return {name: value for name, value in rule.items() if name not in {"behaviour", "when"}}
