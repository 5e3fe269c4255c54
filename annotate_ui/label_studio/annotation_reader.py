"""Reading an export of Label Studio: what each annotation says of each construct, checked here.

The server checks nothing: a number may come as text, lie outside of the scale or be missing.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotate_ui.label_studio.configuration import plain
from study.errors import StudyError
from study.scales import RatingScale
from study.text import abbreviate
from study.types import storable

SKIPPED = "skipped in Label Studio"
NO_NUMBER = "no number"
MISSING = "asked for and not given"
TWICE = "given twice in one annotation"
UNKNOWN_CONTROL = "of a control that was not pushed"
UNREADABLE = "an annotation that can't be read"
NO_REMARK = "no remark that was offered"
ALONE = "a comment without any value"
LONG = "longer than 5000 characters"
NOT_STORABLE = "holds characters that no database keeps"

_LONGEST = 5000


@dataclass(frozen=True, slots=True)
class ConstructAnswer:
    """What an annotation says of a construct."""

    construct_key: str
    construct_version: int
    value: float | None
    """None: the whole task was skipped."""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unfit:
    """What an annotation says and can't become a rating."""

    construct_key: str | None
    value: str | None
    """As JSON; None: there was nothing."""
    reason: str


@dataclass(frozen=True, slots=True)
class Unread:
    """An annotation that can't be read, with what of it can."""

    number: int | None
    task: int | None
    user: int | None
    unfit: Unfit


@dataclass(slots=True)
class Annotation:
    """One annotation of one task by one user."""

    number: int
    task: int
    name: str | None
    """Of the task, as it was pushed."""
    user: int | None
    """None: the account is deleted over there."""
    created: datetime
    updated: datetime
    lead_seconds: float | None
    """From opening the task to submitting it, for everything that it asks."""
    skipped: bool
    by_another: bool = False
    """Whether somebody else changed it last: over there every member may."""
    comment: str | None = None
    answers: list[ConstructAnswer] = field(default_factory=list)
    unfit: list[Unfit] = field(default_factory=list)


def read_task(
    task: Mapping[str, Any],
    name_field: str,
    controls: Mapping[str, Mapping[str, Any]],
    scales: Mapping[str, RatingScale],
) -> tuple[list[Annotation], list[Unread], int]:
    """Return a task's annotations, those that can't be read, and how many drafts it has.

    `scales` holds the scale of each construct; one that is gone is not checked any more.

    Raises
    ------
    StudyError
        The task's annotations or drafts are no list.
    """
    problem = unlisted(task)
    if problem is not None:
        raise StudyError(f"Task {whole(task.get('id'))} of an export: {problem} Export it again.")
    data = task.get("data")
    name = data.get(name_field) if isinstance(data, dict) else None
    found, unreadable = [], []
    for one in task.get("annotations") or []:
        try:
            found.append(_annotation(one, int(task["id"]), name, controls, scales))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            unreadable.append(_unread(one, task.get("id")))
    return found, unreadable, len(task.get("drafts") or [])


def unlisted(task: Mapping[str, Any]) -> str | None:
    """Say which of a task's lists is none; None where all are."""
    for name in ("annotations", "drafts"):
        if not isinstance(task.get(name) or [], list):
            return f"its {name} are {abbreviate(task[name])}, which is no list."
    return None


def _unread(one: Any, task: Any) -> Unread:
    # The rest of an annotation may name people, and so may what a fault says of it.
    told = one if isinstance(one, dict) else {}
    number, user = whole(told.get("id")), whole(user_of(told.get("completed_by")))
    kept = {"id": number, "user": user, "result": told.get("result")}
    return Unread(number, whole(task), user, Unfit(None, _raw(kept), UNREADABLE))


def whole(value: Any) -> int | None:
    """Return a whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def user_of(completed_by: Any) -> Any:
    """Return the number in what an annotation says of its user."""
    # Some exports hold the user with name and address, of which only the number is kept.
    return completed_by.get("id") if isinstance(completed_by, dict) else completed_by


def storable_text(text: str) -> str:
    """Return a text with what a database can't hold replaced."""
    return text.replace("\x00", "�").encode("utf-8", "replace").decode("utf-8")


