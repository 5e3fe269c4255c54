"""Answers of a judge to prompts of its own run that were altered, or asked once more."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKeyConstraint,
    Text as LongText,
    UniqueConstraint,
)
from sqlmodel import Field

from study.schema.base import UTCDateTime, now
from study.schema.judge import JudgmentBase
from study.types import Key, Text

DRIFT = "drift"
"""Kind, and probe, of prompts of a run that are asked again before and after each call."""

Fault = Literal["rise", "fall", "either"]
"""Which shift of a score is a fault of the judge: the other one may be honest."""


class ProbeAnswerBase(JudgmentBase):
    """One answer to a probe: what a judgment has, with what was asked in place of the prompt."""

    kind: Key
    """Family of the probe: injection, length, ..., or `drift`."""
    probe: Key
    round: int = Field(default=0, ge=0)
    """0; for drift the number of the round."""
    fault: Fault = Field(sa_type=LongText)
    change: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    """What was changed in the response or its passages; with them it makes the prompt again."""
    prompt_hash: Text
    """SHA-256 (hexadecimal) of the very prompt."""


class ProbeAnswer(ProbeAnswerBase, table=True):
    __tablename__ = "probe_answer"
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        UniqueConstraint(
            "run_id",
            "response_id",
            "construct_key",
            "construct_version",
            "probe",
            "round",
            "repeat",
            "attempt",
            # Named: PostgreSQL cuts names at 63 characters.
            name="uq_probe_answer_once",
        ),
        CheckConstraint("(value IS NULL) = (missing_reason IS NOT NULL)", name="value_or_reason"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="judge_run.id")
    response_id: int = Field(foreign_key="response.id")
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
