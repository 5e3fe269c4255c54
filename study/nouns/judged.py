"""Judge scores made here: a run with its whole configuration, and its judgments."""

from datetime import datetime
from typing import Any, Self

from pydantic import model_validator
from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKeyConstraint,
    Text as LongText,
    UniqueConstraint,
)
from sqlmodel import Field

from study.nouns.base import Noun, UTCDateTime, now
from study.words import Key, Text


class JudgeRunBase(Noun):
    """One configuration of a judge; another configuration is another run."""

    name: Key = Field(unique=True)
    engine: Key
    model: Key
    model_revision: Text | None = None
    prompt_version: Key
    prompt_hash: Text
    decoding: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    seed: int | None = None
    software: dict[str, str] = Field(default_factory=dict, sa_type=JSON)


class JudgeRun(JudgeRunBase, table=True):
    __tablename__ = "judge_run"

    id: int | None = Field(default=None, primary_key=True)
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class JudgmentBase(Noun):
    """One answer of a judge on one construct of one response."""

    construct_key: Key
    construct_version: int = Field(default=1, ge=1)
    repeat: int = Field(default=0, ge=0)
    attempt: int = Field(default=1, ge=1)
    """The first attempt is the score; later ones are kept beside it."""
    value: float | None = None
    missing_reason: Key | None = None
    raw_answer: Text | None = Field(default=None, sa_type=LongText)
    distribution: dict[str, float] | None = Field(default=None, sa_type=JSON)
    """Probability by point of the scale, where the engine gives it."""
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(default=None, ge=0)
    milliseconds: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _a_value_or_a_reason(self) -> Self:
        if (self.value is None) == (self.missing_reason is None):
            raise ValueError("a judgment has either a value or a missing_reason")
        return self


class Judgment(JudgmentBase, table=True):
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        UniqueConstraint("run_id", "response_id", "construct_key", "repeat", "attempt"),
        CheckConstraint("(value IS NULL) = (missing_reason IS NOT NULL)", name="value_or_reason"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="judge_run.id")
    response_id: int = Field(foreign_key="response.id", index=True)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
