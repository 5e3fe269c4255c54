"""What is sent with each prompt, by the findings of the start-up probe."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.engines.engine import Ready
from judge.engines.openai.logprob_support import LogprobRequest
from judge.engines.openai.response_format import TOKENS as SCHEMA_TOKENS
from judge.prompts.answer_schema import AnswerSchema
from judge.protocol.exchange import Request, answer_format
from judge.protocol.logprob_distribution import ScoreTokens


@dataclass(frozen=True)
class Capabilities:
    """What an endpoint accepts."""

    ready: Ready
    parameters: dict[str, Any]
    """Sent with each prompt."""
    limit_name: str
    """The parameter that limits the tokens of an answer."""
    logprobs: LogprobRequest | None = None
    """How probabilities of scores are requested; None: they are not."""
    enforced: Sequence[AnswerSchema] = ()
    """The schemas of the prompts, or examples of them, if answers follow schemas here."""

    @property
    def question_parameters(self) -> dict[str, Any]:
        """The parameters of a plain question that tells whether prompts would be answered."""
        further: dict[str, Any] = dict(self.logprobs.parameters) if self.logprobs else {}
        if self.enforced:
            further |= self._schema_parameters(self.enforced[0], self.parameters[self.limit_name])
        return {**self.parameters, **further}

    def parameters_of(self, request: Request) -> dict[str, Any]:
        """Return the parameters that are sent with a prompt."""
        sent = dict(self.parameters)
        if request.repeat and "seed" in sent:
            # The same seed would only repeat the answer.
            sent["seed"] += request.repeat
        decoding = self.ready.conditions.decoding or {}
        if request.max_tokens is not None:
            sent[self.limit_name] = request.max_tokens + int(decoding["reasoning_tokens"])
        if self.logprobs is not None and request.score_scale is not None:
            sent |= self.logprobs.parameters
        if self.enforced and request.schema is not None:
            sent |= self._schema_parameters(request.schema, sent[self.limit_name])
        return sent

    def scores_of(self, request: Request) -> ScoreTokens | None:
        """Return which tokens of an answer are scores; None if no probabilities are requested."""
        if self.logprobs is None or request.score_scale is None:
            return None
        return replace(self.logprobs.tokens, scale=request.score_scale)

    def _schema_parameters(self, schema: AnswerSchema, limit: int) -> dict[str, Any]:
        return {**answer_format(schema), self.limit_name: limit + SCHEMA_TOKENS}
