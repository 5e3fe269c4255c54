"""Whether an endpoint returns the probabilities of scores, found out before the first prompt.

Some servers ignore the request, some give probability 1 to the token that they chose, some apply
the temperature to the probabilities, and some return only a few alternatives. A mean over such
numbers would look like a score but mean nothing, so each of these cases is rejected by name.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge.engines.openai.endpoint import Endpoint, Reply, ask_repeatedly
from judge.protocol.exchange import Answer
from judge.protocol.logprob_distribution import (
    MOST_ALTERNATIVES,
    MOST_PROBABILITY,
    ScoreTokens,
    TokenLogprobs,
    probability_sum,
    token_logprobs,
)
from study.base.scales import Scale

LogprobSupport = Literal[
    "given",
    "ignored",
    "refused",
    "no distribution",
    "one token only",
    "after temperature",
    "fewer than asked",
    "digit by digit",
]

# The answer is open, so no model gives all probability to one token; and it has two digits, which
# reveals a tokenizer that writes digit by digit.
_QUESTION = "Reply with a whole number from 10 to 99 of your own choice, and nothing else."
# Lower log probabilities mean that a token is impossible.
_IMPOSSIBLE = -50.0
# The temperatures are compared on so many tokens, of those above this log probability.
_COMPARED, _LIKELY = 5, -20.0
# Two answers of one server differ by rounding, and by a share of the distance between two tokens.
_ROUNDING, _SHARE = 0.25, 0.1


@dataclass(frozen=True)
class LogprobRequest:
    """One way to request probabilities."""

    name: str
    """As it is recorded in the run's decoding."""
    parameters: Mapping[str, Any]
    tokens: ScoreTokens
    expected: int
    """Alternatives that come back if the request is followed."""


def top_alternatives(scale: Scale) -> LogprobRequest:
    """Return the request of OpenAI's protocol: the likeliest tokens."""
    return LogprobRequest(
        f"top {MOST_ALTERNATIVES}",
        {"logprobs": True, "top_logprobs": MOST_ALTERNATIVES},
        ScoreTokens(scale),
        MOST_ALTERNATIVES,
    )


async def logprob_requests(
    endpoint: Endpoint, model: str, scales: Sequence[Scale], *, vllm: bool
) -> list[LogprobRequest]:
    """Return the requests to try, the best first: vLLM can return the tokens of all scores."""
    scale = max(scales, key=lambda each: each.max - each.min)
    scores = sorted({n for each in scales for n in range(round(each.min), round(each.max) + 1)})
    numbers = await endpoint.number_tokens(model, scores) if vllm else None
    if numbers is None:
        return [top_alternatives(scale)]
    parameters = {
        "logprobs": True,
        "logprob_token_ids": list(numbers),
        "return_tokens_as_token_ids": True,
    }
    tokens = ScoreTokens(scale, {f"token_id:{token}": score for token, score in numbers.items()})
    by_number = LogprobRequest("tokens of the scores", parameters, tokens, len(numbers))
    return [by_number, top_alternatives(scale)]


async def check_logprobs(
    endpoint: Endpoint, parameters: Mapping[str, Any], request: LogprobRequest
) -> LogprobSupport:
    """Send a question with one request for probabilities, and judge what comes back.

    `parameters` are sent with each prompt in any case.
    """
    sent = {**parameters, **request.parameters}
    reply = await ask_repeatedly(endpoint, _QUESTION, sent)
    tokens = _tokens(reply)
    if tokens is None:
        return "refused"
    if not any(token.alternatives for token in tokens):
        return "no distribution" if _has_alternatives(reply) else "ignored"
    if probability_sum(tokens[0].alternatives) > MOST_PROBABILITY:
        return "no distribution"
    first = _requested(tokens, request)
    # Where one token has all probability, the others may be left out: that is checked below.
    if len(first) < request.expected and len(_possible(first)) != 1:
        return "fewer than asked"
    position = request.tokens.position(tokens)
    if position is not None and request.tokens.continues(tokens, position):
        return "digit by digit"
    return await _check_temperature(endpoint, sent, request, first)


async def _check_temperature(
    endpoint: Endpoint, sent: Mapping[str, Any], request: LogprobRequest, first: dict[str, float]
) -> LogprobSupport:
    """Ask at temperature 1 as well: the model's own probabilities do not depend on it."""
    one_token = len(_possible(first)) == 1
    temperature = sent.get("temperature")
    tokens = None
    if temperature is not None and temperature != 1:
        tokens = _tokens(await ask_repeatedly(endpoint, _QUESTION, {**sent, "temperature": 1}))
    if not tokens:
        # A model that accepts no other temperature cannot be compared.
        return "one token only" if one_token else "given"
    plain = _requested(tokens, request)
    if one_token:
        return "one token only" if len(_possible(plain)) == 1 else "after temperature"
    return "given" if _alike(first, plain) else "after temperature"


def _requested(tokens: list[TokenLogprobs], request: LogprobRequest) -> dict[str, float]:
    """Return the alternatives to the first token; of numbered tokens only the requested ones."""
    numbered, first = request.tokens.numbered, tokens[0].alternatives
    return first if numbered is None else {t: p for t, p in first.items() if t in numbered}


def _possible(alternatives: Mapping[str, float]) -> list[str]:
    return [token for token, logprob in alternatives.items() if logprob > _IMPOSSIBLE]


def _alike(first: Mapping[str, float], plain: Mapping[str, float]) -> bool:
    """Return whether the distances between the likeliest tokens are the same in both."""
    likeliest = sorted(plain, key=lambda token: -plain[token])
    best, *others = [token for token in likeliest if plain[token] > _LIKELY][: _COMPARED + 1]
    if best not in first:
        return False
    for token in others:
        distance = plain[best] - plain[token]
        if token not in first:
            return False
        if abs((first[best] - first[token]) - distance) > _ROUNDING + _SHARE * distance:
            return False
    return True


def _tokens(reply: Reply) -> list[TokenLogprobs] | None:
    """Return the tokens of an answer; None if there is no answer."""
    if not isinstance(reply.result, Answer) or reply.result.missing is not None:
        return None
    return token_logprobs(_logprobs(reply))


def _has_alternatives(reply: Reply) -> bool:
    """Return whether an answer has alternatives at all, of whatever form."""
    logprobs = _logprobs(reply)
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    entries = content if isinstance(content, list) else []
    return any(isinstance(entry, dict) and entry.get("top_logprobs") for entry in entries)


def _logprobs(reply: Reply) -> Any:
    try:
        return json.loads(reply.body)["choices"][0].get("logprobs")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError):
        return None
