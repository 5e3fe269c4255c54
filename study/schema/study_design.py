"""Tables of a study's design: constructs, expected values, checks and comparisons."""

from datetime import datetime
from typing import Literal, Self

from pydantic import model_validator
from sqlalchemy import (
    JSON,
    Text as LongText,
    UniqueConstraint,
)
from sqlmodel import Field

from study.base.scales import Level
from study.schema.base import Noun, UTCDateTime, now, random_id
from study.types import Key, Sees, Text


class ConstructBase(Noun):
    """A construct: its question to the rater, its scale and anchors, what it may see."""

    key: Key = Field(primary_key=True)
    name: Text
    question: Text = Field(sa_type=LongText)
    scale_min: float
    scale_max: float
    scale_step: float | None = None
    scale_level: Level = Field(sa_type=LongText)
    anchors: dict[str, Text] = Field(default_factory=dict, sa_type=JSON)
    """Point of the scale (as text) to its label."""
    sees: list[Sees] = Field(default_factory=list, sa_type=JSON)
    rules: list[Text] = Field(default_factory=list, sa_type=JSON)


class Construct(ConstructBase, table=True):
    version: int = Field(default=1, primary_key=True, ge=1)
    """A construct changed in study.toml is stored as its next version; the highest is current."""


class ExpectedValueBase(Noun):
    """The range in which the owner expects the value of a trained rater."""

    construct_key: Key
    purpose: Literal["training", "check"] = Field(sa_type=LongText)
    low: float
    high: float
    explanation: Text | None = Field(default=None, sa_type=LongText, max_length=5000)
    """Shown to the rater after training; never after a check."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"expected range {self.low:g} to {self.high:g}: low is above high")
        return self


class ExpectedValue(ExpectedValueBase, table=True):
    __tablename__ = "expected_value"
    __table_args__ = (UniqueConstraint("response_id", "construct_key", "purpose"),)

    id: int | None = Field(default=None, primary_key=True)
    response_id: int = Field(foreign_key="response.id")
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class CheckPair(Noun, table=True):
    """A damaged copy of a response, which an attentive rater values below its original."""

    __tablename__ = "check_pair"
    __table_args__ = (UniqueConstraint("original_id", "damaged_id"),)

    id: int | None = Field(default=None, primary_key=True)
    original_id: int = Field(foreign_key="response.id")
    damaged_id: int = Field(foreign_key="response.id", index=True)
    construct_keys: list[Key] = Field(sa_type=JSON, min_length=1)
    """Constructs on which the copy must be rated lower."""
    damage: Key
    """How the copy was damaged."""
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class ComparisonBase(Noun):
    """Two responses to one query of which a rater decides which is better."""

    construct_key: Key
    position: int = Field(default=0, ge=0)
    """Place in the rater's order of comparisons."""
    swapped: bool = False
    """Response b was shown first. A value speaks of a and b whatever was first."""
    inclusion_prob: float = Field(default=1.0, gt=0, le=1)
    stratum: Key | None = None


class Comparison(ComparisonBase, table=True):
    __table_args__ = (
        UniqueConstraint(
            "rater_id",
            "response_a_id",
            "response_b_id",
            "construct_key",
            # The name that the convention makes is longer than PostgreSQL takes.
            name="uq_comparison_rater_id_pair",
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    public_id: str = Field(default_factory=random_id, index=True, unique=True)
    rater_id: int = Field(foreign_key="rater.id", index=True)
    query_id: int = Field(foreign_key="query.id", index=True)
    response_a_id: int = Field(foreign_key="response.id")
    response_b_id: int = Field(foreign_key="response.id")
    opened_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When it was first sent to its rater."""
    released_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When it was taken back undecided."""
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
