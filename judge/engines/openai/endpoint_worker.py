"""Asks the prompts of a run: each until there is an answer, or until it is given up."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from judge.engines.engine import Delivery
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.capabilities import QUESTION
from judge.engines.openai.concurrency_limit import ConcurrencyLimit
from judge.engines.openai.endpoint import Endpoint, Reply, UsageCounter, backoff
from judge.engines.openai.request_parameters import Capabilities
from judge.engines.openai.server_check import ServerCheck
from judge.engines.openai.truncation import TruncationCheck
from judge.protocol.chat_completion import Trouble
from judge.protocol.exchange import (
    NOT_SERVED,
    REJECTED,
    TRUNCATED_BY_SERVER,
    Answer,
    Failure,
    Request,
)
from study.errors import StudyError

# So many refused or cut prompts in a row are the fault of the server, not of the prompts.
_MOST_REFUSALS = 20
# A complaint (429, 503) counts as this part of a failure: it is mostly about other prompts, but a
# prompt that alone exceeds a quota gets nothing else.
_COMPLAINT = 0.1
# Waits for a server that cannot be reached double so many times.
_MOST_DOUBLINGS = 3

Pair = tuple[Request, Answer]


class Committer:
    """Stores answers in another thread, one transaction at a time, each with all that wait."""

    def __init__(self, commit: Callable[[Sequence[Pair]], None]) -> None:
        self._commit = commit
        self._waiting: list[tuple[Pair, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def commit(self, pair: Pair) -> None:
        """Return when the answer is committed; raise the database's error otherwise."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((pair, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await done

    async def finish(self) -> None:
        """Commit the answers that still wait, also when the run is being stopped."""
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            error: Exception | None = None
            try:
                await asyncio.to_thread(self._commit, [pair for pair, _ in batch])
            except Exception as raised:  # noqa: BLE001  (every waiting task gets it)
                error = raised
            for _, done in batch:
                if done.done():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)


