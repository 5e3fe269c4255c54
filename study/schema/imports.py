"""Tables of imports: scores of any scorer, preferences, and the imported files."""

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

from study.schema.base import Noun, UTCDateTime, now
from study.schema.human_ratings import Layout
from study.types import Key, ScorerKind


class ScoredBase(Noun):
    """What a score and a preference have in common: who gave which value on which construct."""

    construct_key: Key
    construct_version: int = Field(default=1, ge=1)
    scorer: Key
    scorer_kind: ScorerKind = Field(sa_type=LongText)
    repeat: int = Field(default=0, ge=0)
    value: float | None = None
    missing_reason: Key | None = None

    @model_validator(mode="after")
    def _a_value_or_a_reason(self) -> Self:
        if (self.value is None) == (self.missing_reason is None):
            raise ValueError("a score has either a value or a missing_reason")
        return self


class ScoreBase(ScoredBase):
    """A score on the construct's scale, or on the scorer's own where study.toml gives one."""

    inclusion_prob: float = Field(default=1.0, gt=0, le=1)
    stratum: Key | None = None
    source: Key | None = None
    rule: Key | None = None
    """How a judge's answer was read, if the file states it."""
    layout: Layout | None = Field(default=None, sa_type=LongText)
    """What a rater saw on a page, if the file states it."""


class Score(ScoreBase, table=True):
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        UniqueConstraint("response_id", "construct_key", "construct_version", "scorer", "repeat"),
        CheckConstraint("(value IS NULL) = (missing_reason IS NOT NULL)", name="value_or_reason"),
    )

    id: int | None = Field(default=None, primary_key=True)
    response_id: int = Field(foreign_key="response.id")
    file_id: int | None = Field(default=None, foreign_key="imported_file.id")
    low_is_good: bool = False
    """Whether the metric that was measured here declares that a low value is a good sign."""


class PreferenceBase(ScoredBase):
    """A comparison of two responses to one query; a positive value means that b is better.

    Two systems may have given the same response: then it is compared with itself.
    """

    value_a_first: float | None = None
    """The choice where a was shown first, if the file has it; a positive value: b is better."""
    value_b_first: float | None = None


class Preference(PreferenceBase, table=True):
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        UniqueConstraint(
            "response_a_id",
            "response_b_id",
            "construct_key",
            "construct_version",
            "scorer",
            "repeat",
        ),
        CheckConstraint("(value IS NULL) = (missing_reason IS NOT NULL)", name="value_or_reason"),
    )

    id: int | None = Field(default=None, primary_key=True)
    query_id: int = Field(foreign_key="query.id", index=True)
    response_a_id: int = Field(foreign_key="response.id")
    response_b_id: int = Field(foreign_key="response.id")
    file_id: int | None = Field(default=None, foreign_key="imported_file.id")


class ImportedFile(Noun, table=True):
    """An imported file: its digest, how it was read, and what was stored."""

    __tablename__ = "imported_file"

    id: int | None = Field(default=None, primary_key=True)
    name: str
    sha256: str
    importer: str
    options: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    counts: dict[str, int] = Field(default_factory=dict, sa_type=JSON)
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
