"""Answers to ratings and comparisons: as they are submitted, and as they are stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, or_, select

from study.facts import ratings as facts
from study.facts.comparison_decisions import newest_decisions
from study.schema.human_ratings import ShownFormat
from study.schema.tables import assignments, decisions, ratings
from study.types import Key, Text, storable

_Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def _none_when_blank(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


class AnswerInput(BaseModel):
    """What a rater entered for a construct, with the revision that it is based on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    construct_key: Annotated[Key, Field(alias="construct")]
    input_kind: Annotated[Key, Field(max_length=40)]
    """How it was entered: typed, by a button, or on a control of the page."""
    active_seconds: Annotated[float, Field(ge=0, le=7 * 86400, allow_inf_nan=False)] | None = None
    # A page may stay open over a holiday.
    wall_seconds: Annotated[float, Field(ge=0, le=366 * 86400, allow_inf_nan=False)] | None = None
    base_revision: Annotated[int, Field(strict=True, ge=0)]
    """The revision that the rater saw; 0 when there was none."""
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{16,64}$")]
    """Random, one for each submission: sent twice, it is stored once."""


class Submission(AnswerInput):
    """A value, or the reason why it is missing."""

    value: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    status: Literal["rated", "cannot_judge", "skipped"] = "rated"
    reason: Annotated[_Reason, AfterValidator(storable)] | None = None
    comment: Annotated[
        Annotated[Text, Field(max_length=5000)] | None, AfterValidator(_none_when_blank)
    ] = None
    text_format: ShownFormat | None = None
    """How the page had shown the texts until then."""


class RatingInput(Submission):
    """A rater's value for one construct of one response."""

    flags: tuple[Key, ...] = ()


class ComparisonInput(Submission):
    """A rater's preference between two responses.

    The value refers to responses a and b of the comparison, in whichever order they are shown.
    """

    input_kind: Literal["typed", "button"]


_Place = Annotated[int, Field(strict=True, ge=0, lt=2**31)]


class MarksInput(AnswerInput):
    """The sentences of a response that a rater marked for a construct."""

    ranges: Annotated[tuple[tuple[_Place, _Place], ...], Field(max_length=10_000)] | None
    """Character ranges of the response; none at all: no sentence. None: not answered."""
    input_kind: Literal["pointer", "key", "button"]


@dataclass(frozen=True)
class StoredAnswer:
    """A stored revision of a rating, a comparison or marks."""

    construct: str
    revision: int
    value: float | None
    status: str
    reason: str | None
    comment: str | None
    flags: tuple[str, ...]
    input_kind: str | None
    saved_at: datetime
    late: bool
    ranges: tuple[tuple[int, int], ...] | None = None
    """Marks; None where there are none to give, or they were taken back."""
    unchanged: bool = False
    """Nothing was written, since the same content was already stored."""

    def as_json(self) -> dict[str, Any]:
        """Return what the page's script needs to know, as JSON values."""
        return {
            "construct": self.construct,
            "revision": self.revision,
            "value": self.value,
            "status": self.status,
            "reason": self.reason,
            "comment": self.comment,
            "flags": list(self.flags),
            "ranges": self.ranges,
            "saved_at": self.saved_at.isoformat(),
            "unchanged": self.unchanged,
            "late": self.late,
        }


# Built once: building a statement takes longer than running it.
_RATINGS = select(facts.newest_ratings(ratings.c.assignment_id == bindparam("assignment")))
_DECISION = select(newest_decisions(decisions.c.comparison_id == bindparam("comparison")))


def _kept_where(*conditions: ColumnElement[bool]) -> Select[Any]:
    counted = facts.counted_ratings(*conditions).c
    return select(
        counted.assignment_id,
        counted.construct_key,
        counted.value,
        counted.status,
        counted.entered_after_reveal,
    ).where(or_(counted.edited, counted.entered_after_reveal))


def _assignments_where(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return ratings.c.assignment_id.in_(select(assignments.c.id).where(condition))


_KEPT_OF_ASSIGNMENT = _kept_where(ratings.c.assignment_id == bindparam("assignment"))
_KEPT_OF_RATER = _kept_where(_assignments_where(assignments.c.rater_id == bindparam("rater")))
_KEPT = _kept_where(
    _assignments_where(assignments.c.public_id == bindparam("place")),
    ratings.c.construct_key == bindparam("key"),
)


def newest_ratings(connection: Connection, assignment_id: int) -> dict[str, StoredAnswer]:
    """Return the newest rating of each construct of an assignment."""
    rows = connection.execute(_RATINGS, {"assignment": assignment_id})
    return {row.construct_key: as_stored(row) for row in rows}


@dataclass(frozen=True)
class Kept:
    """A rating whose newest value is kept beside the one that counts, or counts for nothing."""

    counts: float | None
    """The value that counts, where there is one."""
    status: str | None
    """Status of the rating that counts; None: every value was entered after the reveal."""


def ratings_kept(connection: Connection, assignment_id: int) -> dict[str, Kept]:
    """Return the ratings of an assignment, by construct, whose newest value does not count."""
    rows = connection.execute(_KEPT_OF_ASSIGNMENT, {"assignment": assignment_id})
    return {row.construct_key: _as_kept(row) for row in rows}


def ratings_kept_of(connection: Connection, rater_id: int) -> dict[tuple[int, str], Kept]:
    """Return a rater's ratings, by assignment and construct, whose newest value does not count."""
    rows = connection.execute(_KEPT_OF_RATER, {"rater": rater_id})
    return {(row.assignment_id, row.construct_key): _as_kept(row) for row in rows}


def rating_kept(connection: Connection, public_id: str, key: str) -> Kept | None:
    """Return the value that counts in place of the newest one; None where the newest counts."""
    row = connection.execute(_KEPT, {"place": public_id, "key": key}).one_or_none()
    return None if row is None else _as_kept(row)


def _as_kept(row: Row[Any]) -> Kept:
    return Kept(None, None) if row.entered_after_reveal else Kept(row.value, row.status)


def newest_decision(connection: Connection, comparison_id: int) -> StoredAnswer | None:
    """Return the newest decision of a comparison; None if there is none."""
    row = connection.execute(_DECISION, {"comparison": comparison_id}).one_or_none()
    return None if row is None else as_stored(row)


def as_stored(row: Row[Any], *, unchanged: bool = False) -> StoredAnswer:
    """Return a row of ratings, decisions or marks as an answer."""
    ranges = getattr(row, "ranges", None)
    is_marks = not hasattr(row, "status") or getattr(row, "kind", None) == "marks"
    return StoredAnswer(
        construct=row.construct_key,
        revision=row.revision,
        value=getattr(row, "value", None),
        status="marked" if is_marks else row.status,
        reason=getattr(row, "reason", None),
        comment=getattr(row, "comment", None),
        flags=tuple(getattr(row, "flags", ())),
        input_kind=row.input_kind,
        saved_at=row.created_at,
        late=bool(getattr(row, "late", False)),
        ranges=None if ranges is None else tuple((start, end) for start, end in ranges),
        unchanged=unchanged,
    )
