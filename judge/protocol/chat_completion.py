"""The wire format of chat completions: what a reply means, and how long a server asks to wait."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from judge.protocol.exchange import CONTENT_FILTER, REJECTED, TOO_LONG, Answer
from judge.protocol.finish_reasons import is_broken_off, standard_reason
from judge.protocol.logprob_distribution import ScoreTokens
from judge.text import printable

PARAMETERS = (
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "seed",
    "top_logprobs",
    "logprob_token_ids",
    "logprobs",
)
"""Parameters that a server may refuse, the longer names first."""

_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:context|input|model|prompt)|max_model_len|"
    r"(?:prompt|input|request)(?![^.]{0,20} queue)[^.]{0,40} (?:is )?too (?:long|large|big)|"
    r"longer than the (?:maximum|model)|exceeds? (?:the )?[^.]{0,40}(?:context|token)|"
    r"`inputs`[^.]{0,40} must (?:be <=|have less than)|too many (?:input|prompt) tokens|"
    r"(?:input|prompt) (?:length|tokens)[^.]{0,20} exceeds?|"
    r"number of (?:input )?tokens[^.]{0,40} cannot exceed",
    re.IGNORECASE,
)
# What servers say of a prompt as if it were their own failure.
_TOO_LONG_500 = re.compile(
    r"(?:input|prompt)(?! queue)[^.]{0,20} "
    r"(?:too (?:long|large|big)|exceeds?[^.]{0,20} (?:context|token))",
    re.IGNORECASE,
)
# A quota of tokens a minute that a prompt exceeds alone; waiting does not help.
_REQUEST_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
_QUOTA_OF_TOKENS = re.compile(
    r"tokens.{0,60}\blimit:? ([\d,]+).{0,60}\brequested:? ([\d,]+)", re.IGNORECASE
)
_FILTERED = re.compile(
    r"content[ _](?:filter|management policy|policy)|moderation|flagged|safety system|"
    r"data_inspection",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(r"api[ _-]?key", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient_quota|credit balance", re.IGNORECASE)
_REFUSED = re.compile(
    r"unsupported|not supported|does not support|unknown|unrecognized|unexpected|not permitted|"
    r"not allowed|invalid|extra",
    re.IGNORECASE,
)
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Trouble:
    """A reply without an answer."""

    kind: Literal["again", "throttled", "parameter", "stop"]
    """Try again; try again more slowly; try without a parameter; do not try again."""
    reason: str
    """One word, for counting."""
    detail: str
    wait: float | None = None
    """Seconds that the server asks to wait."""
    parameter: str | None = None


def read_reply(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    milliseconds: float | None,
    scores: ScoreTokens | None = None,
) -> Answer | Trouble:
    """Return what a reply means. Never raises, whatever the server sends.

    `scores` identifies the tokens of scores; None if no probabilities were requested.
    """
    if 300 <= status < 400:
        target = headers.get("location", "another address")
        return Trouble("stop", "redirect", printable(f"it redirects to {target}"))
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    error = _error(data) or _error_of_choice(data)
    if 200 <= status < 300 and error is None:
        return _answer(data, body, headers, milliseconds, scores)
    if 200 <= status < 300 and error is not None:
        # Some gateways pass on another server's error with their own status.
        code = error.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
    # Of a status that says so, an object with a message alone is an error as well.
    described = data if isinstance(data, dict) and isinstance(data.get("message"), str) else {}
    return _trouble(status, error or described, headers, body, milliseconds)


def _error(data: Any) -> dict[str, Any] | None:
    if isinstance(data, list) and data:
        # Gemini's endpoint for chat completions.
        data = data[0]
    if not isinstance(data, dict):
        return None
    # Beside an answer they are warnings.
    several = data.get("errors") if "choices" not in data else None
    error = data.get("error") or (several[0] if isinstance(several, list) and several else None)
    # Some gateways add an error without a content to every answer.
    if isinstance(error, dict) and any(error.values()):
        return error
    if isinstance(error, str) and error:
        return {"message": error}
    if data.get("object") == "error" or ("detail" in data and "choices" not in data):
        return {**data, "message": data.get("message") or _as_text(data.get("detail"))}
    return None


def _error_of_choice(data: Any) -> dict[str, Any] | None:
    """Return the error that ended an answer after it had begun, of which a part may be there."""
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return _error({"error": first.get("error")}) if isinstance(first, dict) else None


def _trouble(
    status: int,
    error: Mapping[str, Any],
    headers: Mapping[str, str],
    body: bytes,
    milliseconds: float | None,
) -> Answer | Trouble:
    message = str(error.get("message") or "") or _plain(body)
    words = f"{error.get('code') or ''} {error.get('type') or ''} {message}"
    detail = printable(f"HTTP {status}: {' '.join(message.split())[:_SHOWN]}".rstrip(": "))
    wait = requested_wait(headers)
    if status in {400, 402, 429} and _NO_QUOTA.search(words):
        return Trouble("stop", "no_quota", detail)
    missing = _about_the_prompt(status, words)
    if status in {429, 503, 529} and missing is None:
        return Trouble("throttled", f"http_{status}", detail, wait)
    if missing is None and (status in {408, 409, 425} or status >= 500):
        return Trouble("again", f"http_{status}", detail, wait)
    if missing is None and status in {400, 422} and not _BAD_KEY.search(words):
        parameter = _refused_parameter(error, message)
        if parameter is not None:
            return Trouble("parameter", "parameter", detail, parameter=parameter)
        missing = REJECTED
    if missing is not None:
        return Answer(
            detail if missing == REJECTED else None, milliseconds=milliseconds, missing=missing
        )
    return Trouble("stop", f"http_{status}", detail)


def _exceeds_quota_alone(words: str) -> bool:
    """Return whether one request has more tokens than a minute's quota."""
    quota = _QUOTA_OF_TOKENS.search(words)
    if quota is not None:
        limit, requested = (int(number.replace(",", "") or 0) for number in quota.groups())
        return requested > limit
    return _REQUEST_TOO_LARGE.search(words) is not None


