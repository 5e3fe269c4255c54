"""Servers that use only a part of a prompt without reporting it.

Some servers drop what does not fit their window (Ollama's endpoint: ollama issues 4967 and
17889). Their own count of the prompt's tokens reveals it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge.engines.engine import TokenCount
from judge.engines.openai.endpoint import Endpoint, ask_repeatedly
from judge.protocol.exchange import TRUNCATED_BY_SERVER, Answer, Failure

# Shares of the estimate: below the first a prompt was cut; between the two it is counted in halves,
# since texts differ: numbers and names have more tokens per byte than prose.
_CUT_BELOW, _WHOLE_FROM = 0.65, 0.9
# Texts with so few tokens fit every window, and their estimates are rough.
_ALWAYS_FITS = 400
# A text whose characters per byte differ by more is in another script than the sample.
_DENSITY_DIFFERENCE = 0.1
_TRIES = 5
SLACK = 0.02
"""Share by which two counts of one text may differ: halving a text also halves a word."""


class TruncationCheck:
    """Compares each answer's count of prompt tokens with an estimate from the probe."""

    def __init__(self, tokens: TokenCount, parameters: Mapping[str, Any]) -> None:
        self._tokens = tokens
        self._parameters = parameters
        self._least_whole = _WHOLE_FROM
        """The smallest share of the estimate that a whole prompt had."""
        self._largest = 0
        """The largest count so far."""
        self._first_with_largest = 0
        """Hash of the first prompt with that count."""
        self._whole_bytes = 0
        """Bytes of the longest prompt with that count that was found to be whole."""

    async def check(self, endpoint: Endpoint, prompt: str, answer: Answer) -> Answer | Failure:
        """Return the answer, marked as missing if the server cut its prompt.

        Returns a failure if that cannot be found out.
        """
        count = answer.prompt_tokens
        if count is None or not self._tokens.calibrated:
            return answer
        size = len(prompt.encode())
        expected = self._tokens.estimate(size)
        if expected <= _ALWAYS_FITS:
            return answer
        share = count / expected
        if share >= self._least_whole and not self._repeats_largest(count, size, prompt):
            return answer
        # For a text in another script the estimate means little.
        like_sample = abs(len(prompt) / size - self._tokens.density) <= _DENSITY_DIFFERENCE
        if share >= _CUT_BELOW or not like_sample:
            in_halves = await self._count_in_halves(endpoint, prompt)
            if in_halves is None:
                return Failure("uncounted", "its prompt seems cut, and could not be counted again")
            if count >= in_halves * (1 - SLACK):
                self._least_whole = min(self._least_whole, share)
                if count == self._largest:
                    self._whole_bytes = max(self._whole_bytes, size)
                return answer
        return replace(answer, missing=TRUNCATED_BY_SERVER)

    def _repeats_largest(self, count: int, size: int, prompt: str) -> bool:
        """Return whether different prompts share one count, the largest of all.

        This reveals prompts that lose only a few percent, for which no estimate is exact enough.
        """
        if count > self._largest:
            self._largest, self._first_with_largest, self._whole_bytes = count, hash(prompt), 0
            return False
        is_other = hash(prompt) != self._first_with_largest
        return count == self._largest and is_other and size > self._whole_bytes

    async def _count_in_halves(self, endpoint: Endpoint, prompt: str) -> float | None:
        """Return the sum of the counts of both halves, without the tokens of one message."""
        middle = len(prompt) // 2
        total = 0
        for half in (prompt[:middle], prompt[middle:]):
            answer = (await ask_repeatedly(endpoint, half, self._parameters, _TRIES)).result
            if not isinstance(answer, Answer) or answer.prompt_tokens is None:
                return None
            total += answer.prompt_tokens
        return total - max(0.0, self._tokens.base)