class EndpointWorker:
    """Asks prompts of an endpoint, with retries, as fast as the endpoint accepts them."""

    def __init__(
        self,
        endpoint: Endpoint,
        capabilities: Capabilities,
        settings: OpenAISettings,
        delivery: Delivery,
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._capabilities = capabilities
        self._question_parameters = capabilities.of_a_question
        self._delivery = delivery
        self._committer = Committer(delivery.commit)
        self._concurrency = ConcurrencyLimit(settings.concurrency)
        self._check = ServerCheck(endpoint, self._question_parameters, patience=settings.patience)
        self._truncation = TruncationCheck(capabilities.ready.tokens, self._question_parameters)
        self._last_answer = monotonic()
        self._silent_since = monotonic()
        self._refusals_in_a_row = 0
        self._delivered = UsageCounter()

    def restart_silence(self) -> None:
        """Measure the time without an answer from now on, since no prompt was under way."""
        self._silent_since = monotonic()

    async def finish(self) -> None:
        """Store the answers that still wait."""
        await self._committer.finish()

    @property
    def overhead(self) -> dict[str, int]:
        """Requests other than the prompts: prompts counted in halves, plain questions.

        Tries that brought no answer are not included.
        """
        usage = self._endpoint.usage
        return {
            name: usage[name] - self._delivered[name]
            for name in usage
            if usage[name] > self._delivered[name]
        }

    async def ask(self, request: Request) -> None:
        """Ask until there is an answer, on disk by then, or until this prompt is given up.

        Raises
        ------
        StudyError
            The endpoint cannot be asked any more, or refuses or cuts everything.
        """
        failures, waits, started = 0.0, 0, monotonic()
        refusals = 0
        parameters = self._capabilities.parameters_of(request)
        scores = self._capabilities.scores_of(request)
        while True:
            sent = await self._concurrency.acquire()
            try:
                reply = await self._endpoint.ask(request.prompt, parameters, scores)
                result = reply.result
                self._delivered.add(result if isinstance(result, Answer) else None)
                if isinstance(result, Answer):
                    checked: Answer | Failure = result
                    if result.missing is None:
                        checked = await self._truncation.check(
                            self._endpoint, request.prompt, result
                        )
                    if isinstance(checked, Answer):
                        await self._accept(request, checked, reply)
                        return
                    self._delivered.remove(result)
                    if await self._answers_a_question():
                        self._delivery.failed(request, checked)
                        return
                    # The server became unreachable before the prompt could be counted again.
                    result = Trouble("again", checked.reason, checked.detail)
            finally:
                self._concurrency.release()
            if result.kind in {"stop", "parameter"}:
                refusals += await self._check.concerns_prompt(sent, monotonic())
                if refusals >= (1 if _is_about_text(result) else self._settings.tries):
                    await self._accept(request, _refusal(result), reply)
                    return
                # An outage was waited for by now, and does not count as silence.
                self._silent_since = monotonic()
                self._delivery.retried(result.reason)
                await asyncio.sleep(backoff(refusals))
                continue
            if await self._is_out_of_patience(result):
                self._delivery.failed(request, Failure(result.reason, result.detail))
                return
            if result.reason == "no_connection":
                # An unreachable server is not the fault of this prompt or of the number of
                # prompts, and trying it again is cheap.
                self._delivery.retried(result.reason)
                await asyncio.sleep(backoff(min(waits, _MOST_DOUBLINGS)))
                waits += 1
                continue
            self._concurrency.halve(sent, result.wait if result.kind == "throttled" else None)
            failures += 1.0 if result.kind == "again" else _COMPLAINT
            if await self._is_at_fault(failures, started):
                self._delivery.failed(request, Failure(result.reason, result.detail))
                return
            self._delivery.retried(result.reason)
            if result.kind == "again" or not result.wait:
                await asyncio.sleep(result.wait or backoff(waits))
                waits += 1

    async def _is_at_fault(self, failures: float, started: float) -> bool:
        """Return whether a prompt failed too often while the server answers others.

        If failing prompts occupy all slots, a plain question is asked in place of the others.
        """
        if failures < self._settings.tries:
            return False
        return self._last_answer > started or await self._answers_a_question()

    async def _answers_a_question(self) -> bool:
        reply = await self._endpoint.ask(QUESTION, self._question_parameters)
        return isinstance(reply.result, Answer)

    async def _accept(self, request: Request, answer: Answer, reply: Reply) -> None:
        self._last_answer = self._silent_since = monotonic()
        self._concurrency.grow()
        if reply.wait:
            self._concurrency.pause(reply.wait)
        await self._committer.commit((request, answer))
        self._count_refusals(answer)
        self._refuse_long_wait(reply.wait, "its quota is used up")

    def _count_refusals(self, answer: Answer) -> None:
        """Stop if the server refuses or cuts everything: further calls would be wasted."""
        if answer.missing not in {REJECTED, NOT_SERVED, TRUNCATED_BY_SERVER}:
            self._refusals_in_a_row = 0
            return
        self._refusals_in_a_row += 1
        if self._refusals_in_a_row < _MOST_REFUSALS:
            return
        if answer.missing == TRUNCATED_BY_SERVER:
            raise StudyError(
                f"The server cut the last {_MOST_REFUSALS} prompts (this one to "
                f"{answer.prompt_tokens} tokens). Give it a larger window (Ollama: num_ctx) and "
                "run the command again: cut prompts are asked again."
            )
        raise StudyError(
            f"The endpoint refused the last {_MOST_REFUSALS} prompts: {answer.text}. They are "
            "stored as missing; find out why before you continue."
        )

    async def _is_out_of_patience(self, trouble: Trouble) -> bool:
        """Return whether this prompt alone has got no answer for too long.

        Raises
        ------
        StudyError
            No prompt gets an answer, or the endpoint asks to wait too long.
        """
        self._refuse_long_wait(trouble.wait, trouble.detail)
        silent = monotonic() - self._silent_since
        if silent <= self._settings.patience:
            return False
        if trouble.reason != "no_connection" and await self._answers_a_question():
            self._last_answer = self._silent_since = monotonic()
            return True
        raise StudyError(
            f"No answer came for {silent:.0f} s ({trouble.detail}). All answers so far are stored; "
            "run the command again to resume, or wait longer with --patience.",
        )

    def _refuse_long_wait(self, wait: float | None, reason: str) -> None:
        """Stop the run if the endpoint asks to wait too long."""
        if wait is not None and wait > self._settings.patience:
            raise StudyError(
                f"The endpoint asks to wait {wait:.0f} s ({reason}). All answers so far are "
                "stored; run the command again later, or wait longer with --patience."
            )


def _is_about_text(trouble: Trouble) -> bool:
    """Return whether an error that only this prompt meets would come again.

    A firewall may forbid one text (403), and a complaint may quote the name of a parameter that
    was accepted before. Other errors may come from one of several servers behind an address.
    """
    return trouble.kind == "parameter" or trouble.reason == "http_403"


def _refusal(trouble: Trouble) -> Answer:
    missing = REJECTED if _is_about_text(trouble) else NOT_SERVED
    return Answer(trouble.detail, missing=missing)