def _annotation(
    one: Mapping[str, Any],
    task: int,
    name: Any,
    controls: Mapping[str, Mapping[str, Any]],
    scales: Mapping[str, RatingScale],
) -> Annotation:
    user = user_of(one["completed_by"])
    if user is not None and whole(user) is None:
        raise ValueError(f"{user!r} is no user")
    created = moment(one["created_at"])
    annotation = Annotation(
        number=int(one["id"]),
        task=task,
        name=name if isinstance(name, str) else None,
        user=user,
        created=created,
        updated=moment(one.get("updated_at") or one["created_at"]),
        lead_seconds=_seconds(one.get("lead_time")),
        skipped=one.get("was_cancelled") is True,
        by_another=user is not None and whole(user_of(one.get("updated_by"))) not in {None, user},
    )
    if annotation.skipped:
        annotation.answers = [
            ConstructAnswer(meaning["construct"], meaning["construct_version"], None)
            for meaning in controls.values()
            if meaning["kind"] == "number"
        ]
        return annotation
    _results(annotation, one.get("result") or [], controls, scales)
    return annotation


def _results(
    annotation: Annotation,
    results: list[Mapping[str, Any]],
    controls: Mapping[str, Mapping[str, Any]],
    scales: Mapping[str, RatingScale],
) -> None:
    # A relation between results says nothing of a control.
    results = [result for result in results if "from_name" in result]
    times = Counter(str(result.get("from_name")) for result in results)
    given: dict[str, Any] = {}
    for result in results:
        name = str(result.get("from_name"))
        meaning = controls.get(name, {})
        if meaning.get("kind") is None or times[name] > 1:
            reason = TWICE if meaning else f"{UNKNOWN_CONTROL}: {storable_text(name)[:100]}"
            key = meaning["construct"] if meaning.get("kind") == "number" else None
            annotation.unfit.append(Unfit(key, _raw(result.get("value")), reason))
        else:
            value = result.get("value")
            given[name] = value if isinstance(value, dict) else {}
    flags: dict[str, tuple[str, ...]] = {}
    for name, meaning in controls.items():
        if meaning["kind"] == "flags" and name in given:
            ticked = given[name].get("choices") or []
            ticked = ticked if isinstance(ticked, list) else [ticked]
            offered = {flag: plain(flag) for flag in meaning["flags"]}
            flags[meaning["construct"]] = tuple(
                f for f, abbreviate in offered.items() if abbreviate in ticked
            )
            strange = [flag for flag in ticked if flag not in offered.values()]
            if strange:
                annotation.unfit.append(Unfit(None, _raw(strange), NO_REMARK))
    for name, meaning in controls.items():
        if meaning["kind"] == "comment":
            _comment(annotation, given.get(name))
        if meaning["kind"] != "number" or times[name] > 1:
            continue
        key = meaning["construct"]
        if name not in given:
            annotation.unfit.append(Unfit(key, None, MISSING))
            continue
        # Stars come as a rating.
        number = given[name].get("number", given[name].get("rating"))
        problem = _problem(number, scales.get(key))
        if problem is not None:
            annotation.unfit.append(Unfit(key, _raw(number), problem))
            continue
        annotation.answers.append(
            ConstructAnswer(key, meaning["construct_version"], float(number), flags.get(key, ()))
        )
    if annotation.comment is not None and not annotation.answers:
        annotation.unfit.append(Unfit(None, _raw(annotation.comment), ALONE))


def _problem(number: Any, scale: RatingScale | None) -> str | None:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return NO_NUMBER
    if isinstance(number, int) and number.bit_length() > 1000:
        return NO_NUMBER
    if scale is None:
        return None if math.isfinite(number) else NO_NUMBER
    return scale.problem(float(number)) or scale.off_grid(float(number))


def _comment(annotation: Annotation, value: Any) -> None:
    if value is None:
        return
    texts = value.get("text") or []
    parts = texts if isinstance(texts, list) else [texts]
    text = "\n".join(part if isinstance(part, str) else _raw(part) for part in parts)
    if not text.strip():
        return
    try:
        storable(text)
    except ValueError:
        annotation.unfit.append(Unfit(None, _raw(text), NOT_STORABLE))
        return
    if len(text) > _LONGEST:
        annotation.unfit.append(Unfit(None, _raw(text), LONG))
        return
    annotation.comment = text


def _raw(value: Any) -> str:
    # ASCII: what no database holds is written with escapes.
    return json.dumps(value, ensure_ascii=True)


def moment(text: Any) -> datetime:
    """Return a time that an annotation says.

    Raises
    ------
    TypeError, ValueError
        It is none, or has no time zone.
    """
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return found


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
