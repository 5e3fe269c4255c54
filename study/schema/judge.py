"""Tables of the judge: runs, calls, answers on items, their readings, and answers to steps."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import model_validator
from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKeyConstraint,
    Text as LongText,
    UniqueConstraint,
)
from sqlmodel import Field

from study.schema.base import Noun, UTCDateTime, now
from study.types import Attributes, Key, Text

PROMPT_NOT_WHOLE = ("truncated_by_server", "too_long", "not_served")
"""Reasons of judgments whose prompt never reached the model, or not whole: they are asked again,
and any other attempt is the score before them."""

CONTROL_TOKENS = "control_tokens"
"""Flag of a judgment whose judged text contains possible control tokens of a chat template."""
SUSPECTED = "suspected_injection"
"""Flag of a judgment whose judged text contains a possible instruction to the judge."""


class JudgeRunBase(Noun):
    """One configuration of a judge; another configuration is another run."""

    name: Key = Field(unique=True)
    engine: Key
    endpoint: Text | None = None
    """Address of the server, without credentials; null for an engine that has none."""
    model: Key
    model_revision: Text | None = None
    """Revision that was asked for; null where the engine takes none."""
    prompt_version: Key
    prompt_hash: Text
    decoding: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    """Parameters sent with the prompt, and those of them that the server refused or ignored."""
    seed: int | None = None
    repeats: int = Field(default=1, ge=1)
    """How often each prompt is asked."""
    identity: Text | None = Field(default=None, unique=True, index=True)
    """Digest of all settings that distinguish this run from others."""
    observed: Attributes = Field(default_factory=dict, sa_type=JSON)
    """What the start-up probe found that is not part of the identity."""
    software: dict[str, str] = Field(default_factory=dict, sa_type=JSON)


class JudgeRun(JudgeRunBase, table=True):
    __tablename__ = "judge_run"

    id: int | None = Field(default=None, primary_key=True)
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


DRIFT = "drift"
"""Kind, and probe, of prompts of a run that are asked again before and after each call."""

Fault = Literal["rise", "fall", "either"]
"""Which shift of a score is a fault of the judge; the other may be justified."""


class JudgeAnswerBase(Noun):
    """One answer of a judge on one construct of one item.

    An item is a response (its answer is a judgment), a response with one change or asked again (a
    probe, a round of drift), or two responses to a query in the order in which they were shown (a
    pair: 1 where the second is better, -1 where the first is, 0 for a tie).
    """

    construct_key: Key
    construct_version: int = Field(default=1, ge=1)
    repeat: int = Field(default=0, ge=0)
    attempt: int = Field(default=1, ge=1)
    """The first attempt at the whole prompt is the score; others are kept in addition."""
    item: str = ""
    """What distinguishes the item from others with the response: empty for the response itself,
    else the probe, the round of drift, or the response beside it."""
    kind: Key | None = None
    """Family of the probe: injection, length, ..., or `drift`; null: not a probe."""
    probe: Key | None = None
    round: int = Field(default=0, ge=0)
    """0; for drift the number of the round."""
    fault: Fault | None = Field(default=None, sa_type=LongText)
    change: dict[str, Any] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """What a probe changed in the response or its passages; with them it makes the prompt again."""
    prompt_hash: Text | None = None
    """Of probes and pairs: SHA-256 (hexadecimal) of the very prompt; of a metric in steps, of its
    prompts' hashes."""
    value: float | None = None
    missing_reason: Key | None = None
    rule: Key | None = None
    """How the value was found in the answer, or that it needed none; null when missing."""
    parser_version: Key | None = None
    raw_answer: Text | None = Field(default=None, sa_type=LongText)
    reasoning: Text | None = Field(default=None, sa_type=LongText)
    """What the server returned as the model's reasoning, apart from the answer."""
    finish_reason: Text | None = None
    """Why the answer ended, as reported by the server."""
    served_model: Text | None = None
    """Model that the server reports."""
    fingerprint: Text | None = None
    """The server's own name for its configuration at that moment."""
    flags: list[Key] = Field(default_factory=list, sa_type=JSON)
    """What a reader of the score should know, such as control tokens in the judged text."""
    distribution: dict[str, float] | None = Field(default=None, sa_type=JSON)
    """Probability by point of the scale, where the engine gives it."""
    parts: dict[str, float] | None = Field(default=None, sa_type=JSON)
    """What the metric made the value of, such as the number of statements."""
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    reasoning_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(default=None, ge=0)
    milliseconds: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _a_value_or_a_reason(self) -> Self:
        if (self.value is None) == (self.missing_reason is None):
            raise ValueError("an answer has either a value or a missing_reason")
        return self


