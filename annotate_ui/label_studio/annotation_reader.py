"""Reading annotations from a JSON export of Label Studio.

Label Studio does not validate values: a number may arrive as text, be outside the scale or be
missing. Values are checked here, and each that cannot become a rating is returned with its reason.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any

from annotate_ui.label_studio.annotations import (
    COMMENT_ONLY,
    ENTERED_TWICE,
    MARKED_AND_NONE,
    MISSING,
    NO_NUMBER,
    NOT_STORABLE,
    TOO_LONG,
    UNKNOWN_CHOICE,
    UNKNOWN_CONTROL,
    UNKNOWN_FLAG,
    UNREADABLE,
    Annotation,
    ConstructAnswer,
    InvalidValue,
    MarkedParts,
    UnreadableAnnotation,
)
from annotate_ui.label_studio.compared_results import choice_labels, preference_of, read_preferences
from annotate_ui.label_studio.configuration import NOTHING_TO_MARK, plain_text
from study.errors import StudyError
from study.scales import RatingScale
from study.text import abbreviate
from study.types import Sees, storable

_MAX_COMMENT = 5000

VALUED = frozenset({"number", "preference", "ranking"})
"""Kinds of controls that give a construct a value."""


def read_task(
    task: Mapping[str, Any],
    name_field: str,
    controls: Mapping[str, Mapping[str, Any]],
    scales: Mapping[str, RatingScale],
    compared: Mapping[str, Sequence[str]] | None = None,
) -> tuple[list[Annotation], list[UnreadableAnnotation], int]:
    """Return a task's annotations, its unreadable annotations, and the number of its drafts.

    Parameters
    ----------
    scales
        Construct to the scale that its values are checked against.
    compared
        Names of the task's responses that are compared, by the kind of control: the left and the
        right one (`preference`), or the items of a list (`ranking`).

    Raises
    ------
    StudyError
        The task's annotations or drafts are not a list.
    """
    problem = list_problem(task)
    if problem is not None:
        raise StudyError(
            f"Task {as_integer(task.get('id'))} of an export: {problem} Export it again."
        )
    data = task.get("data")
    name = data.get(name_field) if isinstance(data, dict) else None
    annotations, unreadable = [], []
    for raw in task.get("annotations") or []:
        try:
            annotation = _annotation(raw, int(task["id"]), name)
            if annotation.skipped:
                _read_skip(annotation, controls, compared or {})
            else:
                _read_results(annotation, raw.get("result") or [], controls, scales, compared or {})
            annotations.append(annotation)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            unreadable.append(_unreadable(raw, task.get("id")))
    return annotations, unreadable, len(task.get("drafts") or [])


def list_problem(task: Mapping[str, Any]) -> str | None:
    """Return a message if a task's annotations or drafts are not a list, else None."""
    for name in ("annotations", "drafts"):
        if not isinstance(task.get(name) or [], list):
            return f"its {name} are {abbreviate(task[name])}, which is not a list."
    return None


def _unreadable(raw: Any, task: Any) -> UnreadableAnnotation:
    # Only these fields are stored: others, and the text of the error, may name people.
    fields = raw if isinstance(raw, dict) else {}
    number, user = as_integer(fields.get("id")), as_integer(user_number(fields.get("completed_by")))
    value = _as_json({"id": number, "user": user, "result": fields.get("result")})
    return UnreadableAnnotation(
        number, as_integer(task), user, InvalidValue(None, value, UNREADABLE)
    )


def as_integer(value: Any) -> int | None:
    """Return an integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def user_number(completed_by: Any) -> Any:
    """Return the user's number from `completed_by`, which may be an object or the number itself."""
    return completed_by.get("id") if isinstance(completed_by, dict) else completed_by


def storable_text(text: str) -> str:
    """Return a text with characters replaced that a database cannot store."""
    return text.replace("\x00", "�").encode("utf-8", "replace").decode("utf-8")


def number_in(value: Any) -> Any:
    """Return the number or the stars of a result's value, unchecked; None if it has neither."""
    return value.get("number", value.get("rating")) if isinstance(value, dict) else None


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that fits into a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return value.bit_length() <= 1000
    return math.isfinite(value)


