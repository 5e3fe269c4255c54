"""What the owner of a campaign did: password, pauses, interim analyses, erasures."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, Text as LongText
from sqlmodel import Field

from study.schema.base import Noun, UTCDateTime, now, random_id
from study.types import Key, Text


class StudyIdentity(Noun, table=True):
    """One row: a random name of the study that its backups share."""

    __tablename__ = "study_identity"

    id: int | None = Field(default=None, primary_key=True)
    public_id: str = Field(default_factory=random_id)


class OwnerPassword(Noun, table=True):
    """A scrypt hash; the newest row is the password, and sessions under an older one have ended."""

    __tablename__ = "owner_password"

    id: int | None = Field(default=None, primary_key=True)
    password_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class Pause(Noun, table=True):
    """The campaign was paused or resumed; the newest row is its state."""

    id: int | None = Field(default=None, primary_key=True)
    paused: bool
    message: Text | None = Field(default=None, sa_type=LongText, max_length=500)
    """What raters are shown while it is paused."""
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class InterimAnalysis(Noun, table=True):
    """Figures that were computed while people rate; from the first on, a design is sequential."""

    __tablename__ = "interim_analysis"

    id: int | None = Field(default=None, primary_key=True)
    kind: Literal["agreement", "judge", "stopping"] = Field(sa_type=LongText)
    """Agreement among raters; judge and raters; the stopping rule."""
    requested_in: Key
    """`page` or `command`."""
    ratings: int = Field(ge=0)
    """Number of values that people had entered."""
    result: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class Erasure(Noun, table=True):
    """That somebody's data was removed or severed; not whose."""

    id: int | None = Field(default=None, primary_key=True)
    kind: Literal["removed", "severed"] = Field(sa_type=LongText)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
