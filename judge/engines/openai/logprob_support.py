"""Whether an endpoint tells the probabilities of scores: found out before the first prompt.

Some servers ignore the wish without a word, some give all to the token that they chose, some tell
probabilities as the temperature has bent them, some tell a few only. A mean over such numbers
would look like a score and be none, so each of these is refused by its name.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from judge.engines.openai.backoff import steady_backoff
from judge.engines.openai.endpoint import Endpoint, Reply
from judge.protocol.exchange import Answer
from judge.protocol.logprob_distribution import (
    MOST_OFFERED,
    MOST_TOGETHER,
    ScoreTokens,
    Told,
    told_tokens,
    total,
)
from study.scales import RatingScale

Found = Literal[
    "given",
    "ignored",
    "refused",
    "no distribution",
    "one token only",
    "after temperature",
    "fewer than asked",
    "digit by digit",
]

# Its answer is open, so that no honest server gives all to one token; and it has two digits, so
# that a tokenizer that writes digit by digit shows.
_QUESTION = "Reply with a whole number from 10 to 99 of your own choice, and nothing else."
_TRIES = 3
# Logarithms of probabilities below this are no chance that a model gives a token.
_NONE = -50.0
# Up to so many tokens are compared, of those that are no mere chance.
_COMPARED, _LIKELY = 5, -20.0
# Two answers of one server differ by rounding, in part with the size of the distance.
_ROUNDING, _SHARE = 0.25, 0.1


@dataclass(frozen=True)
class Way:
    """One way to ask for probabilities."""

    name: str
    """As it stands in the run's decoding."""
    parameters: Mapping[str, Any]
    tokens: ScoreTokens
    least: int
    """How many alternatives come where the wish is followed."""


def top(scale: RatingScale) -> Way:
    """Return the way that OpenAI's protocol knows: the likeliest tokens."""
    return Way(
        f"top {MOST_OFFERED}",
        {"logprobs": True, "top_logprobs": MOST_OFFERED},
        ScoreTokens(scale),
        MOST_OFFERED,
    )


async def ways(endpoint: Endpoint, model: str, scale: RatingScale, *, vllm: bool) -> list[Way]:
    """Return the ways to try, the best first: vLLM tells the very tokens of the scores."""
    found = []
    scores = list(range(round(scale.min), round(scale.max) + 1))
    numbers = await endpoint.number_tokens(model, scores) if vllm else None
    if numbers is not None:
        named = {f"token_id:{token}": score for token, score in numbers.items()}
        parameters = {
            "logprobs": True,
            "logprob_token_ids": list(numbers),
            "return_tokens_as_token_ids": True,
        }
        tokens = ScoreTokens(scale, named)
        found.append(Way("tokens of the scores", parameters, tokens, len(numbers)))
    return [*found, top(scale)]


async def tried(endpoint: Endpoint, parameters: Mapping[str, Any], way: Way) -> Found:
    """Ask in one way, and say what the answer is worth.

    Parameters
    ----------
    endpoint
    parameters
        What goes with each prompt otherwise.
    way
    """
    sent = {**parameters, **way.parameters}
    reply = await _asked(endpoint, sent)
    told = _told(reply)
    if told is None:
        return "refused"
    if not told or not any(one.offered for one in told):
        return "ignored" if _holds_none(reply) else "no distribution"
    worth = _worth(told, way)
    if worth != "given":
        return worth
    return await _bent(endpoint, sent, way, told)


def _worth(told: list[Told], way: Way) -> Found:
    if total(told[0].offered) > MOST_TOGETHER:
        return "no distribution"
    first = _compared(told, way)
    # Where one token has all, the others may be left out: that is looked into next.
    if len(first) < way.least and len(_possible(first)) != 1:
        return "fewer than asked"
    place = way.tokens.place(told)
    if place is not None and way.tokens.goes_on(told, place):
        return "digit by digit"
    return "given"


async def _bent(endpoint: Endpoint, sent: Mapping[str, Any], way: Way, told: list[Told]) -> Found:
    """Tell whether probabilities depend on the temperature: then they are not the model's own."""
    first = _compared(told, way)
    one_token = len(_possible(first)) == 1
    temperature = sent.get("temperature")
    if temperature is None or temperature == 1:
        return "one token only" if one_token else "given"
    again = _told(await _asked(endpoint, {**sent, "temperature": 1}))
    if not again:
        # A model that takes no other temperature can't be compared.
        return "one token only" if one_token else "given"
    plain = _compared(again, way)
    if one_token:
        return "one token only" if len(_possible(plain)) == 1 else "after temperature"
    return "given" if _alike(first, plain) else "after temperature"


def _compared(told: list[Told], way: Way) -> dict[str, float]:
    """Return the alternatives at the first place; of numbered tokens those that were asked for."""
    numbered, first = way.tokens.numbered, told[0].offered
    return first if numbered is None else {t: p for t, p in first.items() if t in numbered}


def _possible(offered: Mapping[str, float]) -> list[str]:
    return [token for token, logprob in offered.items() if logprob > _NONE]


def _alike(first: Mapping[str, float], plain: Mapping[str, float]) -> bool:
    """Tell whether the distances between the likeliest tokens are the same in both."""
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


async def _asked(endpoint: Endpoint, parameters: Mapping[str, Any]) -> Reply:
    for attempt in range(_TRIES):
        reply = await endpoint.ask(_QUESTION, parameters)
        said = reply.said
        if isinstance(said, Answer) or said.kind in {"stop", "parameter"}:
            return reply
        if attempt + 1 < _TRIES:
            wait = said.wait if said.wait is not None else steady_backoff(attempt)
            await asyncio.sleep(min(wait, 60))
    return reply


def _told(reply: Reply) -> list[Told] | None:
    """Return the tokens of an answer; None where there is no answer."""
    if not isinstance(reply.said, Answer) or reply.said.missing is not None:
        return None
    return told_tokens(_logprobs(reply))


def _holds_none(reply: Reply) -> bool:
    """Tell whether an answer says nothing at all of probabilities."""
    logprobs = _logprobs(reply)
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    entries = content if isinstance(content, list) else []
    return not any(isinstance(entry, dict) and entry.get("top_logprobs") for entry in entries)


def _logprobs(reply: Reply) -> Any:
    try:
        return json.loads(reply.body)["choices"][0].get("logprobs")
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError):
        return None