def _about_the_prompt(status: int, words: str) -> str | None:
    """Return why a server refuses this prompt in particular, if it does."""
    if status == 413 or (status in {400, 422} and _TOO_LONG.search(words)):
        return TOO_LONG
    if status == 500 and _TOO_LONG_500.search(words):
        return TOO_LONG
    if status == 429 and _exceeds_quota_alone(words):
        return TOO_LONG
    if status in {400, 403, 422} and _FILTERED.search(words):
        return CONTENT_FILTER
    return None


def _refused_parameter(error: Mapping[str, Any], message: str) -> str | None:
    parameter = error.get("param")
    if parameter in PARAMETERS:
        return str(parameter)
    # "Unsupported parameter: 'max_tokens' ... use 'max_completion_tokens'": the first name counts.
    # A message may also quote a prompt, whose words are not names of parameters.
    positions = {
        match.start(): name
        for name in PARAMETERS
        if (match := re.search(rf"(?<!\w){name}(?!\w)", message)) is not None
    }
    return positions[min(positions)] if positions and _REFUSED.search(message) else None


def _answer(
    data: Any,
    body: bytes,
    headers: Mapping[str, str],
    milliseconds: float | None,
    scores: ScoreTokens | None,
) -> Answer | Trouble:
    if not isinstance(data, dict):
        kind = headers.get("content-type", "")
        form = "HTML" if "html" in kind or body.lstrip()[:1] == b"<" else "not a JSON object"
        if "event-stream" in kind or body.lstrip().startswith(b"data:"):
            return Trouble(
                "again", "event_stream", "its answer is a stream, which was not asked for"
            )
        return Trouble("again", "no_json", f"its answer is {form}: {_plain(body)}")
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        return Trouble("again", "no_choice", f"its answer contains no message: {_plain(body)}")
    finish = standard_reason(_text(first.get("finish_reason")))
    if is_broken_off(finish):
        return Trouble("again", "broken_off", f"it broke the answer off ({finish})")
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    completion, prompt = (
        details if isinstance(details, dict) else {}
        for details in (
            usage.get("completion_tokens_details"),
            usage.get("prompt_tokens_details"),
        )
    )
    reasoning = _count(completion.get("reasoning_tokens"))
    thought = _reasoning(message)
    # Servers that do not count may fill in 0. No prompt is empty.
    prompt_tokens = _count(usage.get("prompt_tokens")) or None
    completion_tokens = _completion_tokens(usage, prompt, completion)
    if prompt_tokens is None:
        completion_tokens = completion_tokens or None
    if reasoning is None and thought:
        # It reasoned, without reporting how much.
        reasoning = _count(usage.get("completion_tokens"))
    return Answer(
        text=_content(message),
        reasoning=thought,
        finish_reason=finish,
        served_model=_text(data.get("model")),
        fingerprint=_text(data.get("system_fingerprint")),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        reasoning_tokens=reasoning,
        cached_tokens=_cached_tokens(usage, prompt),
        milliseconds=milliseconds,
        distribution=None if scores is None else scores.distribution(first.get("logprobs")),
        missing=CONTENT_FILTER if finish == "content_filter" else None,
    )


