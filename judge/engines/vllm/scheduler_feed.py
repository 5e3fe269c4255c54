"""Prompts through vLLM's scheduler: it is kept full, without holding all prompts in memory."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from math import exp
from time import monotonic
from typing import Any, NamedTuple, Self

from judge.engines.engine import Delivery
from judge.engines.vllm.model_loader import LoadedModel
from judge.engines.vllm.prefix_reuse import PrefixReuse
from judge.engines.vllm.score_tokenization import Probabilities, Tokenization
from judge.prompts.answer_schema import AnswerSchema
from judge.protocol.exchange import TOO_LONG, Answer, Request
from study.errors import StudyError
from study.scales import RatingScale

LOAD_FACTOR = 2
"""Prompts under way, as a multiple of those that the scheduler works on: it never runs empty."""
COMMIT_SECONDS = 1.0
"""Seconds after which answers are stored: a kill loses these and the prompts under way."""


@dataclass(frozen=True)
class Decoding:
    """How an answer is generated."""

    temperature: float
    max_tokens: int
    seed: int | None
    structured: bool
    """Whether answers follow the schemas of their prompts."""


class Ask(NamedTuple):
    """What the model gets of a request."""

    prompt: str
    repeat: int
    max_tokens: int | None = None
    """Limit of this answer's tokens; None: that of the decoding."""
    schema: AnswerSchema | None = None
    """What the prompt requests; None: free text."""
    score_scale: RatingScale | None = None
    """Scale of the score with which the answer begins; None: it begins with something else."""

    @classmethod
    def of(cls, request: Request) -> Self:
        """Return this part of a request."""
        return cls(*(getattr(request, name) for name in cls._fields))


@dataclass
class _Prompt:
    """A prompt under way; it may take several requests."""

    key: int
    tokens: int
    started: float
    scores: Tokenization | None
    """How the model writes the scores with which the answer begins, if it does."""
    new_tokens: int = 0
    requests: int = 0
    output: Any = None
    continuations: dict[int, Probabilities] = field(default_factory=dict)


class SchedulerFeed:
    """Accepts prompts while there is room, and returns answers as they come."""

    def __init__(self, name: str, model: LoadedModel, decoding: Decoding) -> None:
        self._name = name
        self._model = model
        self._decoding = decoding
        self.reuse = PrefixReuse(model.facts.block_size)
        self._most_requests = LOAD_FACTOR * model.facts.scheduled
        self._most_tokens = LOAD_FACTOR * model.facts.cache_tokens
        self._numbers = count()
        self._requests: dict[str, tuple[_Prompt, int]] = {}
        """Request to its prompt and the number of its continuation (-1: the prompt itself)."""
        self._new_tokens = 0
        self._too_long: list[tuple[int, Answer]] = []
        self._sampling = lru_cache(maxsize=256)(self._sampling_parameters)

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

    def add(self, key: int, ask: Ask) -> None:
        """Ask a prompt; `step` returns its answer with the key.

        Raises
        ------
        StudyError
            The engine has stopped.
        """
        model, decoding = self._model, self._decoding
        tokens = model.layout.tokens(ask.prompt)
        limit = ask.max_tokens or decoding.max_tokens
        if len(tokens) + limit > model.facts.window:
            self._too_long.append((key, Answer(None, missing=TOO_LONG)))
            return
        scores = model.tokenizations.get(ask.score_scale) if ask.score_scale else None
        entry = _Prompt(key, len(tokens), monotonic(), scores)
        schema = ask.schema if decoding.structured else None
        sampling = self._sampling(ask.repeat, limit, ask.score_scale, schema)
        self._request(entry, -1, tokens, sampling)
        for number, start in enumerate(scores.continuations if scores else ()):
            if len(tokens) + len(start) < model.facts.window:
                sampling = self._sampling(ask.repeat, None, ask.score_scale, None)
                self._request(entry, number, [*tokens, *start], sampling)
        self._new_tokens += entry.new_tokens

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
        with _engine_errors():
            outputs = self._model.engine.step()
        for output in outputs:
            if not output.finished:
                continue
            entry, number = self._requests.pop(output.request_id)
            self.reuse.cached_tokens += output.num_cached_tokens or 0
            entry.requests -= 1
            if number < 0:
                entry.output = output
            else:
                entry.continuations[number] = _probabilities(output.outputs[0])
            if not entry.requests:
                self._new_tokens -= entry.new_tokens
                answers.append((entry.key, self._answer(entry)))
        return answers

    def abort(self) -> None:
        """Give up what is under way."""
        if self._requests:
            # The engine may have stopped already.
            with suppress(Exception):
                self._model.engine.abort_request(list(self._requests))
            self._requests.clear()

    def _request(self, entry: _Prompt, number: int, tokens: list[int], sampling: Any) -> None:
        name = str(next(self._numbers))
        entry.new_tokens += len(tokens) - self.reuse.add_prompt(tokens)
        entry.requests += 1
        self._requests[name] = (entry, number)
        with _engine_errors():
            self._model.engine.add_request(name, {"prompt_token_ids": tokens}, sampling)

    def _sampling_parameters(
        self,
        repeat: int,
        max_tokens: int | None,
        scale: RatingScale | None,
        schema: AnswerSchema | None,
    ) -> Any:
        scores = self._model.tokenizations.get(scale) if scale else None
        return sampling_parameters(self._decoding, repeat, max_tokens, scores, schema)

    def _answer(self, entry: _Prompt) -> Answer:
        completion, scores = entry.output.outputs[0], entry.scores
        distribution = None
        if scores and completion.logprobs and len(entry.continuations) == len(scores.continuations):
            further = [entry.continuations[number] for number in range(len(scores.continuations))]
            first = _probabilities(completion)
            distribution = scores.distribution(completion.token_ids, first, further)
        return Answer(
            completion.text,
            finish_reason=completion.finish_reason,
            served_model=self._name,
            fingerprint=self._model.facts.fingerprint,
            prompt_tokens=entry.tokens,
            completion_tokens=len(completion.token_ids),
            cached_tokens=entry.output.num_cached_tokens,
            milliseconds=(monotonic() - entry.started) * 1000,
            distribution=distribution,
        )


