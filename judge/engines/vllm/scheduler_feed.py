"""Prompts through vLLM's scheduler: kept full, and never all of them at once."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from math import exp
from time import monotonic
from typing import Any

from judge.engines.engine import Delivery
from judge.engines.vllm.model_loader import Loaded
from judge.engines.vllm.prefix_reuse import Reuse
from judge.engines.vllm.score_tokenization import Shares
from judge.protocol.exchange import TOO_LONG, Answer, Request
from study.errors import StudyError

# As much as the scheduler works on waits beside that: it never runs dry.
WAITING = 2
COMMITTED_EVERY = 1.0
"""Seconds after which answers are stored: a kill costs no more than these and what is under way."""
_NUMBER = r"(?:100|[1-9]?[0-9])"


@dataclass(frozen=True)
class Decoding:
    """How an answer is made."""

    temperature: float
    max_tokens: int
    seed: int | None
    structured: bool


@dataclass
class _Asked:
    """A prompt under way, with the requests that are made of it."""

    key: int
    tokens: int
    begun: float
    new_tokens: int = 0
    waiting: int = 0
    output: Any = None
    further: dict[int, Shares] = field(default_factory=dict)


class Streaming:
    """Takes prompts while there is room, and gives answers back as they come."""

    def __init__(self, model: str, loaded: Loaded, decoding: Decoding) -> None:
        self._model = model
        self._loaded = loaded
        self._decoding = decoding
        facts = loaded.facts
        self.reuse = Reuse(facts.block_size)
        self._most_requests = WAITING * facts.at_once
        self._most_tokens = WAITING * facts.cache_tokens
        self._names = count()
        self._requests: dict[str, tuple[_Asked, int]] = {}
        """By the name of a request: its prompt, and which continuation it is (-1: none)."""
        self._new_tokens = 0
        self._too_long: list[tuple[int, Answer]] = []
        self._sampling = lru_cache(maxsize=256)(self._made_sampling)

    @property
    def busy(self) -> bool:
        """Whether an answer is to be waited for."""
        return bool(self._requests or self._too_long)

    @property
    def has_room(self) -> bool:
        """Whether another prompt would not have to wait for long."""
        return (
            len(self._requests) < self._most_requests and self._new_tokens < self._most_tokens
        ) or not self._requests

    def add(self, key: int, prompt: str, repeat: int, max_tokens: int | None = None) -> None:
        """Ask a prompt; its answer will bear the key.

        `max_tokens` is the limit of this answer; None: that of the decoding.

        Raises
        ------
        StudyError
            The engine has stopped.
        """
        loaded, decoding = self._loaded, self._decoding
        tokens = loaded.layout.tokens(prompt)
        limit = max_tokens or decoding.max_tokens
        if len(tokens) + limit > loaded.facts.window:
            self._too_long.append((key, Answer(None, missing=TOO_LONG)))
            return
        asked = _Asked(key, len(tokens), monotonic())
        self._request(asked, -1, tokens, self._sampling(repeat, limit))
        scores = loaded.score_tokens
        for number, start in enumerate(scores.continuations if scores else ()):
            if len(tokens) + len(start) < loaded.facts.window:
                more = self._sampling(repeat, None)
                self._request(asked, number, [*tokens, *start], more)
        self._new_tokens += asked.new_tokens

    def step(self) -> list[tuple[int, Answer]]:
        """Go on by one step of the scheduler; return what was answered.

        Raises
        ------
        StudyError
            The engine has stopped.
        """
        found, self._too_long = self._too_long, []
        if not self._requests:
            return found
        with _explained():
            outputs = self._loaded.engine.step()
        for output in outputs:
            if output.finished:
                asked, which = self._requests.pop(output.request_id)
                self.reuse.answered(output.num_cached_tokens)
                asked.waiting -= 1
                if which < 0:
                    asked.output = output
                else:
                    asked.further[which] = _shares(output.outputs[0])
                if not asked.waiting:
                    self._new_tokens -= asked.new_tokens
                    found.append((asked.key, self._answer(asked)))
        return found

    def abort(self) -> None:
        """Give up what is under way."""
        if self._requests:
            # An engine that is gone has nothing to give up.
            with suppress(Exception):
                self._loaded.engine.abort_request(list(self._requests))
            self._requests.clear()

    def _request(self, asked: _Asked, which: int, tokens: list[int], sampling: Any) -> None:
        name = str(next(self._names))
        asked.new_tokens += len(tokens) - self.reuse.asked(tokens)
        asked.waiting += 1
        self._requests[name] = (asked, which)
        with _explained():
            self._loaded.engine.add_request(name, {"prompt_token_ids": tokens}, sampling)

    def _made_sampling(self, repeat: int, max_tokens: int | None) -> Any:
        """Return the parameters of an answer; without a limit, of one token of a continuation."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        decoding, scores = self._decoding, self._loaded.score_tokens
        one_token = max_tokens is None
        structured = decoding.structured and not one_token
        return SamplingParams(
            temperature=0.0 if one_token else decoding.temperature,
            max_tokens=max_tokens or 1,
            # Repeats with one seed would only repeat the answer.
            seed=None if decoding.seed is None else decoding.seed + repeat,
            logprob_token_ids=scores.tokens if scores else None,
            structured_outputs=StructuredOutputsParams(regex=_NUMBER) if structured else None,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )

    def _answer(self, asked: _Asked) -> Answer:
        output, scores = asked.output, self._loaded.score_tokens
        said = output.outputs[0]
        distribution = None
        if scores and said.logprobs and len(asked.further) == len(scores.continuations):
            further = [asked.further[number] for number in range(len(scores.continuations))]
            distribution = scores.distribution(said.token_ids, _shares(said), further)
        return Answer(
            said.text,
            finish_reason=said.finish_reason,
            served_model=self._model,
            fingerprint=self._loaded.facts.fingerprint,
            prompt_tokens=asked.tokens,
            completion_tokens=len(said.token_ids),
            cached_tokens=output.num_cached_tokens,
            milliseconds=(monotonic() - asked.begun) * 1000,
            distribution=distribution,
        )


def answer_all(streaming: Streaming, requests: Iterable[Request], delivery: Delivery) -> Reuse:
    """Answer requests in their order; hand over answers every second. Return what was counted."""
    stream, numbers = iter(requests), count()
    under_way: dict[int, Request] = {}
    done: list[tuple[Request, Answer]] = []
    stored = monotonic()
    try:
        while True:
            while streaming.has_room and (request := next(stream, None)) is not None:
                number = next(numbers)
                under_way[number] = request
                streaming.add(number, request.prompt, request.repeat, request.max_tokens)
            if not streaming.busy:
                break
            done += [(under_way.pop(key), answer) for key, answer in streaming.step()]
            if done and monotonic() - stored > COMMITTED_EVERY:
                delivery.commit(done)
                done, stored = [], monotonic()
    finally:
        streaming.abort()
        if done:
            delivery.commit(done)
    return streaming.reuse.taken()


def _shares(said: Any) -> Shares:
    """Return the probabilities at an answer's first token."""
    told: Mapping[int, Any] = said.logprobs[0] if said.logprobs else {}
    return {token: exp(one.logprob) for token, one in told.items()}


@contextmanager
def _explained() -> Iterator[None]:
    from vllm.v1.engine.exceptions import EngineDeadError

    try:
        yield
    except (RuntimeError, EngineDeadError) as error:
        said = str(error).strip() or type(error).__name__
        raise StudyError(
            f"vLLM stopped: {said} What was judged is kept; run the command again to go on."
        ) from error
