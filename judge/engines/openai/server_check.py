"""Whose fault an error is: that of one prompt, or of a server that answers nobody."""

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Any

from judge.engines.openai.capabilities import QUESTION, unusable_endpoint
from judge.engines.openai.endpoint import Endpoint, backoff
from judge.protocol.chat_completion import Trouble
from study.errors import StudyError

# A token expires and is issued anew; a replica does not know its model while it loads it.
_MAY_PASS = frozenset({"http_401", "http_404"})


class ServerCheck:
    """Asks a plain question when a prompt meets an error that further tries may not mend.

    Prompts that meet errors at the same time share one question.
    """

    def __init__(
        self, endpoint: Endpoint, parameters: Mapping[str, Any], *, patience: float
    ) -> None:
        self._endpoint = endpoint
        self._parameters = parameters
        self._patience = patience
        self._asking = asyncio.Lock()
        self._answered_at = float("-inf")
        """When the last answered question was sent."""
        self._recovered_at = float("-inf")
        """When the server answered again after errors."""

    async def concerns_prompt(self, sent_at: float, failed_at: float) -> bool:
        """Return whether the server answers others; wait until it does.

        Parameters
        ----------
        sent_at, failed_at
            When the prompt was sent and met its error, by the monotonic clock.

        Returns
        -------
        bool
            False: a plain question met an error as well, and is answered by now.

        Raises
        ------
        StudyError
            Plain questions meet errors that no wait mends, or for longer than `patience`.
        """
        async with self._asking:
            if self._recovered_at >= sent_at:
                return False
            if self._answered_at >= failed_at:
                return True
            began, waits = monotonic(), 0
            while True:
                asked_at = monotonic()
                trouble = (await self._endpoint.ask(QUESTION, self._parameters)).result
                if not isinstance(trouble, Trouble):
                    break
                wait = trouble.wait or backoff(waits)
                is_refusal = trouble.kind in {"stop", "parameter"}
                is_final = is_refusal and trouble.reason not in _MAY_PASS
                is_over = monotonic() + wait - began > self._patience
                if is_over and not is_refusal:
                    raise no_answer(monotonic() - began, trouble)
                if is_final or is_over:
                    model = str(self._parameters["model"])
                    raise StudyError(unusable_endpoint(model, trouble, self._endpoint.key.remedy))
                await asyncio.sleep(wait)
                waits += 1
            self._answered_at = asked_at
            if waits:
                self._recovered_at = monotonic()
            return not waits


def no_answer(seconds: float, trouble: Trouble) -> StudyError:
    """Return the error of an endpoint that has answered nothing for so long."""
    return StudyError(
        f"No answer came for {seconds:.0f} s ({trouble.detail}). All answers so far are stored; "
        "run the command again to resume, or wait longer with --patience."
    )
