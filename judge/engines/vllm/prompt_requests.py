"""The requests to vLLM that a prompt takes, and the answer that their results make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any, NamedTuple, Self

from judge.engines.vllm.model_loader import DescribedModel
from judge.engines.vllm.score_tokenization import Probabilities, Tokenization
from judge.prompts.answer_schema import AnswerSchema
from judge.protocol.exchange import TOO_LONG, Answer, Request
from study.base.scales import Scale

TOO_LONG_ANSWER = Answer(None, missing=TOO_LONG)


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
    score_scale: Scale | None = None
    """Scale of the score with which the answer begins; None: it begins with something else."""

    @classmethod
    def of(cls, request: Request) -> Self:
        """Return this part of a request."""
        return cls(*(getattr(request, name) for name in cls._fields))


@dataclass(frozen=True, slots=True)
class VLLMRequest:
    """One request to vLLM."""

    tokens: list[int]
    sampling: Mapping[str, Any]
    """Parameters of vLLM's `SamplingParams`; those of `structured_outputs` as a mapping."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of one request."""

    tokens: Sequence[int]
    finish_reason: str | None
    cached_tokens: int | None
    first: Probabilities
    """Probabilities at its first token."""

    @property
    def written(self) -> Sequence[int]:
        """Its tokens without the one that ended it."""
        return self.tokens[:-1] if self.finish_reason == "stop" else self.tokens


@dataclass(frozen=True)
class PromptRequests:
    """Makes the requests of prompts to one model, and reads their answers."""

    name: str
    """Of the model."""
    model: DescribedModel
    decoding: Decoding

    def requests(self, ask: Ask) -> list[VLLMRequest]:
        """Return the request of a prompt and those of its continuations; none if it is too long."""
        tokens = self.model.layout.tokens(ask.prompt)
        limit = ask.max_tokens or self.decoding.max_tokens
        if len(tokens) + limit > self.model.facts.window:
            return []
        requests = [VLLMRequest(tokens, self._sampling(ask, limit))]
        scores = self._scores(ask)
        for start in scores.continuations if scores else ():
            if len(tokens) + len(start) < self.model.facts.window:
                requests.append(VLLMRequest([*tokens, *start], self._sampling(ask, None)))
        return requests

    def answer(
        self, ask: Ask, prompt_tokens: int, results: Sequence[Completion], milliseconds: float
    ) -> Answer:
        """Return the answer from the results of a prompt's requests, in their order."""
        completion, *further = results
        scores, distribution = self._scores(ask), None
        if scores and completion.first and len(further) == len(scores.continuations):
            after = [result.first for result in further]
            distribution = scores.distribution(completion.tokens, completion.first, after)
        return Answer(
            self.model.layout.answer_text(completion.written),
            finish_reason=completion.finish_reason,
            served_model=self.name,
            fingerprint=self.model.facts.fingerprint,
            prompt_tokens=prompt_tokens,
            completion_tokens=len(completion.tokens),
            cached_tokens=completion.cached_tokens,
            milliseconds=milliseconds,
            distribution=distribution,
        )

    def _scores(self, ask: Ask) -> Tokenization | None:
        return self.model.tokenizations.get(ask.score_scale) if ask.score_scale else None

    def _sampling(self, ask: Ask, max_tokens: int | None) -> dict[str, Any]:
        """Return the parameters of an answer; without a limit, of one token of a continuation."""
        decoding, scores = self.decoding, self._scores(ask)
        one_token = max_tokens is None
        sampling: dict[str, Any] = {
            "temperature": 0.0 if one_token else decoding.temperature,
            "max_tokens": max_tokens or 1,
            # The same seed would only repeat the answer.
            "seed": None if decoding.seed is None else decoding.seed + ask.repeat,
            "logprob_token_ids": scores.tokens if scores else None,
            # Of all log-probabilities only those of the first token are read, and the text is
            # decoded once: vLLM's own objects of each take ten times the rest of the time.
            "flat_logprobs": True,
            "detokenize": False,
        }
        if decoding.structured and ask.schema is not None and not one_token:
            choices = list(ask.schema.choices)
            sampling["structured_outputs"] = (
                {"choice": choices} if choices else {"json": ask.schema.text}
            )
        return sampling


def completion_of(output: Any) -> Completion:
    """Return the result of a request from vLLM's `RequestOutput`."""
    completion = output.outputs[0]
    logprobs: Mapping[int, Any] = completion.logprobs[0] if completion.logprobs else {}
    return Completion(
        completion.token_ids,
        completion.finish_reason,
        output.num_cached_tokens,
        {token: exp(entry.logprob) for token, entry in logprobs.items()},
    )
