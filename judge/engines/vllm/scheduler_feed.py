"""Prompts through vLLM's scheduler: it is kept full, without holding all prompts in memory."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from typing import Any

from judge.engines.engine import Delivery
from judge.engines.vllm.engine_output import EngineOutput
from judge.engines.vllm.model_loader import LoadedModel
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.prompt_requests import (
    TOO_LONG_ANSWER,
    Ask,
    Completion,
    Decoding,
    PromptRequests,
    VLLMRequest,
    completion_of,
)
from judge.protocol.exchange import Answer, Request
from study.errors import StudyError

LOAD_FACTOR = 2
"""Prompts under way, as a multiple of those that the scheduler works on: it never runs empty."""
FEED_SECONDS = 0.03
"""Seconds for new prompts between two looks at the answers, unless the scheduler has too few."""
FIRST_SECONDS = 1.0
"""Seconds in which the first answer has the engine almost for itself: the others would slow each of
its steps."""
COMMIT_SECONDS = 1.0
"""Seconds after which answers are stored: a kill loses these and the prompts under way."""
RESUME = "All answers so far are stored; run the command again to resume."


@dataclass
class _Prompt:
    """A prompt under way; it may take several requests."""

    key: int
    ask: Ask
    tokens: int
    started: float
    open_requests: int
    new_tokens: int = 0
    results: dict[int, Completion] = field(default_factory=dict)
    """By the number of the request."""


class SchedulerFeed:
    """Accepts prompts while there is room, and returns answers as they come."""

    def __init__(self, name: str, model: LoadedModel, decoding: Decoding) -> None:
        facts = model.described.facts
        self._engine, self._output = model.engine, model.output
        self._prompts = PromptRequests(name, model.described, decoding)
        self.reuse = PrefixReuse(facts.block_size)
        self._most_requests = LOAD_FACTOR * facts.scheduled
        self._most_tokens = LOAD_FACTOR * facts.cache_tokens
        self._batch_tokens = LOAD_FACTOR * facts.batch_tokens
        self._numbers = count()
        self._requests: dict[str, tuple[_Prompt, int]] = {}
        """Request to its prompt, and its number among the requests of that prompt."""
        self._new_tokens = 0
        self._too_long: list[tuple[int, Answer]] = []
        self._alone_until: float | None = None
        """Until when, or until its answer, the first batch is without others."""

    @property
    def busy(self) -> bool:
        """Whether answers are to come."""
        return bool(self._requests or self._too_long)

    @property
    def has_room(self) -> bool:
        """Whether another prompt would not wait long."""
        return (
            len(self._requests) < self._most_requests and self._new_tokens < self._most_tokens
        ) or not self._requests

    @property
    def has_batch(self) -> bool:
        """Whether the scheduler has work for its next steps."""
        return self._new_tokens >= self._batch_tokens

    def add(self, key: int, ask: Ask) -> None:
        """Ask a prompt; `step` returns its answer with the key.

        Raises
        ------
        StudyError
            The engine has stopped.
        """
        requests = self._prompts.requests(ask)
        if not requests:
            self._too_long.append((key, TOO_LONG_ANSWER))
            return
        entry = _Prompt(key, ask, len(requests[0].tokens), monotonic(), len(requests))
        for number, request in enumerate(requests):
            self._request(entry, number, request)
        self._new_tokens += entry.new_tokens

    def fill(self, asks: Iterator[tuple[int, Ask]]) -> None:
        """Ask prompts while there is room, for a moment if the scheduler has work already."""
        now = monotonic()
        if self._alone_until is None:
            self._alone_until = now + FIRST_SECONDS
        until = now + FEED_SECONDS if now >= self._alone_until else now
        while self.has_room and (not self.has_batch or monotonic() < until):
            if (ask := next(asks, None)) is None:
                return
            self.add(*ask)

    def step(self) -> list[tuple[int, Answer]]:
        """Run one step of the scheduler; return the answers that are complete.

        Raises
        ------
        StudyError
            The engine has stopped.
        """
        answers, self._too_long = self._too_long, []
        if not self._requests:
            return answers
        with _engine_errors(self._output):
            outputs = self._engine.step()
        for output in outputs:
            if not output.finished:
                continue
            entry, number = self._requests.pop(output.request_id)
            self.reuse.cached_tokens += output.num_cached_tokens or 0
            entry.open_requests -= 1
            entry.results[number] = completion_of(output)
            if not entry.open_requests:
                self._new_tokens -= entry.new_tokens
                results = [entry.results[number] for number in sorted(entry.results)]
                taken = (monotonic() - entry.started) * 1000
                answer = self._prompts.answer(entry.ask, entry.tokens, results, taken)
                answers.append((entry.key, answer))
                self._alone_until = 0.0
        return answers

    def abort(self) -> None:
        """Give up what is under way."""
        if self._requests:
            # The engine may have stopped already.
            with suppress(Exception):
                self._engine.abort_request(list(self._requests))
            self._requests.clear()

    def _request(self, entry: _Prompt, number: int, request: VLLMRequest) -> None:
        name = str(next(self._numbers))
        entry.new_tokens += len(request.tokens) - self.reuse.add_prompt(request.tokens)
        self._requests[name] = (entry, number)
        # vLLM's `TokensInput`: without its type it would be rendered again, with a warning.
        prompt = {"type": "token", "prompt_token_ids": request.tokens}
        sampling = _sampling_parameters(request.sampling)
        with _engine_errors(self._output):
            self._engine.add_request(name, prompt, sampling)


def answer_all(feed: SchedulerFeed, requests: Iterable[Request], delivery: Delivery) -> PrefixReuse:
    """Answer requests in their order, delivering every second; return the token counts."""
    under_way: dict[int, Request] = {}
    answers: list[tuple[Request, Answer]] = []
    stored = -COMMIT_SECONDS

    def asks() -> Iterator[tuple[int, Ask]]:
        for number, request in enumerate(requests):
            under_way[number] = request
            yield number, Ask.of(request)

    stream = asks()
    try:
        while True:
            feed.fill(stream)
            if not feed.busy:
                break
            answers += [(under_way.pop(key), answer) for key, answer in feed.step()]
            if answers and monotonic() - stored > COMMIT_SECONDS:
                delivery.commit(answers)
                answers, stored = [], monotonic()
    finally:
        feed.abort()
        if answers:
            delivery.commit(answers)
    return feed.reuse.reset()


def _sampling_parameters(values: Mapping[str, Any]) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    values = dict(values)
    if form := values.pop("structured_outputs", None):
        values["structured_outputs"] = StructuredOutputsParams(**form)
    return SamplingParams(**values, output_kind=RequestOutputKind.FINAL_ONLY)


@contextmanager
def _engine_errors(output: EngineOutput) -> Iterator[None]:
    from vllm.v1.engine.exceptions import EngineDeadError

    try:
        yield
    except (RuntimeError, EngineDeadError) as error:
        raise StudyError(f"vLLM stopped: {output.failure(error)} {RESUME}") from error
