"""One endpoint in a run: it asks a prompt until there is an answer, or until it is given up."""

import asyncio
from time import monotonic
from typing import Any

from judge.engines.engine import Delivery
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.backoff import backoff
from judge.engines.openai.capabilities import Probed
from judge.engines.openai.capability_requests import QUESTION, stopped
from judge.engines.openai.committer import Committer
from judge.engines.openai.concurrency_limit import Pace
from judge.engines.openai.endpoint import Endpoint, Reply
from judge.engines.openai.endpoint_usage import Tally
from judge.engines.openai.truncation import TruncationCheck
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import REJECTED, TRUNCATED_BY_SERVER, Answer, Failure, Request
from study.errors import StudyError

# So many refusals of one kind in a row speak of the server, not of the prompts.
_IN_A_ROW = 20
# A prompt may meet many complaints that mean the others; one that alone is too much for a quota
# meets nothing else.
_OF_A_COMPLAINT = 0.1
# Waits for a server that is away double so often.
_AWAY = 3


class EndpointWorker:
    """Asks prompts of an endpoint, with retries, at the pace that the endpoint keeps up with."""

    def __init__(
        self,
        endpoint: Endpoint,
        probed: Probed,
        settings: OpenAISettings,
        delivery: Delivery,
        committer: Committer,
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._parameters = probed.parameters
        decoding = probed.ready.conditions.decoding or {}
        self._limit_name = str(decoding.get("limit_sent_as", "max_tokens"))
        """The endpoint's name for the limit of tokens."""
        self._reasoning = int(decoding.get("reasoning_tokens", 0))
        self._delivery = delivery
        self._committer = committer
        self._model = str(probed.parameters["model"])
        self._pace = Pace(settings.concurrency)
        self._truncation = TruncationCheck(probed.ready.tokens, probed.parameters)
        self._last_answer = monotonic()
        self._silent_since = monotonic()
        self._refused_in_a_row = 0
        self._delivered = Tally()

    def restart_silence(self) -> None:
        """Count the time without an answer from now on: prompts come after a while without any."""
        self._silent_since = monotonic()

    @property
    def overhead(self) -> dict[str, int]:
        """What was asked and spent beside the prompts: prompts counted in halves, plain questions.

        Tries that brought no answer are no part of it.
        """
        everything = self._endpoint.tally
        return {
            name: everything[name] - self._delivered[name]
            for name in everything
            if everything[name] > self._delivered[name]
        }

    async def ask(self, request: Request) -> bool:
        """Ask until there is an answer, or until this prompt alone keeps failing.

        Returns whether there is one, on disk by then.

        Raises
        ------
        StudyError
            The endpoint cannot be asked any more, or refuses or cuts everything.
        """
        failures, troubles, since = 0.0, 0, monotonic()
        while True:
            sent = await self._pace.enter()
            try:
                reply = await self._endpoint.ask(request.prompt, self._parameters_of(request))
                said = reply.said
                self._delivered.add(said if isinstance(said, Answer) else None)
                if isinstance(said, Answer):
                    checked = await self._checked(request, said)
                    if isinstance(checked, Answer):
                        return await self._accept(request, checked, reply)
                    self._delivered.take_back(said)
                    if await self._answers_a_question():
                        self._delivery.failed(request, checked)
                        return False
                    # It went away before the prompt could be counted again.
                    said = Trouble("again", checked.reason, checked.detail)
            finally:
                self._pace.leave()
            if said.kind in {"stop", "parameter"}:
                refused = await self._refusal_of_this_prompt(said)
                return await self._accept(request, refused, reply)
            if await self._is_out_of_patience(said):
                self._delivery.failed(request, Failure(said.reason, said.detail))
                return False
            if said.reason == "no_connection":
                # A server that is away says nothing about this prompt, nor about their number; and
                # to find out whether it is back costs nothing.
                self._delivery.retried(said.reason)
                await asyncio.sleep(backoff(min(troubles, _AWAY)))
                troubles += 1
                continue
            self._pace.complained(sent, said.wait if said.kind == "throttled" else None)
            failures += 1.0 if said.kind == "again" else _OF_A_COMPLAINT
            if await self._is_at_fault(failures, since):
                self._delivery.failed(request, Failure(said.reason, said.detail))
                return False
            self._delivery.retried(said.reason)
            if said.kind == "again" or not said.wait:
                await asyncio.sleep(said.wait or backoff(troubles))
                troubles += 1

    async def _is_at_fault(self, failures: float, since: float) -> bool:
        """Tell whether a prompt has failed often enough while the server answers others.

        Prompts that fail may hold all the slots; then a plain question stands for the others.
        """
        if failures < self._settings.tries:
            return False
        if self._last_answer > since:
            return True
        return await self._answers_a_question()

    async def _answers_a_question(self) -> bool:
        return isinstance((await self._endpoint.ask(QUESTION, self._parameters)).said, Answer)

    async def _checked(self, request: Request, answer: Answer) -> Answer | Failure:
        """Return the answer, or that its prompt was cut; a failure where that stays open."""
        if answer.missing is not None:
            return answer
        return await self._truncation.checked(self._endpoint, request.prompt, answer)

    async def _accept(self, request: Request, answer: Answer, reply: Reply) -> bool:
        self._last_answer = self._silent_since = monotonic()
        self._pace.answered()
        if reply.wait:
            self._pace.close_for(reply.wait)
        await self._committer.commit((request, answer))
        self._count_refusals(answer)
        exhausted = self._long_wait(reply.wait, "its quota is used up")
        if exhausted is not None:
            raise exhausted
        return True

    def _count_refusals(self, answer: Answer) -> None:
        """Stop where a server refuses or cuts everything: going on would only waste calls."""
        if answer.missing not in {REJECTED, TRUNCATED_BY_SERVER}:
            self._refused_in_a_row = 0
            return
        self._refused_in_a_row += 1
        if self._refused_in_a_row < _IN_A_ROW:
            return
        if answer.missing == TRUNCATED_BY_SERVER:
            raise StudyError(
                f"The server cut the last {_IN_A_ROW} prompts (this one to {answer.prompt_tokens} "
                "tokens). Give it a larger window (Ollama: num_ctx) and run the command again: "
                "cut prompts are asked anew."
            )
        raise StudyError(
            f"The endpoint refused the last {_IN_A_ROW} prompts: {answer.text}. They are stored as "
            "missing; find out why before you go on."
        )

    def _parameters_of(self, request: Request) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if request.repeat and "seed" in self._parameters:
            # Repeats with one seed would only repeat the answer.
            own["seed"] = self._parameters["seed"] + request.repeat
        if request.max_tokens is not None:
            own[self._limit_name] = request.max_tokens + self._reasoning
        return {**self._parameters, **own} if own else self._parameters

    async def _refusal_of_this_prompt(self, trouble: Trouble) -> Answer:
        """Return a refusal as the answer to one prompt, where the server still takes others.

        A firewall may forbid one text (403), and a complaint may quote the name of a parameter
        that was taken before.
        """
        of_prompt = trouble.kind == "parameter" or trouble.reason == "http_403"
        if of_prompt and await self._answers_a_question():
            return Answer(trouble.detail, missing=REJECTED)
        raise StudyError(stopped(self._model, trouble))

    async def _is_out_of_patience(self, trouble: Trouble) -> bool:
        """Stop where no answer comes; return whether it is this prompt alone that gets none."""
        wait = self._long_wait(trouble.wait, trouble.detail)
        if wait is not None:
            raise wait
        silent = monotonic() - self._silent_since
        if silent <= self._settings.patience:
            return False
        if trouble.reason != "no_connection" and await self._answers_a_question():
            self._last_answer = self._silent_since = monotonic()
            return True
        raise StudyError(
            f"No answer came for {silent:.0f} s ({trouble.detail}). What was judged is kept; "
            "run the command again to resume, or wait longer with "
            "--patience.",
        )

    def _long_wait(self, wait: float | None, why: str) -> StudyError | None:
        """Return the error that stops the run where the endpoint asks to wait too long."""
        if wait is None or wait <= self._settings.patience:
            return None
        return StudyError(
            f"The endpoint asks to wait {wait:.0f} s ({why}). What was judged is kept; run "
            "the command again later, or wait longer with --patience."
        )