def _content(message: Mapping[str, Any]) -> str:
    """Return the text of an answer; content that is not text as JSON, as it came.

    Of an answer that calls tools instead, the arguments of the calls.
    """
    content = message.get("content")
    if isinstance(content, list):
        texts = [_text_of_part(part) for part in content if not _is_thought(part)]
        content = content if None in texts else "".join(text or "" for text in texts)
    if content is None or content == "":
        content = message.get("refusal") or _arguments(message)
    return _as_text(content)


def _arguments(message: Mapping[str, Any]) -> str:
    """Return the arguments of the tools that an answer calls, as they came."""
    calls = message.get("tool_calls")
    functions = [message.get("function_call")]
    if isinstance(calls, list):
        functions = [call.get("function") for call in calls if isinstance(call, dict)]
    arguments = [each.get("arguments") for each in functions if isinstance(each, dict)]
    return "\n\n".join(_as_text(each) for each in arguments if each is not None)


def _text_of_part(part: Any) -> str | None:
    """Return the text of a part of a list; None if it has another form."""
    text = part
    if isinstance(part, dict) and part.keys() & {"text", "refusal"}:
        text = part.get("text") or part.get("refusal") or ""
    return text if isinstance(text, str) else None


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in {"thinking", "reasoning"}


def _reasoning(message: Mapping[str, Any]) -> str | None:
    """Return the reasoning that a message has in addition to its content, as it came."""
    for name in ("reasoning_content", "reasoning", "reasoning_details"):
        if message.get(name):
            return _as_text(message[name])
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    thoughts = [part.get("thinking", part) for part in parts if _is_thought(part)]
    return "\n\n".join(map(_as_text, thoughts)) or None


def _as_text(value: Any) -> str:
    return escaped(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def escaped(text: str) -> str:
    """Return a text with the characters escaped that a database cannot store."""
    return text.replace("\x00", "\\u0000").encode("utf-8", "backslashreplace").decode()


def _text(value: Any) -> str | None:
    return printable(escaped(value)[:500]) if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**31 else None


def _cached_tokens(usage: Mapping[str, Any], prompt_details: Mapping[str, Any]) -> int | None:
    """Return the prompt's tokens from the cache; DeepSeek and Moonshot count them beside others."""
    counts = (
        prompt_details.get("cached_tokens"),
        *(usage.get(name) for name in ("cached_tokens", "prompt_cache_hit_tokens")),
    )
    return next((number for number in map(_count, counts) if number is not None), None)


def _completion_tokens(
    usage: Mapping[str, Any],
    prompt_details: Mapping[str, Any],
    completion_details: Mapping[str, Any],
) -> int | None:
    """Return the tokens of an answer, those of reasoning included.

    Some servers count reasoning in the total only, and charge for it. Others have cached tokens in
    the total that are not among the prompt's, which are paid as cached tokens.
    """
    prompt, completion, total = (
        _count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total")
    )
    if prompt is None or completion is None or total is None:
        return completion
    cached = _count(prompt_details.get("cached_tokens")) or 0
    reasoning = _count(completion_details.get("reasoning_tokens"))
    more = total - prompt - completion - (cached if cached > prompt else 0)
    return completion + max(0, min(more, reasoning) if reasoning else more)


def _plain(body: bytes) -> str:
    return printable(" ".join(body[: 2 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN])


_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def requested_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a refusal asks to wait, if it does."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after")
    if after is not None:
        seconds = _number(after)
        return seconds if seconds is not None else _until(after)
    return spent_quota(headers)


def spent_quota(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until a used-up quota is available again; None if no quota is used up."""
    waits = []
    for name, remaining in headers.items():
        lower = name.lower()
        if "ratelimit" not in lower or "remaining" not in lower or _number(remaining) != 0:
            continue
        reset = headers.get(lower.replace("remaining", "reset"))
        wait = None if reset is None else _duration(reset)
        if wait is not None:
            waits.append(wait)
    return max(waits, default=None)


def _duration(text: str) -> float | None:
    """Return the seconds of "6m0s", "120ms" or "1.5", or until a moment in time."""
    seconds = _number(text)
    if seconds is not None:
        # Some servers send a moment as seconds since 1970, or as milliseconds.
        seconds = seconds / 1000 if seconds >= 1e12 else seconds
        now = datetime.now(UTC).timestamp()
        return max(0.0, seconds - now) if seconds > 1e9 else seconds
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text.strip():
        return sum(float(number) * _UNIT[unit] for number, unit in parts)
    return _until(text)


def _until(text: str) -> float | None:
    try:
        moment = _moment(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> datetime:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return datetime.fromisoformat(text)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < math.inf else None
