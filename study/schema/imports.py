"""Tables of imports: answers of any scorer, and the imported files."""

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
from study.schema.ranges import Ranges
from study.types import Key, ScorerKind


class ScorerAnswerBase(Noun):
    """An answer of any scorer that was not given on the project's pages: imported, or computed.

    It is a value on a construct of a response (a score, on the construct's scale or on the
    scorer's own where study.toml gives one), the parts of a response that a person marked, or a
    comparison of two responses to one query (a preference: a positive value means that the second
    is better; two systems may have given the same response, which is then compared with itself).
    """

    construct_key: Key
    construct_version: int = Field(default=1, ge=1)
    scorer: Key
    scorer_kind: ScorerKind = Field(sa_type=LongText)
    repeat: int = Field(default=0, ge=0)
    item: str = ""
    """What distinguishes the answer from others on the response: empty for a score, `marks`, or
    the response beside it."""
    value: float | None = None
    missing_reason: Key | None = None
    ranges: Ranges | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """Of marks: ranges of characters of the response's text; none of them: nothing was marked."""
    value_first: float | None = None
    """Of a preference: the choice where the first response was shown first, if the file has it."""
    value_second: float | None = None
    """The choice where the second response was shown first; positive: the second is better."""
    inclusion_prob: float = Field(default=1.0, gt=0, le=1)
    stratum: Key | None = None
    source: Key | None = None
    rule: Key | None = None
    """How a judge's answer was read, if the file states it."""
    layout: Layout | None = Field(default=None, sa_type=LongText)
    """What a rater saw on a page, if the file states it."""

    @model_validator(mode="after")
    def _a_value_or_a_reason(self) -> Self:
        if (self.value is None and self.ranges is None) == (self.missing_reason is None):
            raise ValueError("an answer has either a value, marks or a missing_reason")
        return self


class ScorerAnswer(ScorerAnswerBase, table=True):
    __tablename__ = "scorer_answer"
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        UniqueConstraint(
            "response_id",
            "item",
            "construct_key",
            "construct_version",
            "scorer",
            "repeat",
            # Named: PostgreSQL cuts names at 63 characters.
            name="uq_scorer_answer_once",
        ),
        CheckConstraint(
            "(value IS NULL AND ranges IS NULL) = (missing_reason IS NOT NULL)",
            name="value_or_reason",
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    response_id: int = Field(foreign_key="response.id")
    second_response_id: int | None = Field(default=None, foreign_key="response.id")
    """Of a preference: the response with which the first is compared."""
    file_id: int | None = Field(default=None, foreign_key="imported_file.id")
    low_is_good: bool | None = None
    """Whether the metric that was measured here declares that a low value is a good sign."""


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
