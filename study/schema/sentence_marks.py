"""Tables of marks: the sentences of a response that a person marked for a construct."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator
from sqlalchemy import JSON, ForeignKeyConstraint, Text as LongText, UniqueConstraint
from sqlmodel import Field

from study.schema.base import Noun, UTCDateTime, now
from study.types import Key, ScorerKind, Text


def _in_order(ranges: list[list[int]] | None) -> list[list[int]] | None:
    last = 0
    for start, end in ranges or ():
        if not last <= start < end:
            raise ValueError(f"the range {start} to {end} is empty, not in order, or overlaps")
        last = end
    return ranges


Ranges = Annotated[list[tuple[int, int]], AfterValidator(_in_order)]
"""Character ranges [start, end) of the text of the response, in order, not overlapping."""


class MarksBase(Noun):
    """What marks from pages and from files have in common.

    Ranges are of the text of the response, whose versions do not change, so that they stay right
    whatever is taken for a sentence later. No range at all means that no sentence was marked.
    """

    construct_key: Key
    construct_version: int = Field(default=1, ge=1)


class SentenceMarksBase(MarksBase):
    """The sentences that a rater marked in an assignment; a changed set is the next revision."""

    revision: int = Field(default=1, ge=1)
    ranges: Ranges | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """None: the rater took the marks back without an answer, or they were withdrawn."""
    input_kind: Key | None = None
    """How they were entered: pointer, key, button, or the channel."""
    active_seconds: float | None = Field(default=None, ge=0)
    """With the page in view and without pauses."""
    wall_seconds: float | None = Field(default=None, ge=0)
    revealed: list[Key] = Field(default_factory=list, sa_type=JSON)
    """Fields of this query that the rater had seen."""
    after_reveal: bool = False
    """Entered after fields of a later stage were shown: kept, but not counted."""
    seen_more: bool = False
    late: bool = False
    channel: Key = "own"
    external_id: Text | None = None
    """Identifier of the annotation in the place it came from."""
    external_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    idempotency_key: Text | None = None
    rules_hash: Text | None = None


class SentenceMarks(SentenceMarksBase, table=True):
    __tablename__ = "sentence_marks"
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        UniqueConstraint("assignment_id", "construct_key", "revision"),
        UniqueConstraint("assignment_id", "idempotency_key"),
    )

    id: int | None = Field(default=None, primary_key=True)
    assignment_id: int = Field(foreign_key="assignment.id")
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class ImportedMarksBase(MarksBase):
    """The sentences that a person marked elsewhere."""

    scorer: Key
    scorer_kind: ScorerKind = Field(default="human", sa_type=LongText)
    repeat: int = Field(default=0, ge=0)
    ranges: Ranges = Field(sa_type=JSON)


class ImportedMarks(ImportedMarksBase, table=True):
    __tablename__ = "imported_marks"
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        UniqueConstraint("response_id", "construct_key", "construct_version", "scorer", "repeat"),
    )

    id: int | None = Field(default=None, primary_key=True)
    response_id: int = Field(foreign_key="response.id")
    file_id: int | None = Field(default=None, foreign_key="imported_file.id")