class JudgeAnswer(JudgeAnswerBase, table=True):
    __tablename__ = "judge_answer"
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        CheckConstraint("(value IS NULL) = (missing_reason IS NOT NULL)", name="value_or_reason"),
        UniqueConstraint(
            # In the order in which judgments are read.
            "run_id",
            "item",
            "response_id",
            "construct_key",
            "construct_version",
            "repeat",
            "attempt",
            # Named: PostgreSQL cuts names at 63 characters.
            name="uq_judge_answer_once",
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="judge_run.id")
    response_id: int = Field(foreign_key="response.id", index=True)
    second_response_id: int | None = Field(default=None, foreign_key="response.id")
    """Of a pair: the response that was shown second."""
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class StepAnswerBase(Noun):
    """The answer to one prompt of a metric that asks in steps.

    A metric is evaluated by sending it its stored answers, so that an interrupted evaluation
    resumes exactly. Equal prompts of a query are asked once: the hash identifies them.
    """

    metric: Key
    step: Key
    number: int = Field(ge=0)
    """Place of the prompt in the list that the step asked."""
    repeat: int = Field(default=0, ge=0)
    attempt: int = Field(default=1, ge=1)
    prompt_hash: Text
    """SHA-256 (hexadecimal) of the prompt."""
    probe: str = ""
    """The probe for which it was asked; empty: for the run itself."""
    round: int = Field(default=0, ge=0)
    """0; for drift the number of the round."""
    raw_answer: Text | None = Field(default=None, sa_type=LongText)
    reasoning: Text | None = Field(default=None, sa_type=LongText)
    """What the server returned as the model's reasoning, apart from the answer."""
    missing_reason: Key | None = None
    """Why the answer can't be used (server error, context window); null if it can."""
    finish_reason: Text | None = None
    served_model: Text | None = None
    fingerprint: Text | None = None
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    reasoning_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(default=None, ge=0)
    milliseconds: float | None = Field(default=None, ge=0)


class StepAnswer(StepAnswerBase, table=True):
    __tablename__ = "step_answer"
    __table_args__ = (
        UniqueConstraint(
            "run_id",
            "response_id",
            "probe",
            "round",
            "prompt_hash",
            "repeat",
            "attempt",
            name="uq_step_answer_once",
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="judge_run.id")
    response_id: int = Field(foreign_key="response.id", index=True)
    """The response for which the prompt was asked; others with the prompt share the answer."""
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class ReadingBase(Noun):
    """A judgment's answers read again by a later parser or metric; the last revision counts."""

    revision: int = Field(ge=1)
    parser_version: Key
    value: float | None = None
    missing_reason: Key | None = None
    rule: Key | None = None
    parts: dict[str, float] | None = Field(default=None, sa_type=JSON)
    """What the metric made the value of, such as the number of statements."""

    @model_validator(mode="after")
    def _a_value_or_a_reason(self) -> Self:
        if (self.value is None) == (self.missing_reason is None):
            raise ValueError("a reading has either a value or a missing_reason")
        return self


class Reading(ReadingBase, table=True):
    __table_args__ = (
        UniqueConstraint("judgment_id", "revision"),
        CheckConstraint("(value IS NULL) = (missing_reason IS NOT NULL)", name="value_or_reason"),
    )

    id: int | None = Field(default=None, primary_key=True)
    judgment_id: int = Field(foreign_key="judge_answer.id")
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


CallKind = Literal["run", "estimate", "probe", "pairs"]


class JudgeCallBase(Noun):
    """A call that worked on a run: what was to be done, stored before anything was asked."""

    kind: CallKind = Field(default="run", sa_type=LongText)
    """A part of the run, a sample to estimate it from, probes of it, or pairs of responses."""
    planned: int = Field(ge=0)
    """Prompts to ask in this call."""
    concurrency: int | None = Field(default=None, ge=1)
    """Most prompts under way at once; null for an engine that decides itself."""
    prices: dict[str, float] | None = Field(default=None, sa_type=JSON)
    """Of a million tokens: prompt, completion and, where one was given, cached; null: none."""
    software: dict[str, str] = Field(default_factory=dict, sa_type=JSON)


class JudgeCall(JudgeCallBase, table=True):
    __tablename__ = "judge_call"

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="judge_run.id", index=True)
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class JudgeCallEndBase(Noun):
    """How a call ended; a call that was killed has no row here."""

    ended: Literal["done", "interrupted", "stopped"] = Field(sa_type=LongText)
    """To its end; by its user; or since going on made no sense."""
    answered: int = Field(ge=0)
    """Prompts with an answer."""
    judged: int = Field(ge=0)
    """Judgments that were stored."""
    missing: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    """Of these, those without a value, by reason."""
    failed: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    """Prompts that got no answer, by reason."""
    retries: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    """Tries of one prompt beyond its first, by what the try before them met."""
    tokens: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    """prompt, completion, reasoning and cached, of the answers; a missing name: not reported."""
    overhead: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    """calls, and tokens as above, of the engine's own requests: its probe, prompts counted
    again."""
    uncounted: int = Field(default=0, ge=0)
    """Answers without a count of prompt tokens."""
    seconds: float = Field(ge=0)
    cost: float | None = None
    """By the prices of the call, the engine's own requests included; null without prices."""
    notes: list[str] = Field(default_factory=list, sa_type=JSON)
    """Messages of the engine at the end."""
    figures: dict[str, float] = Field(default_factory=dict, sa_type=JSON)
    """What the engine measured of itself, such as the share of tokens that was computed."""


class JudgeCallEnd(JudgeCallEndBase, table=True):
    __tablename__ = "judge_call_end"

    id: int | None = Field(default=None, primary_key=True)
    call_id: int = Field(foreign_key="judge_call.id", unique=True)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
