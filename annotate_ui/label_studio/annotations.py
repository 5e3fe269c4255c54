"""Annotations of Label Studio: their values, and those that cannot become ratings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from study.types import Sees

SKIPPED = "skipped in Label Studio"
NO_NUMBER = "not a number"
UNNAMED = "the task does not name the responses that were compared"
NO_RANKING = "not a ranking of the task's responses"
MISSING = "required but missing"
ENTERED_TWICE = "given twice in one annotation"
UNKNOWN_CONTROL = "unknown control"
UNREADABLE = "unreadable annotation"
UNKNOWN_FLAG = "unknown remark"
UNKNOWN_CHOICE = "unknown choice"
MARKED_AND_NONE = "marks, and the statement that there is nothing to mark"
COMMENT_ONLY = "a comment without any value"
TOO_LONG = "longer than 5000 characters"
NOT_STORABLE = "contains characters that cannot be stored"


@dataclass(frozen=True, slots=True)
class ConstructAnswer:
    """The value of one construct in an annotation."""

    construct_key: str
    construct_version: int
    value: float | None
    """None: the whole task was skipped."""
    flags: tuple[str, ...] = ()
    opened: tuple[Sees, ...] = ()
    """Texts that the rater had opened on request before entering the value for the first time."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Which of two responses of a task is better on a construct."""

    construct_key: str
    construct_version: int
    first: str
    second: str
    """Names of the responses within the task."""
    value: float | None
    """Positive: the second is better. None: the whole task was skipped."""


@dataclass(frozen=True, slots=True)
class MarkedParts:
    """The parts of the response that were labeled for a construct."""

    construct_key: str
    construct_version: int
    parts: tuple[Mapping[str, Any], ...]
    """Their places, as Label Studio gives them; none: nothing was to be marked."""
    opened: tuple[Sees, ...] = ()
    """As in `ConstructAnswer`."""


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """A value in an annotation that cannot become a rating."""

    construct_key: str | None
    value: str | None
    """As JSON; None: the value is missing."""
    reason: str


@dataclass(frozen=True, slots=True)
class UnreadableAnnotation:
    """An annotation that cannot be read, with the parts that can."""

    number: int | None
    task: int | None
    user: int | None
    invalid: InvalidValue


@dataclass(slots=True)
class Annotation:
    """One annotation of one task by one user."""

    number: int
    task: int
    name: str | None
    """Name of the task, as it was pushed."""
    user: int | None
    """None: the account was deleted in Label Studio."""
    created: datetime
    updated: datetime
    lead_seconds: float | None
    """From opening the task to submitting it, for all its constructs together."""
    skipped: bool
    edited_by_other: bool = False
    """Whether another user changed it last; in Label Studio every member may."""
    comment: str | None = None
    opened: tuple[Sees, ...] = ()
    """Texts that the rater opened on request."""
    answers: list[ConstructAnswer] = field(default_factory=list)
    preferences: list[ComparedPair] = field(default_factory=list)
    marks: list[MarkedParts] = field(default_factory=list)
    invalid: list[InvalidValue] = field(default_factory=list)
