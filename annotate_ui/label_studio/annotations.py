"""Annotations of Label Studio: their values, and those that cannot become ratings."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotate_ui.label_studio import reasons
from study.importing.rows import MarkedPart


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """A value in an annotation that cannot become a rating."""

    construct_key: str | None
    value: str | None
    """As JSON; None: the value is missing."""
    reason: str


@dataclass(frozen=True, slots=True)
class ConstructAnswer:
    """The value of one construct in an annotation."""

    construct_key: str
    construct_version: int
    value: float | None
    """None: the whole task was skipped."""
    flags: tuple[str, ...] = ()

    def rejected(self, reason: str) -> InvalidValue:
        """Return it as a value that cannot become a rating."""
        return InvalidValue(self.construct_key, json.dumps(self.value), reason)


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

    def rejected(self, reason: str) -> InvalidValue:
        """Return it as a value that cannot become a preference."""
        value = {"first": self.first, "second": self.second, "value": self.value}
        return InvalidValue(self.construct_key, json.dumps(value), reason)


@dataclass(frozen=True, slots=True)
class MarkedParts:
    """The parts of the response that were labeled for a construct."""

    construct_key: str
    construct_version: int
    parts: tuple[Mapping[str, Any], ...]
    """Their places, as Label Studio gives them; none: nothing was to be marked."""

    def places(self) -> Iterator[MarkedPart | str]:
        """Yield the marked parts of the response, or why the place of one cannot be read.

        Label Studio gives a place in Unicode characters; its early versions gave UTF-16 units. The
        text that it stores with a label tells which, and that the label is on the response.
        """
        for value in self.parts:
            ends, text = (value.get("start"), value.get("end")), value.get("text")
            if "paragraphs" in value or "globalOffsets" in value or isinstance(ends[0], str):
                yield "is on HTML or on a dialog, whose places are not those of a text"
            elif any(not isinstance(end, int) or isinstance(end, bool) or end < 0 for end in ends):
                yield f"has no place in a text: start {ends[0]!r}, end {ends[1]!r}"
            else:
                text = text if isinstance(text, str) else None
                yield MarkedPart(start=value["start"], end=value["end"], text=text)

    def rejected(self, reason: str) -> InvalidValue:
        """Return them as a value that cannot become marks."""
        value = json.dumps([dict(part) for part in self.parts])
        return InvalidValue(self.construct_key, value, reason)


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
    prefilled: bool = False
    """Whether it was made from a prediction or from another annotation."""
    edited_by_other: bool = False
    """Whether another user changed it last; in Label Studio every member may."""
    comment: str | None = None
    answers: list[ConstructAnswer] = field(default_factory=list)
    preferences: list[ComparedPair] = field(default_factory=list)
    marks: list[MarkedParts] = field(default_factory=list)
    invalid: list[InvalidValue] = field(default_factory=list)

    def reject(self, construct_key: str | None, value: Any, reason: str) -> None:
        """Add a value that cannot become a rating; None: it is missing."""
        # ASCII: characters that a database cannot store are written as escapes.
        written = None if reason == reasons.MISSING else json.dumps(value)
        self.invalid.append(InvalidValue(construct_key, written, reason))
