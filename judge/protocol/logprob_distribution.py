"""The distribution of a score in the token probabilities that come with an answer.

It is read at the answer's first token that is more than white space, where a number begins there.
A token of one whole score stands for every answer that begins with it: "85", "85%" and "85.5".
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judge.protocol.exchange import LEAST_SHARE
from study.scales import RatingScale

MOST_OFFERED = 20
"""Alternatives that endpoints tell at most, the likeliest first."""
MOST_TOGETHER = 1.001
"""Rounding may bring a sum of probabilities a little above 1."""
# White space as some servers show the pieces of their tokenizer.
_BLANK = " \t\r\n\u2581\u0120\u010a"
_TWO_DIGITS = 10
_WHOLE = re.compile(r"0|[1-9][0-9]{0,2}")


class Told(NamedTuple):
    """One place of an answer: the token there, and the logarithms of probabilities."""

    token: str
    text: str
    """The token in plain text, where it is named by its number."""
    offered: dict[str, float]
    """Token to logarithm of its probability, the token itself among them where others are."""


@dataclass(frozen=True)
class ScoreTokens:
    """Which tokens are scores: whole numbers on the scale, or those whose number is known."""

    scale: RatingScale
    numbered: Mapping[str, int] | None = None
    """Name of a token by its number ("token_id:85") to score; None: tokens come as text."""
    unprobed: bool = False
    """Whether nobody has found out that the tokenizer has a token for each score."""

    def score(self, token: str) -> int | None:
        """Return the score that a token is; None where it is none."""
        if self.numbered is not None:
            return self.numbered.get(token)
        text = token.strip(_BLANK)
        found = int(text) if _WHOLE.fullmatch(text) else None
        return None if found is None or self.scale.problem(found) else found

    def distribution(self, logprobs: Any) -> dict[str, float] | None:
        """Return the probability of each score as the answer's beginning.

        Spellings of one score (" 85", "85") are summed. What is missing to 1 lies on other tokens,
        or on scores that the endpoint did not tell.

        Parameters
        ----------
        logprobs
            `choices[0].logprobs` of a chat completion, whatever it holds.

        Returns
        -------
        dict or None
            None where the answer begins with no score, where its number goes on in the next token
            (a tokenizer that writes digit by digit), or where these are no probabilities. Of an
            unprobed tokenizer also where no alternative is a score of two digits or more.
        """
        told = told_tokens(logprobs)
        place = self.place(told)
        if place is None or self.goes_on(told, place):
            return None
        shares: dict[int, float] = {}
        for token, logprob in told[place].offered.items():
            score = self.score(token)
            if score is not None:
                shares[score] = shares.get(score, 0.0) + math.exp(logprob)
        if self.unprobed and max(shares, default=0) < _TWO_DIGITS <= self.scale.max:
            # It may write digit by digit: the first token is then not the whole number.
            return None
        if not shares or total(told[place].offered) > MOST_TOGETHER:
            return None
        return {str(score): p for score, p in sorted(shares.items()) if p >= LEAST_SHARE}

    def place(self, told: Sequence[Told]) -> int | None:
        """Return where the answer begins, if it begins with a score."""
        for number, one in enumerate(told):
            if self.score(one.token) is not None:
                return number
            if one.text.strip(_BLANK):
                return None
        return None

    def goes_on(self, told: Sequence[Told], place: int) -> bool:
        """Tell whether the number at a place has further digits in the next token."""
        following = told[place + 1] if place + 1 < len(told) else None
        if following is None:
            return False
        is_number = self.numbered is not None and following.token in self.numbered
        return is_number or following.text[:1].isdigit()


def told_tokens(logprobs: Any) -> list[Told]:
    """Return the tokens of an answer; empty where the endpoint tells none that can be read."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    found = []
    for entry in content if isinstance(content, list) else []:
        if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
            return []
        offered = _offered(entry.get("top_logprobs"))
        if offered is None:
            return []
        own = _logprob(entry.get("logprob"))
        if own is not None and offered:
            offered.setdefault(entry["token"], own)
        found.append(Told(entry["token"], _text(entry), offered))
    return found


def total(offered: Mapping[str, float]) -> float:
    """Return the sum of the probabilities that were told."""
    return sum(math.exp(min(logprob, 1.0)) for logprob in offered.values())


def _offered(entries: Any) -> dict[str, float] | None:
    """Return alternatives by token; None where one of them is none.

    Two tokens may read alike, and count together; the same one told twice counts once.
    """
    found: dict[str, float] = {}
    for entry in entries if isinstance(entries, list) else []:
        token = entry.get("token") if isinstance(entry, dict) else None
        logprob = _logprob(entry.get("logprob")) if isinstance(entry, dict) else None
        if not isinstance(token, str) or logprob is None:
            return None
        if token in found and found[token] != logprob:
            logprob = math.log(math.exp(found[token]) + math.exp(logprob) or 5e-324)
        found[token] = logprob
    return found


def _logprob(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value) if value <= 1.0 else None


def _text(entry: Mapping[str, Any]) -> str:
    """Return a token's text; servers that name tokens by number tell it in bytes."""
    told = entry.get("bytes")
    numbered = entry["token"].startswith("token_id:")
    if numbered and isinstance(told, list):
        try:
            return bytes(told).decode("utf-8", "replace")
        except (TypeError, ValueError):
            return str(entry["token"])
    return str(entry["token"])
