"""The engine `openai`: prompts over HTTP, as many at once as the endpoint takes."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import islice
from random import uniform
from time import monotonic
from typing import Any

from judge.answers import REJECTED, TRUNCATED_BY_SERVER, Answer, Failure
from judge.engines.engine import Delivery, Ready
from judge.engines.openai.committing import Committer
from judge.engines.openai.endpoint import Endpoint, Reply
from judge.engines.openai.event_loop import run_to_end
from judge.engines.openai.pace import Pace
from judge.engines.openai.probe import QUESTION, probe, stopped
from judge.engines.openai.reply import Trouble
from judge.engines.openai.truncation import TruncationCheck
from judge.prompts import PromptVersion
from judge.requests import Request
from judge.runs.run import Run
from judge.settings import JudgeSettings
from study.campaign import Study
from study.errors import StudyError

# Requests are made in another thread, some at a time, while others are under way.
_AHEAD = 32
# So many refusals of one kind in a row speak of the server, not of the prompts.
_IN_A_ROW = 20
_LONGEST_WAIT = 30.0
# A prompt may meet many complaints that mean the others; one that alone is too much for a quota
# meets nothing else.
_OF_A_COMPLAINT = 0.1
# Waits for a server that is away double so often.
_AWAY = 3


class OpenAIEngine:
    """Asks an endpoint that speaks OpenAI's chat completions."""

    def __init__(self, settings: JudgeSettings, study: Study, prompts: PromptVersion) -> None:
        del study
        settings.refuse("answers", "requests", "revision", "structured", "processes")
        if settings.base_url is None:
            raise StudyError(
                "The engine openai needs the endpoint's address: "
                "--base-url http://localhost:8000/v1"
            )
        self._settings = settings
        self._prompts = prompts
        self._base_url = settings.base_url
        self._parameters: dict[str, Any] = {}
        self._ready: Ready | None = None

    def start(self, sample: Sequence[str]) -> Ready:
        """Probe the endpoint; see `judge.engines.openai.probe`."""

        async def probed() -> tuple[Ready, dict[str, Any]]:
            async with self._endpoint(connections=1) as endpoint:
                return await probe(endpoint, self._settings, self._prompts, sample)

        self._ready, self._parameters = run_to_end(probed())
        return self._ready

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Ask every request; a slot is free when its judgment is committed."""
        del run
        assert self._ready is not None  # noqa: S101  (start comes first)
        asking = _Asking(self._settings, self._ready, self._parameters, delivery)

        async def asked() -> None:
            async with self._endpoint(connections=self._settings.concurrency) as endpoint:
                await asking.all(endpoint, iter(requests))

        run_to_end(asked())
        return ()

    def _endpoint(self, connections: int) -> Endpoint:
        return Endpoint(
            self._base_url,
            key_name=self._settings.api_key_env,
            timeout=self._settings.timeout,
            connections=connections,
        )


class _Asking:
    """One run over all requests."""

    def __init__(
        self,
        settings: JudgeSettings,
        ready: Ready,
        parameters: dict[str, Any],
        delivery: Delivery,
    ) -> None:
        self._settings = settings
        self._parameters = parameters
        self._delivery = delivery
        self._model = str(parameters["model"])
        self._pace = Pace(settings.concurrency)
        self._committer = Committer(delivery.commit)
        self._truncation = TruncationCheck(ready.tokens, parameters, settings.first_wait)
        self._last_answer = monotonic()
        self._refused_in_a_row = 0

    async def all(self, endpoint: Endpoint, requests: Iterator[Request]) -> None:
        # Each task holds a slot from before its request is made until its judgment is on disk,
        # so no more than so many answers are ever at risk.
        slots = asyncio.Semaphore(self._settings.concurrency)
        try:
            async with asyncio.TaskGroup() as tasks:
                async for request in _made_ahead(requests):
                    await slots.acquire()
                    task = tasks.create_task(self._one(endpoint, request))
                    task.add_done_callback(lambda _: slots.release())
        except BaseExceptionGroup as group:
            # Tasks fail together when one stops the run: the first word is the cause.
            said = [error for error in group.exceptions if isinstance(error, StudyError)]
            raise (said or group.exceptions)[0] from None
        finally:
            # What was answered is stored, whatever else happened.
            await self._committer.finish()

    async def _one(self, endpoint: Endpoint, request: Request) -> None:
        """Ask until there is an answer, or until this prompt alone keeps failing."""
        failures, troubles, since = 0.0, 0, monotonic()
        while True:
            sent = await self._pace.enter()
            try:
                reply = await endpoint.ask(request.prompt, self._with_seed(request))
                said = reply.said
                if isinstance(said, Answer):
                    await self._accept(endpoint, request, said, reply)
                    return
            finally:
                self._pace.leave()
            if said.kind in {"stop", "parameter"}:
                refused = await self._refusal_of_this_prompt(endpoint, said)
                await self._accept(endpoint, request, refused, reply)
                return
            if await self._is_out_of_patience(endpoint, said):
                self._delivery.failed(request, Failure(said.reason, said.detail))
                return
            if said.reason == "no_connection":
                # A server that is away says nothing about this prompt, nor about their number; and
                # to find out whether it is back costs nothing.
                await asyncio.sleep(self._backoff(min(troubles, _AWAY)))
                troubles += 1
                continue
            self._pace.complained(sent, said.wait if said.kind == "throttled" else None)
            failures += 1.0 if said.kind == "again" else _OF_A_COMPLAINT
            if await self._is_at_fault(endpoint, failures, since):
                self._delivery.failed(request, Failure(said.reason, said.detail))
                return
            if said.kind == "again" or not said.wait:
                await asyncio.sleep(said.wait or self._backoff(troubles))
                troubles += 1

    async def _is_at_fault(self, endpoint: Endpoint, failures: float, since: float) -> bool:
        """Tell whether a prompt has failed often enough while the server answers others.

        Prompts that fail may hold all the slots; then a plain question stands for the others.
        """
        if failures < self._settings.tries:
            return False
        if self._last_answer > since:
            return True
        return isinstance((await endpoint.ask(QUESTION, self._parameters)).said, Answer)

    async def _accept(
        self, endpoint: Endpoint, request: Request, answer: Answer, reply: Reply
    ) -> None:
        if answer.missing is None:
            checked = await self._truncation.checked(endpoint, request.prompt, answer)
            if isinstance(checked, Failure):
                self._delivery.failed(request, checked)
                return
            answer = checked
        self._last_answer = monotonic()
        self._pace.answered()
        if reply.wait:
            self._pace.close_for(reply.wait)
        await self._committer.commit((request, answer))
        self._refuse_long_wait(reply.wait, "its quota is used up")
        self._count_refusals(answer)

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

    def _with_seed(self, request: Request) -> dict[str, Any]:
        if request.repeat and "seed" in self._parameters:
            # Repeats with one seed would only repeat the answer.
            return {**self._parameters, "seed": self._parameters["seed"] + request.repeat}
        return self._parameters

    async def _refusal_of_this_prompt(self, endpoint: Endpoint, trouble: Trouble) -> Answer:
        """Return a refusal as the answer to one prompt, where the server still takes others.

        A firewall may forbid one text (403), and a complaint may quote the name of a parameter
        that was taken before.
        """
        if trouble.kind == "parameter" or trouble.reason == "http_403":
            said = (await endpoint.ask(QUESTION, self._parameters)).said
            if isinstance(said, Answer):
                return Answer(trouble.detail, missing=REJECTED)
        raise StudyError(stopped(self._model, trouble))

    async def _is_out_of_patience(self, endpoint: Endpoint, trouble: Trouble) -> bool:
        """Stop a run that gets no answer; tell where it is this prompt alone that gets none."""
        self._refuse_long_wait(trouble.wait, trouble.detail)
        silent = monotonic() - self._last_answer
        if silent <= self._settings.patience:
            return False
        if trouble.reason != "no_connection":
            said = (await endpoint.ask(QUESTION, self._parameters)).said
            if isinstance(said, Answer):
                self._last_answer = monotonic()
                return True
        raise StudyError(
            f"No answer came for {silent:.0f} s ({trouble.detail}). What was judged is kept; run "
            "the command again to go on, or wait longer with --patience."
        )

    def _refuse_long_wait(self, wait: float | None, why: str) -> None:
        if wait is not None and wait > self._settings.patience:
            raise StudyError(
                f"The endpoint asks to wait {wait:.0f} s ({why}). What was judged is kept; run the "
                "command again later, or wait with --patience."
            )

    def _backoff(self, troubles: int) -> float:
        longest = min(_LONGEST_WAIT, self._settings.first_wait * 2 ** min(troubles, 20))
        # Spread out, so that all those under way do not come back at one moment.
        return uniform(longest / 2, longest)  # noqa: S311  (nothing secret)


async def _made_ahead(requests: Iterator[Request]) -> AsyncIterator[Request]:
    """Yield requests that another thread makes, so that the loop goes on meanwhile."""

    def some() -> list[Request]:
        return list(islice(requests, _AHEAD))

    upcoming = asyncio.create_task(asyncio.to_thread(some))
    try:
        while made := await upcoming:
            upcoming = asyncio.create_task(asyncio.to_thread(some))
            for request in made:
                yield request
    finally:
        upcoming.cancel()
