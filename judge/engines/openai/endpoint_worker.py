"""Asks the prompts of a run, each until there is an answer, or until it is given up."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from judge.engines.engine import Delivery
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.capabilities import QUESTION
from judge.engines.openai.concurrency_limit import ConcurrencyLimit
from judge.engines.openai.endpoint import Endpoint, Reply, UsageCounter, backoff
from judge.engines.openai.prompt_queue import OpenPrompt
from judge.engines.openai.request_parameters import Capabilities
from judge.engines.openai.server_check import ServerCheck, no_answer
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

# After so many cut prompts in a row, or refused ones before any answer, the server is suspected.
_MOST_REFUSALS = 20
# A complaint (429, 503) counts as this part of a failure where other prompts can have used up the
# quota, and as the second where none can.
_COMPLAINT, _LONE_COMPLAINT = 0.1, 0.5
# Waits for a server that cannot be reached, or complains, double so many times. Together, those
# after the complaints that make a failure last longer than the minute of a quota.
_MOST_DOUBLINGS, _MOST_DOUBLINGS_OF_COMPLAINTS = 3, 5
# Failures that a prompt meets again later, as it is; after others the next call may succeed.
_LASTING = frozenset(
    {
        *("http_429", "http_501", "http_505", "no_json", "no_choice", "event_stream"),
        *("too_large", "broken_off"),
    }
)

_REFUSED = frozenset({REJECTED, NOT_SERVED})

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
        sample: Sequence[str] = (),
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._capabilities = capabilities
        self._question_parameters = capabilities.question_parameters
        self._delivery = delivery
        self._committer = Committer(delivery.commit)
        self._concurrency = ConcurrencyLimit(settings.concurrency)
        self._check = ServerCheck(endpoint, self._question_parameters, patience=settings.patience)
        self._truncation = TruncationCheck(capabilities.ready.tokens, self._question_parameters)
        self._last_answer = monotonic()
        self._silent_since = monotonic()
        self._refusals_in_a_row = 0
        self._sample = sample
        self._refuses_all = True
        """Whether no prompt has been answered so far."""
        self._asking_others = asyncio.Lock()
        self._pauses_help = True
        """Whether prompts are accepted after the wait that the server asks for."""
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

    async def ask(self, prompt: OpenPrompt) -> float | None:
        """Try a prompt once; return the seconds before a further try.

        Returns
        -------
        float or None
            None: its answer is on disk, or it is given up.

        Raises
        ------
        StudyError
            The endpoint cannot be asked any more, or refuses or cuts everything.
        """
        request = prompt.request
        parameters = self._capabilities.parameters_of(request)
        scores = self._capabilities.scores_of(request)
        while True:
            sent = await self._concurrency.acquire()
            is_alone = self._concurrency.under_way == 1
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
                        self._pauses_help |= prompt.complained_at > float("-inf")
                        await self._accept(request, checked, reply)
                        return None
                    self._delivered.remove(result)
                    if await self._answers_a_question():
                        self._delivery.failed(request, checked)
                        return None
                    # The server became unreachable before the prompt could be counted again.
                    result = Trouble("again", checked.reason, checked.detail)
            finally:
                self._concurrency.release()
            is_refusal = result.kind in {"stop", "parameter"}
            if not is_refusal and await self._is_out_of_patience(result):
                await self._give_up(request, result, reply)
                return None
            if result.reason != "no_connection":
                break
            # An unreachable server is not the fault of this prompt or of the number of prompts,
            # and trying it again is cheap.
            self._delivery.retried(result.reason)
            await asyncio.sleep(backoff(min(prompt.waits, _MOST_DOUBLINGS)))
            prompt.waits += 1
        if await self._is_at_fault(prompt, result, sent, is_alone=is_alone):
            await self._give_up(request, result, reply)
            return None
        self._delivery.retried(result.reason)
        waits = prompt.waits
        prompt.waits += 1
        if result.kind == "throttled":
            return max(result.wait or 0.0, backoff(min(waits, _MOST_DOUBLINGS_OF_COMPLAINTS)))
        return result.wait or backoff(waits)

    async def _is_at_fault(
        self, prompt: OpenPrompt, trouble: Trouble, sent: float, *, is_alone: bool
    ) -> bool:
        """Return whether a prompt has failed too often while the server answers others."""
        if trouble.kind in {"stop", "parameter"}:
            prompt.refusals += await self._concerns_prompt(sent)
            return prompt.refusals >= (1 if _is_about_text(trouble) else self._settings.tries)
        self._concurrency.halve(sent)
        if trouble.kind == "throttled":
            prompt.failures += await self._complaint(prompt, trouble, sent, is_alone=is_alone)
        else:
            prompt.failures += self._last_answer > sent or await self._concerns_prompt(sent)
        return prompt.failures >= self._settings.tries

    async def _concerns_prompt(self, sent: float) -> bool:
        """Return whether a plain question is answered at once; wait until it is."""
        concerns = await self._check.concerns_prompt(sent, monotonic())
        if not concerns:
            # An outage was waited for by now, and does not count as silence.
            self._silent_since = monotonic()
        return concerns

    async def _complaint(
        self, prompt: OpenPrompt, trouble: Trouble, sent: float, *, is_alone: bool
    ) -> float:
        """Return the part of a failure that a complaint about a prompt is.

        All wait as long as the server asks, until such a wait proves to be in vain: the prompt
        meets the complaint again although others are answered.
        """
        before, prompt.complained_at = prompt.complained_at, monotonic()
        is_first = before == float("-inf")
        if is_first and trouble.wait and self._pauses_help:
            self._concurrency.pause(trouble.wait)
            return _COMPLAINT
        others_answered = self._last_answer > (sent if is_first else before)
        if not others_answered:
            if not await self._concerns_prompt(sent):
                return 0.0
            # Each prompt is refused for now: they come at a slower pace.
            self._concurrency.pause(backoff(0))
        if not is_first:
            self._pauses_help = False
        return _COMPLAINT if is_first or (others_answered and not is_alone) else _LONE_COMPLAINT

    async def _give_up(self, request: Request, trouble: Trouble, reply: Reply) -> None:
        """Store why a prompt has no answer, or leave it for the next call if it may get one."""
        if trouble.kind in {"stop", "parameter"} or trouble.reason in _LASTING:
            await self._accept(request, _refusal(trouble), reply)
        else:
            self._delivery.failed(request, Failure(trouble.reason, trouble.detail))

    async def _answers_a_question(self) -> bool:
        reply = await self._endpoint.ask(QUESTION, self._question_parameters)
        return isinstance(reply.result, Answer)

    async def _accept(self, request: Request, answer: Answer, reply: Reply) -> None:
        self._silent_since = monotonic()
        if answer.missing not in _REFUSED:
            self._last_answer = self._silent_since
            self._concurrency.grow()
            if reply.wait:
                self._concurrency.pause(reply.wait)
        await self._committer.commit((request, answer))
        await self._check_refusals(answer)
        if answer.missing not in _REFUSED:
            self._refuse_long_wait(reply.wait, "its quota is used up")

    async def _check_refusals(self, answer: Answer) -> None:
        """Stop if the server cuts everything, or refuses everything: calls would be wasted.

        Refused prompts may come in a row, so others of the study are asked as well.
        """
        if answer.missing not in {*_REFUSED, TRUNCATED_BY_SERVER}:
            self._refusals_in_a_row = 0
            self._refuses_all = False
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
        async with self._asking_others:
            if not self._refuses_all:
                return
            for prompt in self._sample:
                reply = await self._endpoint.ask(prompt, self._question_parameters)
                if isinstance(reply.result, Answer) and reply.result.missing not in _REFUSED:
                    self._refuses_all = False
                    return
        raise StudyError(
            f"The endpoint refused the last {_MOST_REFUSALS} prompts, and {len(self._sample)} "
            f"others from all of the study: {(answer.text or '').rstrip('.')}. They are stored as "
            "missing: find out why, then ask them again with --retry-unparsed."
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
        raise no_answer(silent, trouble)

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
