"""Reading annotations: each result by what its control means, of pushed projects and of others.

Values are checked here, and each that cannot become a rating is returned with its reason.
"""

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from annotate_ui.label_studio import NAME, reasons
from annotate_ui.label_studio.annotations import (
    UNPLACED,
    Annotation,
    Answer,
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
from annotate_ui.label_studio.value_ranges import ValueRange
from study.base.scales import Scale
from study.types import storable

_MAX_COMMENT = 5000
_COMPARING = frozenset({"preference", "ranking"})
VALUED = frozenset({"number", *_COMPARING})
"""Kinds of controls that give a construct a value."""
_PAIRWISE = {"left": -1.0, "right": 1.0}
"""Preference by the side that a Pairwise selects: positive where b, on the right, is better."""
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

Control = Mapping[str, Any]
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
    ranges: Mapping[str, ValueRange] = field(default_factory=dict)
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
            self._read_skip(annotation, compared)
        else:
            self._read_results(annotation, raw.get("result") or [], compared)
        return annotation

    def _read_skip(self, annotation: Annotation, compared: Compared) -> None:
        for control in self.controls.values():
            kind = control["kind"]
            if kind not in VALUED:
                continue
            pairs = combinations(compared.get(kind, ()), 2) if kind in _COMPARING else [None]
            annotation.answers += [_answer(control, None, pair=pair) for pair in pairs]

    def _read_results(
        self, annotation: Annotation, results: Sequence[Mapping[str, Any]], compared: Compared
    ) -> None:
        given = self._by_control(annotation, results)
        flags: dict[str, tuple[str, ...]] = {}
        # Remarks come before the values that they are stored with.
        ordered = sorted(self.controls.items(), key=lambda item: item[1]["kind"] != "flags")
        for name, control in ordered:
            kind, values = control["kind"], given[name]
            if kind == "marks":
                ticks = [box for value in given[control.get("none", "")] for box in ticked(value)]
                _read_marks(annotation, control, values, ticks)
                continue
            if len(values) != 1:
                key = control["construct"] if kind in VALUED else None
                if kind in VALUED and not values:
                    annotation.reject(key, None, reasons.MISSING)
                for value in values:
                    annotation.reject(key, value, reasons.ENTERED_TWICE)
                continue
            value = values[0] if isinstance(values[0], dict) else {}
            names = compared.get(kind, ())
            if kind == "flags":
                flags[control["construct"]] = _flags(annotation, control, value)
            elif kind == "comment":
                _read_comment(annotation, value)
            elif kind == "number":
                remarks = flags.get(control["construct"], ())
                self._read_number(annotation, control, value, remarks)
            elif kind == "preference":
                self._read_preference(annotation, control, value, names)
            elif kind == "ranking":
                _read_ranking(annotation, name, control, value, names)
        if annotation.comment is not None and not annotation.answers:
            annotation.reject(None, annotation.comment, reasons.COMMENT_ONLY)

    def _by_control(
        self, annotation: Annotation, results: Sequence[Mapping[str, Any]]
    ) -> dict[str, list[Any]]:
        """Return the values of each control."""
        given: dict[str, list[Any]] = defaultdict(list)
        for result in results:
            if "from_name" not in result:
                continue  # A relation between results has no control.
            name, value = str(result["from_name"]), result.get("value")
            if name in self.controls:
                given[name].append(value)
            else:
                reason = f"{reasons.UNKNOWN_CONTROL}: {storable_text(name)[:100]}"
                annotation.reject(None, value, reason)
        return given

    def _read_number(
        self,
        annotation: Annotation,
        control: Control,
        value: Mapping[str, Any],
        flags: tuple[str, ...],
    ) -> None:
        key, number = control["construct"], _number(control, value)
        given = self.ranges.get(key)
        problem = _problem(number, self.scales.get(key) if given is None else given.source)
        if problem is None and given is not None:
            problem = given.off_grid(number)
        if problem is not None:
            annotation.reject(key, number, problem)
            return
        answer = float(number) if given is None else given.mapped(float(number))
        annotation.answers.append(_answer(control, answer, flags=flags))

    def _read_preference(
        self,
        annotation: Annotation,
        control: Control,
        value: Mapping[str, Any],
        names: Collection[str],
    ) -> None:
        key = control["construct"]
        chosen = choice_labels(value) if "labels" in control else [value.get("selected")]
        selected = chosen[0] if len(chosen) == 1 else chosen
        better = None
        if isinstance(selected, str):
            better = control.get("labels", _PAIRWISE).get(selected)
        if better is None:
            annotation.reject(key, selected, reasons.NO_NUMBER)
        elif len(names) != 2:
            annotation.reject(key, selected, reasons.UNNAMED)
        elif (problem := _problem(better, self.preferences)) is not None:
            annotation.reject(key, better, problem)
        else:
            first, second = names
            annotation.answers.append(_answer(control, float(better), pair=(first, second)))


def _answer(control: Control, value: float | None, **more: Any) -> Answer:
    return Answer(control["construct"], control["construct_version"], value, **more)


def _unreadable(raw: Any) -> str | None:
    """Return why an annotation is no annotation of a user; None: it is one."""
    if not isinstance(raw, dict):
        return "not an object"
    if as_integer(raw.get("id")) is None:
        return "no number (id)"
    if "completed_by" not in raw:
        return "no user (completed_by)"
    user, results = user_number(raw["completed_by"]), raw.get("result") or []
    if user is not None and as_integer(user) is None:
        return "completed_by is not the number of a user"
    if not isinstance(results, list) or len(dicts(results)) < len(results):
        return "result is not a list of results"
    return None


def _without_results(raw: Mapping[str, Any], task: Mapping[str, Any]) -> Annotation:
    user, editor = (as_integer(user_number(raw.get(n))) for n in ("completed_by", "updated_by"))
    lead, data = raw.get("lead_time"), task.get("data")
    name = data.get(NAME) if isinstance(data, dict) else None
    created = _time(raw.get("created_at"))
    return Annotation(
        number=raw["id"],
        task=int(task["id"]),
        name=name if isinstance(name, str) else None,
        user=user,
        created=created,
        updated=created if raw.get("updated_at") is None else _time(raw["updated_at"]),
        lead_seconds=float(lead) if lead is not None and is_number(lead) and lead >= 0 else None,
        skipped=raw.get("was_cancelled") is True,
        prefilled=reasons.is_prefilled(raw),
        edited_by_other=user is not None and editor not in {None, user},
    )


def _time(text: Any) -> datetime:
    """Return a time that an annotation states, which a file may lack; then the earliest one.

    Times decide between several annotations of a task, of which a later one has a higher number.
    """
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return _NEVER
    return _NEVER if time.tzinfo is None else time


def _number(control: Control, value: Mapping[str, Any]) -> Any:
    """Return the number of a result, unchecked: typed, or that of the choice that is ticked."""
    if "labels" not in control or "choices" not in value:
        return number_in(value)
    chosen = choice_labels(value)
    if len(chosen) == 1 and chosen[0] in control["labels"]:
        return control["labels"][chosen[0]]
    return value["choices"]


def _problem(number: Any, scale: Scale | None) -> str | None:
    if isinstance(number, float) and not math.isfinite(number) and scale is not None:
        return scale.problem(number)
    if not is_number(number):
        return reasons.NO_NUMBER
    if scale is None:
        return None
    return scale.problem(float(number)) or scale.off_grid(float(number))


def _read_ranking(
    annotation: Annotation,
    name: str,
    control: Control,
    value: Mapping[str, Any],
    names: Collection[str],
) -> None:
    places = _places(name, control, value, names)
    if not places:
        annotation.reject(control["construct"], value.get("ranker"), reasons.NO_RANKING)
    for pair in combinations([item for item in names if item in places], 2):
        first, second = places[pair[0]], places[pair[1]]
        better = float((second > first) - (second < first))
        annotation.answers.append(_answer(control, better, pair=pair))


def _places(
    name: str, control: Control, value: Mapping[str, Any], names: Collection[str]
) -> dict[str, float]:
    """Return a number of each ranked item, higher where it is better; none: it is not a ranking.

    Items of one bucket are tied; items that are in none are left out.
    """
    places: dict[str, float] = {}
    for group, items in groups_of(value).items():
        if group == UNPLACED:
            continue
        if group != name and group not in control.get("labels", {}):
            return {}
        for place, item in enumerate(items):
            if not isinstance(item, str) or item not in names or item in places:
                return {}
            places[item] = control["labels"][group] if group != name else -float(place)
    return places


def _read_marks(
    annotation: Annotation,
    control: Control,
    values: Sequence[Any],
    ticks: Sequence[Any],
) -> None:
    """Read the labels on the response.

    Where a box says that there is nothing to mark (`none`), an annotation without a label has an
    empty set of marks if exactly this is ticked, and otherwise none; elsewhere it has an empty set.
    """
    if any(choice != NOTHING_TO_MARK for choice in ticks):
        annotation.reject(None, ticks, reasons.UNKNOWN_CHOICE)
    unlabeled = [value for value in values if not text_labels(value)]
    for value in unlabeled:
        annotation.reject(None, value, reasons.NO_LABEL)
    parts: dict[str, list[Mapping[str, Any]]] = {k: [] for k in control["labels"].values() if k}
    for value in values:
        for label in text_labels(value):
            key = control["labels"].get(label)
            if key:
                parts[key].append(value)
            elif key is None:
                reason = f"labels {storable_text(label)!r} without a construct"
                annotation.reject(None, label, reason)
    for key, places in parts.items():
        if places and ticks:
            annotation.reject(None, places, reasons.MARKED_AND_NONE)
        elif not places and unlabeled:
            continue  # What was marked is unknown, so it is not true that nothing was.
        elif places or "none" not in control or ticks == [NOTHING_TO_MARK]:
            annotation.answers.append(Answer(key, control["versions"][key], parts=tuple(places)))


def _flags(annotation: Annotation, control: Control, value: Any) -> tuple[str, ...]:
    boxes = ticked(value)
    displayed = {flag: plain_text(flag) for flag in control["flags"]}
    unknown = [choice for choice in boxes if choice not in displayed.values()]
    if unknown:
        annotation.reject(None, unknown, reasons.UNKNOWN_FLAG)
    return tuple(flag for flag, text in displayed.items() if text in boxes)


def _read_comment(annotation: Annotation, value: Mapping[str, Any]) -> None:
    texts = value.get("text") or []
    parts = texts if isinstance(texts, list) else [texts]
    text = "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts)
    if not text.strip():
        return
    try:
        annotation.comment = storable(text)
    except ValueError:
        annotation.reject(None, text, reasons.NOT_STORABLE)
        return
    if len(text) > _MAX_COMMENT:
        annotation.comment = None
        annotation.reject(None, text, reasons.TOO_LONG)
