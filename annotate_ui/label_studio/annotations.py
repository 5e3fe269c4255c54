"""Annotations of Label Studio: what their results contain, and the answers that they give.

Label Studio does not validate values: a number may arrive as text, be null or be a list. Values
that cannot become ratings are kept apart, each with its reason.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from annotate_ui.label_studio import reasons
from study.importing.rows import MarkedPart

UNPLACED = "_"
"""Label Studio's name for the items of a ranking that are in none of its buckets."""
_RATIO = 5.0
"""Values that are less often a rater's others are not told from them."""
_FEWEST = 3
"""Fewer other values do not show what a rater's values are."""


def as_integer(value: Any) -> int | None:
    """Return an integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def user_number(completed_by: Any) -> Any:
    """Return the user's number from `completed_by`, which may be an object or the number itself."""
    return completed_by.get("id") if isinstance(completed_by, dict) else completed_by


def dicts(listed: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, which may contain anything, or be none."""
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that fits into a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return value.bit_length() <= 1000
    return math.isfinite(value)


def number_in(value: Any) -> Any:
    """Return the number or the stars of a result's value; None if it has neither."""
    return value.get("number", value.get("rating")) if isinstance(value, dict) else None


def choice_labels(value: Any) -> list[str]:
    """Return the labels of a result that are choices; a nested one is written `outer/inner`."""
    chosen = value.get("choices") if isinstance(value, dict) else None
    listed = chosen if isinstance(chosen, list) else []
    paths = [choice if isinstance(choice, list) else [choice] for choice in listed]
    return ["/".join(path) for path in paths if path and all(isinstance(p, str) for p in path)]


def ticked(value: Any) -> list[Any]:
    """Return the boxes of a result that are ticked, which should be texts."""
    boxes = (value.get("choices") if isinstance(value, dict) else value) or []
    return boxes if isinstance(boxes, list) else [boxes]


def text_labels(value: Any) -> list[str]:
    """Return the labels of a result that are on a text."""
    labels = value.get("labels") if isinstance(value, dict) else None
    return [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []


def groups_of(value: Any) -> dict[str, list[Any]]:
    """Return the items of a ranking by group: its buckets, or all under the control's name."""
    groups = value.get("ranker") if isinstance(value, dict) else None
    if not isinstance(groups, dict) or not all(isinstance(g, list) for g in groups.values()):
        return {}
    return groups


def storable_text(text: str) -> str:
    """Return a text with characters replaced that a database cannot store."""
    return text.replace("\x00", "�").encode("utf-8", "replace").decode("utf-8")


def likely_commas(values: Sequence[float]) -> set[float]:
    """Return those of a rater's values on a construct that a decimal comma explains.

    They are whole numbers that end in another digit than 0, far above the rater's other values,
    and a tenth of each is among these.
    """
    ordered = sorted(values)
    gaps = [
        place
        for place in range(_FEWEST, len(ordered))
        if 0 < _RATIO * ordered[place - 1] <= ordered[place]
    ]
    if not gaps:
        return set()
    others, far = ordered[: gaps[0]], ordered[gaps[0] :]
    return {
        value
        for value in far
        if value % 1 == 0 and value % 10 and others[0] <= value / 10 <= others[-1]
    }


@dataclass(frozen=True, slots=True)
class InvalidValue:
    """A value in an annotation that cannot become a rating."""

    construct_key: str | None
    value: str | None
    """As JSON; None: the value is missing."""
    reason: str

    @classmethod
    def of(cls, construct_key: str | None, value: Any, reason: str) -> Self:
        """Return a value that is not JSON yet."""
        # ASCII: characters that a database cannot store are written as escapes.
        written = None if reason == reasons.MISSING else json.dumps(value)
        return cls(construct_key, written, reason)


@dataclass(frozen=True, slots=True)
class Given:
    """What an annotation says on a construct: a value, a preference, or marks."""

    construct_key: str
    construct_version: int
    value: float | None = None
    """None: the whole task was skipped, or it is marks. Of a preference, positive: the second of
    the pair is better."""
    flags: tuple[str, ...] = ()
    pair: tuple[str, str] | None = None
    """Of a preference: the names of the responses within the task."""
    parts: tuple[Mapping[str, Any], ...] | None = None
    """Of marks: their places in the response, as Label Studio gives them; none: nothing was to be
    marked."""

    def places(self) -> Iterator[MarkedPart | str]:
        """Yield the marked parts of the response, or why the place of one cannot be read.

        Label Studio gives a place in Unicode characters; its early versions gave UTF-16 units. The
        text that it stores with a label tells which, and that the label is on the response.
        """
        for value in self.parts or ():
            ends, text = (value.get("start"), value.get("end")), value.get("text")
            if "paragraphs" in value or "globalOffsets" in value or isinstance(ends[0], str):
                yield "is on HTML or on a dialog, whose places are not those of a text"
            elif any(not isinstance(end, int) or isinstance(end, bool) or end < 0 for end in ends):
                yield f"has no place in a text: start {ends[0]!r}, end {ends[1]!r}"
            else:
                text = storable_text(text) if isinstance(text, str) else None
                yield MarkedPart(start=value["start"], end=value["end"], text=text)

    def rejected(self, reason: str) -> InvalidValue:
        """Return it as a value that cannot become a rating."""
        value = self.value if self.parts is None else [dict(part) for part in self.parts]
        return InvalidValue.of(self.construct_key, value, reason)


@dataclass(slots=True)
class Annotation:
    """One annotation of one task by one user."""

    number: int
    task: int
    name: str | None
    """Name of the task, as it was pushed."""
    user: int | None
    """None: the account was deleted in Label Studio, or a model made it."""
    created: datetime
    updated: datetime
    lead_seconds: float | None
    """From opening the task to submitting it, for all its constructs together."""
    skipped: bool
    prefilled: bool = False
    """Whether it was made from a prediction or from another annotation."""
    unread_time: str | None = None
    """The time of its last change as it is stated, if it cannot be read."""
    edited_by_other: bool = False
    """Whether another user changed it last; in Label Studio every member may."""
    comment: str | None = None
    answers: list[Given] = field(default_factory=list)
    invalid: list[InvalidValue] = field(default_factory=list)

    @property
    def recency(self) -> tuple[datetime, int]:
        """Greater for a later annotation."""
        return self.updated, self.number
