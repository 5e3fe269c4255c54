"""What the results of an annotation contain, unchecked: numbers, labels, groups, users, times.

Label Studio does not validate values: a number may arrive as text, be null or be a list.
"""

import json
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

UNPLACED = "_"
"""Label Studio's name for the items of a ranking that are in none of its buckets."""


def as_integer(value: Any) -> int | None:
    """Return an integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def user_number(completed_by: Any) -> Any:
    """Return the user's number from `completed_by`, which may be an object or the number itself."""
    return completed_by.get("id") if isinstance(completed_by, dict) else completed_by


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
    labels = []
    for choice in chosen if isinstance(chosen, list) else []:
        path = choice if isinstance(choice, list) else [choice]
        if path and all(isinstance(part, str) for part in path):
            labels.append("/".join(path))
    return labels


def ticked(value: Any) -> list[Any]:
    """Return the boxes that are ticked, which should be texts."""
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


def as_json(value: Any) -> str:
    """Return a value as JSON, with escapes for characters that a database cannot store."""
    return json.dumps(value, ensure_ascii=True)


def parse_time(text: Any) -> datetime:
    """Return the time that an annotation states.

    Raises
    ------
    TypeError, ValueError
        It is not a time, or has no time zone.
    """
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return time


_RATIO = 5.0
"""Values that are less often a rater's others are not told from them."""
_FEWEST = 3
"""Fewer other values do not show what a rater's values are."""


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
