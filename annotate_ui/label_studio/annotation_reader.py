"""Reading annotations: each result by what its control means, of pushed projects and of others.

Values are checked here, and each that cannot become a rating is returned with its reason.
"""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from annotate_ui.label_studio import NAME, reasons
from annotate_ui.label_studio.annotations import (
    UNPLACED,
    Annotation,
    Given,
    InvalidValue,
    as_integer,
    choice_labels,
    dicts,
    groups_of,
    is_number,
    number_in,
    storable_text,
    text_labels,
    ticked,
    user_number,
)
from annotate_ui.label_studio.page import NOTHING_TO_MARK, plain_text
from annotate_ui.label_studio.value_ranges import mapped
from study.base.scales import Scale
from study.importing.readers.cells import blank
from study.text import abbreviate
from study.types import storable

_MAX_COMMENT = 5000
_COMPARING = frozenset({"preference", "ranking"})
VALUED = frozenset({"number", *_COMPARING})
"""Kinds of controls that give a construct a value."""
_PAIRWISE = {"left": -1.0, "right": 1.0}
"""Preference by the side that a Pairwise selects: positive where b, on the right, is better."""
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Of an annotation that states no time, as in some files: it is the earliest."""

Control = Mapping[str, Any]
Read = Iterator[Given | InvalidValue]
Compared = Mapping[str, Collection[str]]
"""Names of a task's responses that are compared, by the kind of control: the left and the right one
(`preference`), or the items of a list (`ranking`)."""


def typed_constructs(controls: Mapping[str, Control]) -> set[str]:
    """Return the constructs whose values are typed into a field."""
    return {
        control["construct"]
        for control in controls.values()
        if control["kind"] == "number" and "labels" not in control
    }


@dataclass(frozen=True)
class AnnotationReader:
    """Reads the annotations of tasks."""

    controls: Mapping[str, Control]
    """What each control means, as `Configuration` describes it."""
    scales: Mapping[str, Scale]
    """Construct to the scale that its values are checked against."""
    preferences: Scale | None = None
    """The scale that preferences are checked against; None: they are not."""
    ranges: Mapping[str, Scale] = field(default_factory=dict)
    """Construct to the range on which its values were given, if it is not its scale."""

    def read(self, raw: Any, task: Mapping[str, Any], compared: Compared) -> Annotation | str:
        """Return an annotation of a task, or why it cannot be read.

        The reason contains nothing of the annotation, which may name people.
        """
        problem = _unreadable(raw)
        if problem is not None:
            return problem
        annotation = _without_results(raw, task)
        if annotation.skipped:
            for control in self.controls.values():
                kind = control["kind"]
                pairs = combinations(compared.get(kind, ()), 2) if kind in _COMPARING else [None]
                if kind in VALUED:
                    annotation.answers += [_answer(control, None, pair=pair) for pair in pairs]
            return annotation
        for read in self._read_results(annotation, raw.get("result") or [], compared):
            if isinstance(read, Given):
                annotation.answers.append(read)
            else:
                annotation.invalid.append(read)
        if annotation.comment is not None and not annotation.answers:
            comment_only = InvalidValue.of(None, annotation.comment, reasons.COMMENT_ONLY)
            annotation.invalid.append(comment_only)
        return annotation

    def _read_results(
        self, annotation: Annotation, results: Sequence[Control], compared: Compared
    ) -> Read:
        given: dict[str, list[Any]] = defaultdict(list)
        # A relation between results has no control.
        for result in (one for one in results if "from_name" in one):
            given[str(result["from_name"])].append(result.get("value"))
        for name in sorted(given.keys() - self.controls.keys()):
            reason = f"{reasons.UNKNOWN_CONTROL}: {storable_text(name)[:100]}"
            yield from (InvalidValue.of(None, value, reason) for value in given[name])
        flags: dict[str, tuple[str, ...]] = {}
        # Remarks come before the values that they are stored with.
        ordered = sorted(self.controls.items(), key=lambda item: item[1]["kind"] != "flags")
        for name, control in ordered:
            kind, values = control["kind"], given[name]
            if kind == "marks":
                ticks = [box for value in given[control.get("none", "")] for box in ticked(value)]
                yield from _marks(control, values, ticks)
            elif len(values) != 1:
                key = control["construct"] if kind in VALUED else None
                if kind in VALUED and not values:
                    yield InvalidValue.of(key, None, reasons.MISSING)
                yield from (InvalidValue.of(key, one, reasons.ENTERED_TWICE) for one in values)
            else:
                value = values[0] if isinstance(values[0], dict) else {}
                if kind == "flags":
                    yield from _flags(flags, control, value)
                elif kind == "comment":
                    yield from _comment(annotation, value)
                elif kind == "number":
                    yield self._number(control, value, flags.get(control["construct"], ()))
                elif kind == "preference":
                    yield self._preference(control, value, compared.get(kind, ()))
                elif kind == "ranking":
                    yield from _ranking(name, control, value, compared.get(kind, ()))

    def _number(
        self, control: Control, value: Control, flags: tuple[str, ...]
    ) -> Given | InvalidValue:
        key, number = control["construct"], number_in(value)
        if "labels" in control and "choices" in value:
            # The number of the choice that is ticked.
            chosen = choice_labels(value)
            is_known = len(chosen) == 1 and chosen[0] in control["labels"]
            number = control["labels"][chosen[0]] if is_known else value["choices"]
        scale, source = self.scales.get(key), self.ranges.get(key)
        problem = _problem(number, source or scale)
        if problem is None and source is not None and scale is not None:
            number, problem = mapped(float(number), source, scale)
        if problem is not None:
            return InvalidValue.of(key, number, problem)
        return _answer(control, float(number), flags=flags)

    def _preference(
        self, control: Control, value: Control, names: Collection[str]
    ) -> Given | InvalidValue:
        key = control["construct"]
        chosen = choice_labels(value) if "labels" in control else [value.get("selected")]
        selected = chosen[0] if len(chosen) == 1 else chosen
        better = None
        if isinstance(selected, str):
            better = control.get("labels", _PAIRWISE).get(selected)
        if better is None:
            return InvalidValue.of(key, selected, reasons.NO_NUMBER)
        if len(names) != 2:
            return InvalidValue.of(key, selected, reasons.UNNAMED)
        problem = _problem(better, self.preferences)
        if problem is not None:
            return InvalidValue.of(key, better, problem)
        first, second = names
        return _answer(control, float(better), pair=(first, second))


def _answer(control: Control, value: float | None, **more: Any) -> Given:
    return Given(control["construct"], control["construct_version"], value, **more)


def _unreadable(raw: Any) -> str | None:
    """Return why an annotation is no annotation of a user; None: it is one."""
    if not isinstance(raw, dict):
        return "not an object"
    if as_integer(raw.get("id")) is None:
        return "no number (id)"
    if "completed_by" not in raw:
        return "no user (completed_by)"
    user, results = user_number(raw["completed_by"]), raw.get("result") or []
    if raw["completed_by"] is not None and as_integer(user) is None:
        return "completed_by is not the number of a user"
    if not isinstance(results, list) or len(dicts(results)) < len(results):
        return "result is not a list of results"
    marks = (name for name in ("was_cancelled", "ground_truth") if name in raw)
    odd = next((name for name in marks if not isinstance(raw[name], bool | None)), None)
    return f"{odd} is neither true nor false" if odd else None


def _without_results(raw: Mapping[str, Any], task: Mapping[str, Any]) -> Annotation:
    user, editor = (as_integer(user_number(raw.get(n))) for n in ("completed_by", "updated_by"))
    lead, data = raw.get("lead_time"), task.get("data")
    name = data.get(NAME) if isinstance(data, dict) else None
    stated = {n: raw[n] for n in ("created_at", "updated_at") if not blank(raw.get(n))}
    times = {n: time for n, text in stated.items() if (time := _time(text)) is not None}
    created = times.get("created_at", times.get("updated_at", _NEVER))
    # The time of the last change tells which of several annotations is the latest.
    unread = [abbreviate(stated[n]) for n in [*stated][-1:] if n not in times]
    return Annotation(
        number=raw["id"],
        task=int(task["id"]),
        name=name if isinstance(name, str) else None,
        user=user,
        created=created,
        updated=times.get("updated_at", created),
        unread_time=unread[0] if unread else None,
        lead_seconds=float(lead) if lead is not None and is_number(lead) and lead >= 0 else None,
        skipped=raw.get("was_cancelled") is True,
        prefilled=reasons.is_prefilled(raw),
        edited_by_other=user is not None and editor not in {None, user},
    )


def _time(text: Any) -> datetime | None:
    """Return a time that an annotation states, in UTC if it names no zone; None if unreadable."""
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _problem(number: Any, scale: Scale | None) -> str | None:
    if isinstance(number, float) and not math.isfinite(number) and scale is not None:
        return scale.problem(number)
    if not is_number(number):
        return reasons.NO_NUMBER
    if scale is None:
        return None
    return scale.problem(float(number)) or scale.off_grid(float(number))


def _ranking(name: str, control: Control, value: Control, names: Collection[str]) -> Read:
    """Read the order of items; those of one bucket are tied, those in none are left out."""
    # A number of each ranked item, higher where it is better.
    places: dict[str, float] = {}
    groups = {group: items for group, items in groups_of(value).items() if group != UNPLACED}
    ranked = [item for items in groups.values() for item in items]
    known = all(group == name or group in control.get("labels", {}) for group in groups)
    if known and all(isinstance(item, str) and item in names for item in ranked):
        for group, items in groups.items():
            for place, item in enumerate(items):
                places[item] = -float(place) if group == name else control["labels"][group]
    if not places or len(places) < len(ranked):
        yield InvalidValue.of(control["construct"], value.get("ranker"), reasons.NO_RANKING)
        return
    for pair in combinations([item for item in names if item in places], 2):
        first, second = places[pair[0]], places[pair[1]]
        yield _answer(control, float((second > first) - (second < first)), pair=pair)


def _marks(control: Control, values: Sequence[Any], ticks: Sequence[Any]) -> Read:
    """Read the labels on the response.

    Where a box says that there is nothing to mark (`none`), an annotation without a label has an
    empty set of marks if exactly this is ticked, and otherwise none; elsewhere it has an empty set.
    """
    if any(choice != NOTHING_TO_MARK for choice in ticks):
        yield InvalidValue.of(None, ticks, reasons.UNKNOWN_CHOICE)
    unlabeled = [value for value in values if not text_labels(value)]
    yield from (InvalidValue.of(None, value, reasons.NO_LABEL) for value in unlabeled)
    parts: dict[str, list[Control]] = {key: [] for key in control["labels"].values() if key}
    for value in values:
        for label in text_labels(value):
            key = control["labels"].get(label)
            if key:
                parts[key].append(value)
            elif key is None:
                reason = f"labels {storable_text(label)!r} without a construct"
                yield InvalidValue.of(None, label, reason)
    for key, places in parts.items():
        if places and ticks:
            yield InvalidValue.of(None, places, reasons.MARKED_AND_NONE)
        elif not places and unlabeled:
            continue  # What was marked is unknown, so it is not true that nothing was.
        elif places or "none" not in control or ticks == [NOTHING_TO_MARK]:
            yield Given(key, control["versions"][key], parts=tuple(places))


def _flags(flags: dict[str, tuple[str, ...]], control: Control, value: Control) -> Read:
    boxes = ticked(value)
    shown = {flag: plain_text(flag) for flag in control["flags"]}
    unknown = [choice for choice in boxes if choice not in shown.values()]
    if unknown:
        yield InvalidValue.of(None, unknown, reasons.UNKNOWN_FLAG)
    flags[control["construct"]] = tuple(flag for flag, text in shown.items() if text in boxes)


def _comment(annotation: Annotation, value: Control) -> Read:
    texts = value.get("text") or []
    parts = texts if isinstance(texts, list) else [texts]
    text = "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts)
    try:
        if len(storable(text)) > _MAX_COMMENT:
            yield InvalidValue.of(None, text, reasons.TOO_LONG)
        elif text.strip():
            annotation.comment = text
    except ValueError:
        yield InvalidValue.of(None, text, reasons.NOT_STORABLE)