def sampling_parameters(
    decoding: Decoding,
    repeat: int,
    max_tokens: int | None,
    scores: Tokenization | None,
    schema: AnswerSchema | None,
) -> Any:
    """Return vLLM's parameters of an answer; without a limit, of one token of a continuation.

    Parameters
    ----------
    decoding, repeat, max_tokens
        The conditions of the run; the number of the repeat, and the answer's limit.
    scores
        The tokens of scores whose probabilities are read; None: none are.
    schema
        What the answer has to follow; None: it is free.
    """
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    one_token = max_tokens is None
    structured = None
    if schema is not None:
        choices = list(schema.choices)
        form = {"choice": choices} if choices else {"json": schema.text}
        structured = StructuredOutputsParams(**form)
    return SamplingParams(
        temperature=0.0 if one_token else decoding.temperature,
        max_tokens=max_tokens or 1,
        # The same seed would only repeat the answer.
        seed=None if decoding.seed is None else decoding.seed + repeat,
        logprob_token_ids=scores.tokens if scores else None,
        structured_outputs=structured,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def answer_all(feed: SchedulerFeed, requests: Iterable[Request], delivery: Delivery) -> PrefixReuse:
    """Answer requests in their order, delivering every second; return the token counts."""
    stream, numbers = iter(requests), count()
    under_way: dict[int, Request] = {}
    answers: list[tuple[Request, Answer]] = []
    stored = monotonic()
    try:
        while True:
            while feed.has_room and (request := next(stream, None)) is not None:
                number = next(numbers)
                under_way[number] = request
                feed.add(number, Ask.of(request))
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


def _probabilities(completion: Any) -> Probabilities:
    """Return the probabilities at a completion's first token."""
    logprobs: Mapping[int, Any] = completion.logprobs[0] if completion.logprobs else {}
    return {token: exp(entry.logprob) for token, entry in logprobs.items()}


@contextmanager
def _engine_errors() -> Iterator[None]:
    from vllm.v1.engine.exceptions import EngineDeadError

    try:
        yield
    except (RuntimeError, EngineDeadError) as error:
        message = str(error).strip() or type(error).__name__
        raise StudyError(
            f"vLLM stopped: {message} All answers so far are stored; run the command again to "
            "resume."
        ) from error