def _annotation(raw: Mapping[str, Any], task: int, name: Any) -> Annotation:
    user = user_number(raw["completed_by"])
    if user is not None and as_integer(user) is None:
        raise ValueError(f"{user!r} is not a user")
    editor = as_integer(user_number(raw.get("updated_by")))
    lead = raw.get("lead_time")
    return Annotation(
        number=int(raw["id"]),
        task=task,
        name=name if isinstance(name, str) else None,
        user=user,
        created=parse_time(raw["created_at"]),
        updated=parse_time(raw.get("updated_at") or raw["created_at"]),
        lead_seconds=float(lead) if lead is not None and is_number(lead) and lead >= 0 else None,
        skipped=raw.get("was_cancelled") is True,
        edited_by_other=user is not None and editor not in {None, user},
    )


def _read_skip(
    annotation: Annotation,
    controls: Mapping[str, Mapping[str, Any]],
    compared: Mapping[str, Sequence[str]],
) -> None:
    for control in controls.values():
        if control["kind"] == "number":
            answer = ConstructAnswer(control["construct"], control["construct_version"], None)
            annotation.answers.append(answer)
        elif control["kind"] in VALUED:
            names = compared.get(control["kind"], ())
            for first, second in combinations(names, 2):
                annotation.preferences.append(preference_of(control, first, second, None))


def _read_results(
    annotation: Annotation,
    results: list[Mapping[str, Any]],
    controls: Mapping[str, Mapping[str, Any]],
    scales: Mapping[str, RatingScale],
    compared: Mapping[str, Sequence[str]],
) -> None:
    # A relation between results has no control; other controls give a construct nothing.
    results = [
        result
        for result in results
        if "from_name" in result
        and controls.get(str(result["from_name"]), {}).get("kind") != "other"
    ]
    opened = _read_requests(annotation, results, controls)
    of_marks = {name for name, control in controls.items() if control["kind"] == "marks"}
    _read_marks(annotation, results, controls, opened)
    results = [result for result in results if str(result["from_name"]) not in of_marks]
    times = Counter(str(result.get("from_name")) for result in results)
    values: dict[str, dict[str, Any]] = {}
    for result in results:
        name, value = str(result.get("from_name")), result.get("value")
        control = controls.get(name, {})
        if control.get("kind") is None or times[name] > 1:
            reason = ENTERED_TWICE if control else f"{UNKNOWN_CONTROL}: {storable_text(name)[:100]}"
            key = control["construct"] if control.get("kind") in VALUED else None
            annotation.invalid.append(InvalidValue(key, _as_json(value), reason))
        else:
            values[name] = value if isinstance(value, dict) else {}
    flags: dict[str, tuple[str, ...]] = {}
    for name, control in controls.items():
        if control["kind"] == "flags" and name in values:
            flags[control["construct"]] = _read_flags(annotation, control["flags"], values[name])
    for name, control in controls.items():
        if control["kind"] == "comment" and name in values:
            _read_comment(annotation, values[name])
        if control["kind"] not in VALUED or times[name] > 1:
            continue
        key = control["construct"]
        if name not in values:
            annotation.invalid.append(InvalidValue(key, None, MISSING))
            continue
        if control["kind"] != "number":
            read_preferences(annotation, name, control, values[name], compared)
            continue
        number = _number(control, values[name])
        problem = _problem(number, scales.get(key))
        if problem is not None:
            annotation.invalid.append(InvalidValue(key, _as_json(number), problem))
            continue
        annotation.answers.append(
            ConstructAnswer(
                key,
                control["construct_version"],
                float(number),
                flags.get(key, ()),
                opened.get(name, ()),
            )
        )
    if annotation.comment is not None and not (
        annotation.answers or annotation.preferences or annotation.marks
    ):
        value = _as_json(annotation.comment)
        annotation.invalid.append(InvalidValue(None, value, COMMENT_ONLY))


def _read_requests(
    annotation: Annotation,
    results: list[Mapping[str, Any]],
    controls: Mapping[str, Mapping[str, Any]],
) -> dict[str, tuple[Sees, ...]]:
    """Read which texts were opened; return those that were open when a control was first used.

    Label Studio lists the results of an annotation in the order of the first use of controls.
    """
    opened: dict[str, tuple[Sees, ...]] = {}
    for result in results:
        name = str(result.get("from_name"))
        opened.setdefault(name, annotation.opened)
        control = controls.get(name, {})
        if control.get("kind") == "request":
            annotation.opened += tuple(control["fields"])
    return opened


