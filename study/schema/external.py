"""Tables of ratings made outside the project's own pages, such as in Label Studio."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Text as LongText, UniqueConstraint
from sqlmodel import Field

from study.schema.base import Noun, UTCDateTime, now
from study.types import Key, Sees, Text


class ExternalProject(Noun, table=True):
    """A project on another server in which one stage is rated, with the fields that it shows."""

    __tablename__ = "external_project"
    __table_args__ = (UniqueConstraint("instance", "external_id"),)

    id: int | None = Field(default=None, primary_key=True)
    server: Text = Field(sa_type=LongText)
    """The server's address."""
    instance: Text
    """Identity of the server, whatever its address: a new installation is another server."""
    external_id: Text
    """The project's number on the server."""
    stage: int = Field(ge=1)
    fields: list[Sees] = Field(sa_type=JSON)
    controls: dict[str, dict[str, Any]] = Field(sa_type=JSON)
    """Name of a control in the project to what it means: kind, construct, construct_version."""
    overlap: int = Field(ge=1)
    """People who rate each task; so many slots of each of its responses are reserved for it."""
    following: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    """How a project that was made there is read (controls, columns, ranges, values, annotations,
    users left out); null: it was pushed from here."""
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class ExternalTask(Noun, table=True):
    """A response as a task of such a project."""

    __tablename__ = "external_task"
    __table_args__ = (
        UniqueConstraint("project_id", "response_id"),
        UniqueConstraint("project_id", "external_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="external_project.id")
    response_id: int = Field(foreign_key="response.id", index=True)
    external_id: Text
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class ExternalRater(Noun, table=True):
    """Which user of which server a rater is."""

    __tablename__ = "external_rater"
    __table_args__ = (UniqueConstraint("instance", "external_id"),)

    id: int | None = Field(default=None, primary_key=True)
    server: Text = Field(sa_type=LongText)
    instance: Text
    external_id: Text
    """The user's number on the server; no name, no e-mail address."""
    rater_id: int | None = Field(default=None, foreign_key="rater.id", index=True)
    """Null: the person was erased from the study; their annotations are ignored."""
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class RejectedValue(Noun, table=True):
    """A value from elsewhere that could not become a rating: kept as it came, and never counted."""

    __tablename__ = "rejected_value"
    __table_args__ = (UniqueConstraint("project_id", "digest"),)

    id: int | None = Field(default=None, primary_key=True)
    project_id: int = Field(foreign_key="external_project.id")
    digest: str
    """Of annotation, response, rater, construct, value and reason: the same is kept once."""
    rater_id: int | None = Field(default=None, foreign_key="rater.id", index=True)
    response_id: int | None = Field(default=None, foreign_key="response.id")
    construct_key: Key | None = None
    value: str | None = Field(default=None, sa_type=LongText)
    """As JSON; null: there was none."""
    reason: Text = Field(sa_type=LongText)
    external_id: Text | None = None
    """The annotation's number on the server."""
    external_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
