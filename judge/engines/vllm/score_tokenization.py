"""How a tokenizer writes scores, and the probability of each from those of tokens.

Llama 3 and similar tokenizers have one token for each number up to 999: a single pass gives all
probabilities. Mistral, Qwen and others write digit by digit: then the prompt is continued with
each digit, a few tokens at a time on a cached beginning, and the probability of a score is a
product.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.protocol.exchange import LEAST_PROBABILITY
from study.base.scales import Scale

MOST_TOKENS = 128
"""Tokens whose probabilities can be requested at once."""

Probabilities = Mapping[int, float]
"""Probability by token."""


@dataclass(frozen=True)
class WholeNumbers:
    """Each score is one token, or one of several spellings."""

    points: Mapping[int, int]
    """Token to score."""
    continuations: tuple[tuple[int, ...], ...] = ()

    @property
    def tokens(self) -> list[int]:
        """The tokens whose probabilities are needed."""
        return list(self.points)

    def distribution(
        self, answer: Sequence[int], first: Probabilities, further: Sequence[Probabilities]
    ) -> dict[str, float] | None:
        """Return the probability of each score as the first token, if the answer begins with one.

        Parameters
        ----------
        answer
            Tokens of the answer.
        first
            Probabilities at its first token.
        further
            Probabilities after each of `continuations`.
        """
        del further
        if not answer or answer[0] not in self.points:
            return None
        probabilities: dict[int, float] = {}
        for token, share in first.items():
            if token in self.points:
                score = self.points[token]
                probabilities[score] = probabilities.get(score, 0.0) + share
        return _large_enough(probabilities)


@dataclass(frozen=True)
class Digits:
    """Each digit is a token; scores from 0 to 100 have one to three of them."""

    digits: tuple[int, ...]
    """Tokens of 0 to 9."""
    lead: tuple[int, ...] = ()
    """What the tokenizer writes before a number, at most one token."""
    continuations: tuple[tuple[int, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        after: list[tuple[int, ...]] = [(self.digits[first],) for first in range(1, 10)]
        after.append((self.digits[1], self.digits[0]))
        starts = [self.lead, *(self.lead + tokens for tokens in after)]
        # Without a lead, the answer itself gives the probabilities of the first digit.
        object.__setattr__(self, "continuations", tuple(starts if self.lead else starts[1:]))

    @property
    def tokens(self) -> list[int]:
        """The tokens whose probabilities are needed."""
        return [*self.lead, *self.digits]

    def distribution(
        self, answer: Sequence[int], first: Probabilities, further: Sequence[Probabilities]
    ) -> dict[str, float] | None:
        """Return the probability of each score: its digits, then no digit after one or after 10.

        As with whole numbers, what follows a score is ignored ("85.5" and "85%" count as 85).
        """
        start = len(self.lead)
        begins_with_lead = tuple(answer[:start]) == self.lead
        if not begins_with_lead or not set(answer[start : start + 1]) & {*self.digits}:
            return None
        lead_probability, at_first, after = 1.0, first, list(further)
        if self.lead:
            lead_probability, at_first = first.get(self.lead[0], 0.0), after.pop(0)
        digit_probabilities = [lead_probability * at_first.get(token, 0.0) for token in self.digits]
        scores = {0: digit_probabilities[0]}
        for digit in range(1, 10):
            second = [after[digit - 1].get(token, 0.0) for token in self.digits]
            scores[digit] = digit_probabilities[digit] * max(0.0, 1 - sum(second))
            for last in range(10):
                scores[10 * digit + last] = digit_probabilities[digit] * second[last]
        third = [after[9].get(token, 0.0) for token in self.digits]
        ten = scores[10]
        scores[10], scores[100] = ten * max(0.0, 1 - sum(third)), ten * third[0]
        return _large_enough(scores)


Tokenization = WholeNumbers | Digits


def score_tokenization(tokenizer: Any, scale: Scale) -> tuple[Tokenization | None, str]:
    """Return how a tokenizer writes the whole numbers of a scale, and a description of it.

    The first is None if no probabilities are possible; the description states why.
    """

    def encode(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(text, add_special_tokens=False))

    scores = range(round(scale.min), round(scale.max) + 1)
    if len(scores) > MOST_TOKENS:
        return None, f"none: the scale has more than {MOST_TOKENS} whole numbers"
    plain = {score: encode(str(score)) for score in scores}
    if all(len(tokens) == 1 for tokens in plain.values()):
        return _whole_numbers(plain, {score: encode(f" {score}") for score in scores})
    if (scores[0], scores[-1]) != (0, 100):
        return None, "none: digit by digit is supported for 0 to 100 only"
    lead, digits = plain[0][:-1], tuple(plain[digit][-1] for digit in range(10))
    by_digit = Digits(digits, lead) if len(lead) <= 1 and len(set(digits)) == 10 else None
    if by_digit and all(
        tokens == (*lead, *(digits[int(digit)] for digit in str(score)))
        for score, tokens in plain.items()
    ):
        return by_digit, "digit by digit"
    return None, "none: the tokenizer writes numbers neither whole nor digit by digit"


def _whole_numbers(
    plain: Mapping[int, tuple[int, ...]], spaced: Mapping[int, tuple[int, ...]]
) -> tuple[WholeNumbers, str]:
    points = {tokens[0]: score for score, tokens in plain.items()}
    variants = {
        tokens[0]: score
        for score, tokens in spaced.items()
        if len(tokens) == 1 and tokens[0] not in points
    }
    description = "one token each"
    if len(points) + len(variants) > MOST_TOKENS:
        description += f", without those after a space: more than {MOST_TOKENS} tokens"
    elif variants:
        description += ", with and without a space before"
        points |= variants
    return WholeNumbers(points), description


def _large_enough(scores: Mapping[int, float]) -> dict[str, float]:
    return {str(score): share for score, share in scores.items() if share >= LEAST_PROBABILITY}
