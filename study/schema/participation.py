"""Tables about taking part (consent, enrolment, departures) and about what the owner did."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import JSON, LargeBinary, Text as LongText, UniqueConstraint
from sqlmodel import Field

from study.schema.base import Noun, UTCDateTime, now, random_id
from study.types import Key, Text


class Consent(Noun, table=True):
    """A rater's answer to the study's consent text, identified by its SHA-256."""

    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = Field(foreign_key="rater.id", index=True)
    text_hash: str
    agreed: bool
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class EnrolmentLinkBase(Noun):
    """One link for many people: each who opens it becomes a rater, up to a quota."""

    name: Key = Field(unique=True)
    quota: int = Field(ge=1)
    """Raters who may join by it; those who left without a finished response are not counted."""
    queries_each: int | None = Field(default=None, ge=1)
    """Queries that each of them is handed at most; null: as many as there are."""
    attributes: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    """Attributes of the raters who join, such as their languages, and the form of their ids."""


class EnrolmentLink(EnrolmentLinkBase, table=True):
    __tablename__ = "enrolment_link"

    id: int | None = Field(default=None, primary_key=True)
    token_hash: bytes = Field(sa_type=LargeBinary(32), index=True, unique=True)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
    closed_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """From when on nobody joins; in the future where the owner lets it end by itself."""


class Enrolment(Noun, table=True):
    """A rater who joined by an enrolment link, with the id under which a recruiter knows them."""

    __table_args__ = (UniqueConstraint("link_id", "external_id"),)

    id: int | None = Field(default=None, primary_key=True)
    link_id: int = Field(foreign_key="enrolment_link.id", index=True)
    rater_id: int = Field(foreign_key="rater.id", index=True, unique=True)
    external_id: Text | None = Field(default=None, sa_type=LongText, max_length=200)
    """Used to pay the rater; it never opens a session."""
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class Departure(Noun, table=True):
    """A rater left, or came back. What they finished stays; the rest was released."""

    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = Field(foreign_key="rater.id", index=True)
    kind: Literal["withdrew", "removed", "readmitted"] = Field(sa_type=LongText)
    """`readmitted` takes an earlier departure back, or lets in who did not pass the training."""
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


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


class EndedSession(Noun, table=True):
    """A rater or the owner signed out: no copy of the session's cookie is valid any more."""

    __tablename__ = "ended_session"

    id: int | None = Field(default=None, primary_key=True)
    session_id: str = Field(index=True)
    """The random id in the signed cookie; it identifies nobody."""
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