def _read_marks(
    annotation: Annotation,
    results: list[Mapping[str, Any]],
    controls: Mapping[str, Mapping[str, Any]],
    opened: Mapping[str, tuple[Sees, ...]],
) -> None:
    """Read the labels on the response.

    Where a box says that there is nothing to mark (`none`), an annotation without a label has an
    empty set of marks if exactly this is ticked, and otherwise none; elsewhere it has an empty set.
    """
    for name, control in controls.items():
        if control["kind"] != "marks":
            continue
        # An empty list is a box that is not ticked.
        ticked = [
            choice
            for result in results
            if "none" in control and result["from_name"] == control["none"]
            for choice in _ticked(result.get("value"))
        ]
        if any(choice != NOTHING_TO_MARK for choice in ticked):
            annotation.invalid.append(InvalidValue(None, _as_json(ticked), UNKNOWN_CHOICE))
        parts: dict[str, list[Mapping[str, Any]]] = {
            key: [] for key in control["labels"].values() if key
        }
        for result in results:
            for label in text_labels(result) if result["from_name"] == name else ():
                key = control["labels"].get(label)
                if key:
                    parts[key].append(result["value"])
                elif key is None:
                    reason = f"labels {storable_text(label)!r} without a construct"
                    annotation.invalid.append(InvalidValue(None, _as_json(label), reason))
        for key, places in parts.items():
            if places and ticked:
                annotation.invalid.append(InvalidValue(None, _as_json(places), MARKED_AND_NONE))
            elif places or "none" not in control or ticked == [NOTHING_TO_MARK]:
                version = control["versions"][key]
                marks = MarkedParts(
                    key, version, tuple(places), opened.get(name, annotation.opened)
                )
                annotation.marks.append(marks)


def text_labels(result: Any) -> list[str]:
    """Return the labels of a result that are on a text."""
    value = result.get("value") if isinstance(result, dict) else None
    labels = value.get("labels") if isinstance(value, dict) else None
    return [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []


def _number(control: Mapping[str, Any], value: Mapping[str, Any]) -> Any:
    """Return the number of a result, unchecked: typed, of a label, or the point that is ticked."""
    if "labels" in control:
        chosen = choice_labels(value)
        if len(chosen) == 1 and chosen[0] in control["labels"]:
            return control["labels"][chosen[0]]
        return value.get("choices")
    if "points" not in control or "choices" not in value:
        return number_in(value)
    match value.get("choices"):
        case [point] if point in control["points"]:
            return float(point)
        case other:
            return other


def _ticked(value: Any) -> list[Any]:
    """Return the boxes that are ticked, unchecked; they should be texts."""
    ticked = (value.get("choices") if isinstance(value, dict) else value) or []
    return ticked if isinstance(ticked, list) else [ticked]


def _read_flags(
    annotation: Annotation, offered: list[str], value: Mapping[str, Any]
) -> tuple[str, ...]:
    ticked = _ticked(value)
    displayed = {flag: plain_text(flag) for flag in offered}
    unknown = [choice for choice in ticked if choice not in displayed.values()]
    if unknown:
        annotation.invalid.append(InvalidValue(None, _as_json(unknown), UNKNOWN_FLAG))
    return tuple(flag for flag, text in displayed.items() if text in ticked)


def _read_comment(annotation: Annotation, value: Mapping[str, Any]) -> None:
    texts = value.get("text") or []
    parts = texts if isinstance(texts, list) else [texts]
    text = "\n".join(part if isinstance(part, str) else _as_json(part) for part in parts)
    if not text.strip():
        return
    try:
        storable(text)
    except ValueError:
        annotation.invalid.append(InvalidValue(None, _as_json(text), NOT_STORABLE))
        return
    comment = "\n".join(part for part in (annotation.comment, text) if part)
    if len(comment) > _MAX_COMMENT:
        annotation.invalid.append(InvalidValue(None, _as_json(text), TOO_LONG))
        return
    annotation.comment = comment


def _problem(number: Any, scale: RatingScale | None) -> str | None:
    if isinstance(number, float) and not math.isfinite(number) and scale is not None:
        return scale.problem(number)
    if not is_number(number):
        return NO_NUMBER
    if scale is None:
        return None
    return scale.problem(float(number)) or scale.off_grid(float(number))


def _as_json(value: Any) -> str:
    # ASCII: characters that a database cannot store are written as escapes.
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
