"""Tables of human ratings: raters, assignments, ratings, invitations and reveals."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import model_validator
from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKeyConstraint,
    LargeBinary,
    Text as LongText,
    UniqueConstraint,
)
from sqlmodel import Field

from study.schema.base import Noun, UTCDateTime, now, random_id
from study.schema.ranges import Ranges
from study.types import Key, Sees, Text

Purpose = Literal["main", "repeat", "calibration", "training", "check", "adjudication"]
Status = Literal["rated", "cannot_judge", "skipped", "withdrawn", "replied", "read"]
"""The last two are of a reply: the owner wrote it, its rater has read it."""
Layout = Literal["single", "side_by_side"]
"""Whether a page shows one response, or all responses of a rater to a query."""


ShownFormat = Literal["plain", "monospace", "rendered", "both"]
"""As written in the page's font or in monospace, rendered as Markdown, or the last two in turn."""


class RaterBase(Noun):
    """A person, known by a code alone."""

    code: Key = Field(unique=True)
    attributes: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    """No personal data is needed; languages decide which queries may be assigned."""


class Rater(RaterBase, table=True):
    id: int | None = Field(default=None, primary_key=True)
    public_id: str = Field(
        default_factory=random_id,
        index=True,
        unique=True,
        sa_column_kwargs={"default": random_id},
    )
    """Identifier of the rater in pages."""


class AssignmentBase(Noun):
    """A response put before a rater, for some constructs and one purpose."""

    construct_keys: list[Key] = Field(sa_type=JSON, min_length=1)
    purpose: Purpose = Field(default="main", sa_type=LongText)
    position: int = Field(default=0, ge=0)
    """Place in the rater's order of work."""
    round: int = Field(default=0, ge=0)
    """Rounds are done one after another; in training, the attempt."""
    repeat: int = Field(default=0, ge=0)
    layout: Layout = Field(default="single", sa_type=LongText)
    channel: Key = "own"
    """Where it is rated: the project's own pages, or another named place."""
    inclusion_prob: float = Field(default=1.0, gt=0, le=1)
    """Probability with which the response was drawn for rating."""
    stratum: Key | None = None


class Assignment(AssignmentBase, table=True):
    id: int | None = Field(default=None, primary_key=True)
    public_id: str = Field(
        default_factory=random_id,
        index=True,
        unique=True,
        sa_column_kwargs={"default": random_id},
    )
    """Identifier of the assignment in pages and addresses."""
    rater_id: int | None = Field(default=None, foreign_key="rater.id", index=True)
    """Null while the slot is reserved for a rater not known yet."""
    response_id: int = Field(foreign_key="response.id", index=True)
    leased_until: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """End of the lease of a slot that was open; null: the slot is the rater's without a limit."""
    replaces_id: int | None = Field(
        default=None, foreign_key="assignment.id", index=True, unique=True
    )
    """The expired slot that this one was handed on from. Each is handed on once at most."""
    open_to: list[str] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """Of a slot that was created open: who may take it, as `study.facts.slots` names them;
    none: raters without assigned work of their own. Null: it was assigned to its rater."""
    released_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When it was taken back unfinished, because its rater left or the owner released it. Saved
    values remain the rater's and count; the response may be assigned to another rater."""
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


AnswerKind = Literal["value", "marks", "choice", "reply"]
"""A value on the construct's scale, the marked parts of a response, the better of two; or what the
owner replies to a comment."""


