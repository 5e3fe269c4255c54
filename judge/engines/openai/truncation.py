"""Servers that use only a part of a prompt, and do not say so.

Some servers drop what does not fit their window (Ollama's endpoint: ollama issues 4967 and
17889). Their own count of the prompt's tokens gives them away.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge.engines.engine import TokenCount
from judge.engines.openai.backoff import steady_backoff
from judge.engines.openai.endpoint import Endpoint
from judge.protocol.exchange import TRUNCATED_BY_SERVER, Answer, Failure

# A prompt whose count falls so far short of the estimate was cut; between the two it is counted
# in halves, since texts differ: numbers and names have more tokens a byte than prose.
_CERTAINLY, _PERHAPS = 0.65, 0.9
# Texts as short as this fit every window, and their estimates are rough.
_FITS = 400
_ALIKE = 0.1
_TRIES = 5
SLACK = 0.02
"""Share by which two counts of one text may differ: cut in halves, its words are cut too."""


class TruncationCheck:
    """Holds each answer's count of prompt tokens against an estimate that the probe calibrated."""

    def __init__(self, tokens: TokenCount, parameters: Mapping[str, Any]) -> None:
        self._tokens = tokens
        self._parameters = parameters
        self._honest = _PERHAPS
        """The least share of the estimate that was found whole."""
        self._most = 0
        """The largest count so far."""
        self._first_of_most = 0
        """The hash of the prompt that had it first."""
        self._whole_at_most = 0
        """The bytes of the longest prompt that has it and was found whole."""

    async def checked(self, endpoint: Endpoint, prompt: str, answer: Answer) -> Answer | Failure:
        """Return the answer, or that the server cut its prompt; a failure where that is open."""
        counted = answer.prompt_tokens
        if counted is None or not self._tokens.calibrated:
            return answer
        size = len(prompt.encode())
        expected = self._tokens.estimate(size)
        if expected <= _FITS:
            return answer
        share = counted / expected
        if share >= self._honest and not self._meets_a_ceiling(counted, size, prompt):
            return answer
        # Of a text in another script the estimate says little.
        alike = abs(len(prompt) / size - self._tokens.density) <= _ALIKE
        if share >= _CERTAINLY or not alike:
            halves = await self._counted_in_halves(endpoint, prompt)
            if halves is None:
                return Failure("uncounted", "its prompt seems cut, and could not be counted again")
            if counted >= halves * (1 - SLACK):
                self._honest = min(self._honest, share)
                if counted == self._most:
                    self._whole_at_most = max(self._whole_at_most, size)
                return answer
        return replace(answer, missing=TRUNCATED_BY_SERVER)

    def _meets_a_ceiling(self, counted: int, size: int, prompt: str) -> bool:
        """Tell whether different prompts have one count, the largest of all.

        That is what a cut of a few hundredths looks like, which no estimate is good enough to see.
        """
        if counted > self._most:
            self._most, self._first_of_most, self._whole_at_most = counted, hash(prompt), 0
            return False
        another = hash(prompt) != self._first_of_most
        return counted == self._most and another and size > self._whole_at_most

    async def _counted_in_halves(self, endpoint: Endpoint, prompt: str) -> float | None:
        """Return the sum of the counts of both halves, less what each message costs by itself."""
        middle = len(prompt) // 2
        total = 0
        for half in (prompt[:middle], prompt[middle:]):
            counted = await self._counted(endpoint, half)
            if counted is None:
                return None
            total += counted
        return total - max(0.0, self._tokens.base)

    async def _counted(self, endpoint: Endpoint, text: str) -> int | None:
        for attempt in range(_TRIES):
            said = (await endpoint.ask(text, self._parameters)).said
            if isinstance(said, Answer):
                return said.prompt_tokens
            if attempt + 1 < _TRIES:
                await asyncio.sleep(min(said.wait or steady_backoff(attempt), 30))
        return None
