"""The distribution of a score, from the token probabilities of an answer.

It is read at the first token that is more than white space, if that token is a score. The token of
a whole number represents every answer that begins with it: "85", "85%" and "85.5".
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judge.protocol.exchange import LEAST_PROBABILITY
from study.base.scales import Scale

MOST_ALTERNATIVES = 20
"""Alternatives that endpoints return at most, the likeliest first."""
MOST_PROBABILITY = 1.001
"""Rounding can make the sum of probabilities slightly larger than 1."""
# White space as some servers show the pieces of their tokenizer.
_BLANK = " \t\r\n\u2581\u0120\u010a"
_TWO_DIGITS = 10
_WHOLE = re.compile(r"0|[1-9][0-9]{0,2}")


class TokenLogprobs(NamedTuple):
    """One token of an answer, with the alternatives to it."""

    token: str
    text: str
    """The token in plain text; `token` may be its number."""
    alternatives: dict[str, float]
    """Token to log probability; includes the token itself unless there are no alternatives."""


@dataclass(frozen=True)
class ScoreTokens:
    """Which tokens are scores: whole numbers on the scale, or tokens whose numbers are known."""

    scale: Scale
    numbered: Mapping[str, int] | None = None
    """Token by number ("token_id:85") to score; None: tokens come as text."""
    unprobed: bool = False
    """Whether it is unknown that the tokenizer has one token for each score."""

    def score(self, token: str) -> int | None:
        """Return the score that a token is, if any."""
        if self.numbered is not None:
            number = self.numbered.get(token)
        else:
            text = token.strip(_BLANK)
            number = int(text) if _WHOLE.fullmatch(text) else None
        return None if number is None or self.scale.problem(number) else number

    def distribution(self, logprobs: Any) -> dict[str, float] | None:
        """Return the probability of each score as the beginning of the answer.

        Spellings of one score (" 85", "85") are added up. The rest to 1 is on other tokens, or on
        scores that the endpoint left out.

        Parameters
        ----------
        logprobs
            `choices[0].logprobs` of a chat completion; may be anything.

        Returns
        -------
        dict or None
            None if the answer does not begin with a score, if the number continues in the next
            token (a tokenizer that writes digit by digit), or if the values are not probabilities.
            With an unprobed tokenizer, also if no alternative is a score of two digits or more.
        """
        tokens = token_logprobs(logprobs)
        position = self.position(tokens)
        if position is None or self.continues(tokens, position):
            return None
        alternatives = tokens[position].alternatives
        probabilities: dict[int, float] = {}
        for token, logprob in alternatives.items():
            score = self.score(token)
            if score is not None:
                probabilities[score] = probabilities.get(score, 0.0) + math.exp(logprob)
        if self.unprobed and max(probabilities, default=0) < _TWO_DIGITS <= self.scale.max:
            # It may write digit by digit: the first token is then not the whole number.
            return None
        if not probabilities or probability_sum(alternatives) > MOST_PROBABILITY:
            return None
        return {str(s): p for s, p in sorted(probabilities.items()) if p >= LEAST_PROBABILITY}

    def position(self, tokens: Sequence[TokenLogprobs]) -> int | None:
        """Return the position of the score with which the answer begins, if it does."""
        for position, token in enumerate(tokens):
            if self.score(token.token) is not None:
                return position
            if token.text.strip(_BLANK):
                return None
        return None

    def continues(self, tokens: Sequence[TokenLogprobs], position: int) -> bool:
        """Return whether the number at a position has further digits in the next token."""
        following = tokens[position + 1] if position + 1 < len(tokens) else None
        if following is None:
            return False
        is_number = self.numbered is not None and following.token in self.numbered
        return is_number or following.text[:1].isdigit()


def token_logprobs(logprobs: Any) -> list[TokenLogprobs]:
    """Return the tokens of an answer; empty if the endpoint returned none that can be read."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    tokens = []
    for entry in content if isinstance(content, list) else []:
        if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
            return []
        alternatives = _alternatives(entry.get("top_logprobs"))
        if alternatives is None:
            return []
        logprob = _logprob(entry.get("logprob"))
        if logprob is not None and alternatives:
            alternatives.setdefault(entry["token"], logprob)
        tokens.append(TokenLogprobs(entry["token"], _text(entry), alternatives))
    return tokens


def probability_sum(alternatives: Mapping[str, float]) -> float:
    """Return the sum of the probabilities of alternatives."""
    return sum(math.exp(min(logprob, 1.0)) for logprob in alternatives.values())


def _alternatives(entries: Any) -> dict[str, float] | None:
    """Return log probabilities by token; None if an entry is malformed.

    Different tokens with the same text are added up; repeated entries count once.
    """
    logprobs: dict[str, float] = {}
    for entry in entries if isinstance(entries, list) else []:
        token = entry.get("token") if isinstance(entry, dict) else None
        logprob = _logprob(entry.get("logprob")) if isinstance(entry, dict) else None
        if not isinstance(token, str) or logprob is None:
            return None
        if token in logprobs and logprobs[token] != logprob:
            logprob = math.log(math.exp(logprobs[token]) + math.exp(logprob) or 5e-324)
        logprobs[token] = logprob
    return logprobs


def _logprob(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value) if value <= 1.0 else None


def _text(entry: Mapping[str, Any]) -> str:
    """Return a token's text; servers that name tokens by number send it as bytes."""
    token, content = str(entry["token"]), entry.get("bytes")
    if token.startswith("token_id:") and isinstance(content, list):
        try:
            return bytes(content).decode("utf-8", "replace")
        except (TypeError, ValueError):
            return token
    return token
