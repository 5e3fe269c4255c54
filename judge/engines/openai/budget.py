"""The most that a call may cost, with the requests under way counted at their worst case."""

import asyncio
from collections.abc import Mapping
from typing import Any

from judge.engines.engine_settings import OpenAISettings
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import REJECTED, TOO_LONG, Answer
from study.errors import StudyError

# Tokens that chat templates and servers add to a prompt.
_AROUND_PROMPT = 256
# A server may have answered, and charge for it.
_MAYBE_CHARGED = frozenset(
    {
        *("timeout", "connection_cut", "broken_off"),
        *("no_json", "no_choice", "event_stream", "too_large"),
    }
)


class Budget:
    """Lets requests wait until they cannot exceed the largest cost of a call.

    Without `max_cost` every request passes.
    """

    def __init__(self, settings: OpenAISettings) -> None:
        self._settings = settings
        self.spent = 0.0
        """Cost so far; of requests whose cost is unknown the worst case."""
        self._unknown = 0.0
        """The part of it that is such worst cases; the cost of the answers does not include it."""
        self._under_way = 0
        self._reserved = 0.0
        self._waiting: list[asyncio.Future[None]] = []

    async def reserve(self, prompt: str, parameters: Mapping[str, Any]) -> float:
        """Wait until a request fits; return its worst cost, to be settled later.

        Raises
        ------
        StudyError
            No request is under way, and this one might exceed the largest cost.
        """
        most = self._settings.max_cost
        if most is None:
            return 0.0
        limit = parameters.get("max_tokens", parameters.get("max_completion_tokens", 0))
        # No common tokenizer makes more tokens than bytes.
        size = len(prompt.encode("utf-8", "replace")) + _AROUND_PROMPT
        worst = self._settings.cost(size, limit) or 0.0
        while self.spent + self._reserved + worst > most:
            if not self._under_way:
                unknown = (
                    f" (up to {self._unknown:.4g} of it for requests whose answer did not arrive "
                    "or has no count of tokens, which the server may have charged)"
                    if self._unknown
                    else ""
                )
                raise StudyError(
                    f"--max-cost {most:g} might be exceeded: {self.spent:.4g} is spent{unknown}, "
                    f"and the next prompt costs up to {worst:.4g}. All answers so far are stored; "
                    "run the command again to continue."
                )
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._under_way += 1
        self._reserved += worst
        return worst

    def settle(self, worst: float, result: Answer | Trouble | None) -> None:
        """Replace the worst cost of a request by that of its result; None: it was interrupted."""
        if self._settings.max_cost is None:
            return
        self._under_way -= 1
        # Sums of rounded numbers need not return to 0.
        self._reserved = self._reserved - worst if self._under_way else 0.0
        cost = self._cost(result)
        self._unknown += worst if cost is None else 0.0
        self.spent += worst if cost is None else cost
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)

    def _cost(self, result: Answer | Trouble | None) -> float | None:
        """The cost of a request; None where it is not known."""
        if isinstance(result, Trouble):
            return None if result.reason in _MAYBE_CHARGED else 0.0
        if result is None:
            return None
        if result.prompt_tokens is None or result.completion_tokens is None:
            return 0.0 if result.missing in {REJECTED, TOO_LONG} else None
        tokens = (result.prompt_tokens, result.completion_tokens, result.cached_tokens or 0)
        return self._settings.cost(*tokens) or 0.0