class RaterAnswerBase(Noun):
    """One answer of a rater on a construct; a changed answer is the next revision.

    In an assignment it is a value (a rating) or the parts of the response that the rater marked;
    on a comparison it is a choice, on the scale of preferences: positive where b is better. A reply
    is of the owner: words on the comment of a rating, then that its rater has read them.
    """

    construct_key: Key
    construct_version: int = Field(default=1, ge=1)
    kind: AnswerKind = Field(default="value", sa_type=LongText)
    revision: int = Field(default=1, ge=1)
    value: float | None = None
    ranges: Ranges | None = Field(default=None, sa_type=JSON(none_as_null=True))
    """Of marks; none of them means that the rater marked nothing."""
    status: Status = Field(default="rated", sa_type=LongText)
    reason: Text | None = Field(default=None, sa_type=LongText)
    """Why there is no value: a keyword or the words of the rater."""
    input_kind: Key | None = None
    """How the answer was entered: typed, slider, pointer, imported, ..."""
    active_seconds: float | None = Field(default=None, ge=0)
    """With the page in view and without pauses."""
    wall_seconds: float | None = Field(default=None, ge=0)
    """From the moment the rater turned to the construct until its answer was entered."""
    comment: Text | None = Field(default=None, sa_type=LongText, max_length=5000)
    revealed: list[Key] = Field(default_factory=list, sa_type=JSON)
    """Fields of this query that the rater had seen when the answer was committed."""
    after_reveal: bool = False
    """Committed after fields of a later stage were shown: kept, but not counted."""
    seen_more: bool = False
    """Committed by a rater who had been shown more of this query than the step shows."""
    late: bool = False
    """Committed after the lease had run out: kept, and counts."""
    flags: list[Text] = Field(default_factory=list, sa_type=JSON)
    """Remarks that the rater ticked, such as "too long"."""
    channel: Key = "own"
    external_id: Text | None = None
    """Identifier of the answer in the place it came from."""
    text_format: ShownFormat | None = Field(default=None, sa_type=LongText)
    """How the page had shown the texts until the answer was committed; null: not known."""
    external_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When it was given there, by that place's clock."""
    idempotency_key: Text | None = None
    rules_hash: Text | None = None

    @model_validator(mode="after")
    def _an_answer_or_a_reason(self) -> Self:
        given = self.value if self.kind != "marks" else self.ranges
        if (self.status == "rated") != (given is not None):
            raise ValueError("an answer has a value or marks exactly when its status is 'rated'")
        if (self.kind == "reply") != (self.status in {"replied", "read"}):
            raise ValueError("a reply, and nothing else, has the status 'replied' or 'read'")
        return self


class RaterAnswer(RaterAnswerBase, table=True):
    __tablename__ = "rater_answer"
    __table_args__ = (
        ForeignKeyConstraint(
            ["construct_key", "construct_version"], ["construct.key", "construct.version"]
        ),
        # Named: PostgreSQL cuts names at 63 characters.
        UniqueConstraint(
            "assignment_id", "construct_key", "kind", "revision", name="uq_rater_answer_revision"
        ),
        UniqueConstraint(
            "assignment_id", "kind", "idempotency_key", name="uq_rater_answer_sent_once"
        ),
        UniqueConstraint("comparison_id", "revision"),
        UniqueConstraint("comparison_id", "idempotency_key"),
        CheckConstraint(
            "(status = 'rated') = (value IS NOT NULL OR ranges IS NOT NULL)", name="value_or_status"
        ),
        CheckConstraint(
            "(assignment_id IS NULL) <> (comparison_id IS NULL)", name="assigned_or_compared"
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    assignment_id: int | None = Field(default=None, foreign_key="assignment.id")
    comparison_id: int | None = Field(default=None, foreign_key="comparison.id")
    config_hash: str
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class Invitation(Noun, table=True):
    """A link with which a rater logs in. Only the SHA-256 of its random token is stored."""

    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = Field(foreign_key="rater.id", index=True)
    token_hash: bytes = Field(sa_type=LargeBinary(32), index=True, unique=True)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
    used_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """When it was first used."""
    revoked_at: datetime | None = Field(default=None, sa_type=UTCDateTime)
    """From when on it lets nobody in; in the future where the owner lets it end by itself."""


class Reveal(Noun, table=True):
    """A stage of a response that has been sent to its rater, with the fields it shows."""

    __table_args__ = (UniqueConstraint("assignment_id", "stage"),)

    id: int | None = Field(default=None, primary_key=True)
    assignment_id: int = Field(foreign_key="assignment.id")
    stage: int = Field(ge=1)
    fields: list[Sees] = Field(sa_type=JSON)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class OpenedPassage(Noun, table=True):
    """A passage that a rater unfolded."""

    __tablename__ = "opened_passage"
    __table_args__ = (UniqueConstraint("assignment_id", "position"),)

    id: int | None = Field(default=None, primary_key=True)
    assignment_id: int = Field(foreign_key="assignment.id")
    position: int = Field(ge=0)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)


class ClosingAnswerBase(Noun):
    """A rater's answer at the end: whether they recognized a system by its responses."""

    recognized: Literal["yes", "no", "unsure"] = Field(sa_type=LongText)
    comment: Text | None = Field(default=None, sa_type=LongText, max_length=5000)


class ClosingAnswer(ClosingAnswerBase, table=True):
    __tablename__ = "closing_answer"

    id: int | None = Field(default=None, primary_key=True)
    rater_id: int = Field(foreign_key="rater.id", index=True)
    created_at: datetime = Field(default_factory=now, sa_type=UTCDateTime)
