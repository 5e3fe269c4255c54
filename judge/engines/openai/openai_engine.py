"""The engine `openai`: prompts over HTTP, as many at once as the endpoint accepts."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from judge.engines.engine import Delivery, Ready
from judge.engines.engine_settings import OpenAISettings
from judge.engines.openai.api_key import ApiKey
from judge.engines.openai.budget import Budget
from judge.engines.openai.capabilities import CapabilityProbe
from judge.engines.openai.endpoint import Endpoint
from judge.engines.openai.endpoint_worker import EndpointWorker
from judge.engines.openai.prompt_queue import PromptQueue
from judge.engines.openai.request_headers import added_headers
from judge.engines.openai.request_parameters import Capabilities
from judge.prompts.template import PromptSet
from judge.protocol.conditions import Conditions, Run, name_of, with_shuffle
from judge.protocol.exchange import Request
from study.errors import StudyError
from study.study import Study

# Requests are prepared in another thread, so many at a time, while others are under way.
_PREPARED_AHEAD = 32

T = TypeVar("T")


class OpenAIEngine:
    """Asks an endpoint for chat completions."""

    settings = OpenAISettings

    def __init__(self, settings: OpenAISettings, study: Study, prompts: PromptSet) -> None:
        if settings.base_url is None:
            raise StudyError(
                "The engine openai needs the endpoint's address: "
                "--base-url http://localhost:8000/v1"
            )
        self._study = study
        self._settings = settings
        self._prompts = prompts
        self._url = settings.base_url
        self._key = ApiKey(settings.base_url, settings.api_key_env, settings.api_key_command)
        self._headers = added_headers(settings, self._key.redaction)
        self._budget = Budget(settings)
        self._capabilities: Capabilities | None = None
        self._sample: Sequence[str] = ()

    def start(self, sample: Sequence[str]) -> Ready:
        """Probe the endpoint; see `judge.engines.openai.capabilities`."""

        async def probe() -> Capabilities:
            async with self._endpoint(connections=1) as endpoint:
                probe = CapabilityProbe(endpoint, self._settings, self._prompts)
                result = await probe.run(sample, self._existing_run)
                ready = replace(result.ready, overhead=dict(endpoint.usage))
                return replace(result, ready=ready)

        self._sample = sample
        self._capabilities = run_coroutine(probe())
        return self._capabilities.ready

    def run(self, run: Run, requests: Iterable[Request], delivery: Delivery) -> tuple[str, ...]:
        """Ask every request; a slot is free when its judgment is committed."""
        del run
        assert self._capabilities is not None  # noqa: S101  (start comes first)
        run_coroutine(self._ask(self._capabilities, iter(requests), delivery))
        return ()

    def close(self) -> None:
        """Do nothing: sessions end with each call."""

    async def _ask(
        self, capabilities: Capabilities, requests: Iterator[Request], delivery: Delivery
    ) -> None:
        slots = self._settings.concurrency
        async with self._endpoint(slots) as endpoint:
            worker = EndpointWorker(endpoint, capabilities, self._settings, delivery, self._sample)
            try:
                await ask_all(worker, requests, slots)
            finally:
                delivery.add_overhead(worker.overhead)

    def _existing_run(self, conditions: Conditions) -> str | None:
        """Return the name of the run under these conditions, if there is one."""
        # The order of passages is a part of a run's identity.
        conditions = with_shuffle(conditions, self._settings.shuffle_passages)
        return name_of(self._study, conditions, self._prompts, self._settings.repeats)

    def _endpoint(self, connections: int) -> Endpoint:
        return Endpoint(
            self._url,
            key=self._key,
            budget=self._budget,
            headers=self._headers,
            system=self._prompts.system,
            timeout=self._settings.timeout,
            connections=connections,
        )


async def ask_all(worker: EndpointWorker, requests: Iterator[Request], slots: int) -> None:
    """Ask every request.

    A slot is occupied from before a request is sent until its judgment is on disk, so at most
    `slots` answers are ever at risk. A prompt that waits for a further try occupies none.

    Raises
    ------
    StudyError
        The endpoint cannot be asked any more, or refuses everything.
    """
    prepared = _prepared_ahead(requests)
    queue = PromptQueue(prepared)

    async def work() -> None:
        while True:
            was_idle = queue.is_idle
            prompt = await queue.next()
            if prompt is None:
                return
            if was_idle:
                worker.restart_silence()
            wait = await worker.ask(prompt)
            if wait is None:
                queue.finished()
            else:
                queue.again(prompt, wait)

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(slots):
                tasks.create_task(work())
    except BaseExceptionGroup as group:
        # Tasks fail together when one of them stops the run: the first error is the cause.
        errors = [error for error in group.exceptions if isinstance(error, StudyError)]
        raise (errors or group.exceptions)[0] from None
    finally:
        await prepared.aclose()
        await worker.finish()


async def _prepared_ahead(requests: Iterator[Request]) -> AsyncGenerator[Request]:
    """Yield requests that another thread prepares, so that the event loop is not blocked."""

    def prepare() -> list[Request]:
        return list(islice(requests, _PREPARED_AHEAD))

    upcoming = asyncio.create_task(asyncio.to_thread(prepare))
    try:
        while prepared := await upcoming:
            upcoming = asyncio.create_task(asyncio.to_thread(prepare))
            for request in prepared:
                yield request
    finally:
        upcoming.cancel()


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop runs already, as in notebooks.

    An interrupt cancels it and waits until it has ended.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    loop = asyncio.new_event_loop()
    task: asyncio.Task[T] = loop.create_task(work)

    def run() -> T:
        try:
            return loop.run_until_complete(task)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(run)
        try:
            return done.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(task.cancel)
            raise
