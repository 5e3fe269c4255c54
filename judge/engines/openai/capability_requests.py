"""What a probe finds out, and how it asks: a few tries, and words for an endpoint that fails."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judge.engines.engine import TokenCount
from judge.engines.openai.backoff import steady_backoff
from judge.engines.openai.endpoint import Endpoint, Listed, Reply
from judge.engines.openai.logprob_support import Way
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import Answer
from study.errors import StudyError, nearest

QUESTION = "Reply with the number 7 and nothing else."
"""What every judge can answer."""
# The probe gives up sooner than the run: nothing is under way that could be lost.
_TRIES = 3


@dataclass
class Findings:
    """What the probe found."""

    model: str
    url: str
    window: int | None
    parameters: dict[str, Any] = field(default_factory=dict)
    """What goes with each prompt."""
    limit_name: str = "max_tokens"
    reasoning: bool = False
    refused: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    logprobs: str = "not asked"
    """What the endpoint tells of the probabilities of scores."""
    way: Way | None = None
    """How they are asked for; None: they are not."""
    served_model: str | None = None
    fingerprint: str | None = None
    tokens: TokenCount = field(default_factory=TokenCount)
    notes: list[str] = field(default_factory=list)


def stopped(model: str, trouble: Trouble, listed: Mapping[str, Listed] | None = None) -> str:
    """Return in words why an endpoint can't be used, and what to do."""
    remedy = {
        "http_401": "Check the key in the environment variable (see --api-key-env).",
        "http_403": "Check that the key may use this model.",
        "http_402": "Check the account's credit.",
        "no_quota": "Check the account's quota; the run goes on where it stopped.",
        "http_404": _other_models(model, listed or {}),
        "no_connection": "Check that the server runs, and its address in --base-url.",
        "timeout": "Check that the server runs, or give it longer with --timeout.",
        "redirect": "Give that address, without /chat/completions, as --base-url.",
        "no_json": "Check --base-url: it mostly ends in /v1.",
        "no_choice": "Check --base-url: this is no endpoint for chat completions.",
    }.get(trouble.reason, "Try again later; the run goes on where it stopped.")
    return f"The endpoint can't be used: {trouble.detail.rstrip('.')}. {remedy}"


def _other_models(model: str, listed: Mapping[str, Listed]) -> str:
    if not listed:
        return "Check --base-url, which mostly ends in /v1, and --model."
    if model in listed:
        return "It lists this model: check --base-url, which mostly ends in /v1, and the key."
    shown = ", ".join(sorted(listed)[:20])
    return f"{nearest(model, listed)} The endpoint lists: {shown}.".lstrip()


async def said_to(
    endpoint: Endpoint, prompt: str, found: Findings, parameters: dict[str, Any] | None = None
) -> Answer | Trouble:
    """Ask with a few tries; return the answer, or a refused parameter.

    Raises
    ------
    StudyError
        Neither came.
    """
    trouble: Trouble | None = None
    for attempt in range(_TRIES):
        reply: Reply = await endpoint.ask(prompt, parameters or found.parameters)
        if isinstance(reply.said, Answer):
            return reply.said
        trouble = reply.said
        if trouble.kind in {"stop", "parameter"}:
            break
        wait = trouble.wait if trouble.wait is not None else steady_backoff(attempt)
        if attempt + 1 < _TRIES:
            await asyncio.sleep(min(wait, 60))
    assert trouble is not None  # noqa: S101  (there is at least one try)
    if trouble.kind in {"parameter", "stop"}:
        return trouble
    raise StudyError(stopped(found.model, trouble))
