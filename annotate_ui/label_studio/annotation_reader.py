"""Reading annotations: each result by what its control means, of pushed projects and of others.

Label Studio does not validate values: a number may arrive as text, be outside the scale or be
missing. Values are checked here, and each that cannot become a rating is returned with its reason.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from annotate_ui.label_studio import NAME, reasons
from annotate_ui.label_studio.annotations import (
    UNPLACED,
    Annotation,
    ComparedPair,
    ConstructAnswer,
    InvalidValue,
    MarkedParts,
    UnreadableAnnotation,
    as_integer,
    as_json,
    choice_labels,
    groups_of,
    is_number,
    number_in,
    parse_time,
    storable_text,
    text_labels,
    ticked,
    user_number,
)
from annotate_ui.label_studio.page import NOTHING_TO_MARK, plain_text
from annotate_ui.label_studio.reasons import is_prefilled
from annotate_ui.label_studio.value_ranges import ValueRange
from study.base.scales import Scale
from study.errors import StudyError
from study.text import abbreviate
from study.types import storable

_MAX_COMMENT = 5000
_COMPARING = frozenset({"preference", "ranking"})
VALUED = frozenset({"number", *_COMPARING})
"""Kinds of controls that give a construct a value."""
_PAIRWISE = {"left": -1.0, "right": 1.0}
"""Preference by the side that a Pairwise selects: positive where b, on the right, is better."""

Control = Mapping[str, Any]
Compared = Mapping[str, Collection[str]]
"""Names of a task's responses that are compared, by the kind of control: the left and the right one
(`preference`), or the items of a list (`ranking`)."""


def list_problem(task: Mapping[str, Any]) -> str | None:
    """Return a message if a task's annotations or drafts are not a list, else None."""
    for name in ("annotations", "drafts"):
        if not isinstance(task.get(name) or [], list):
            return f"its {name} are {abbreviate(task[name])}, which is not a list."
    return None


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

    def read(
        self, task: Mapping[str, Any], compared: Compared
    ) -> tuple[list[Annotation], list[UnreadableAnnotation]]:
        """Return a task's annotations, and its unreadable ones.

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
        read = [self.read_one(raw, task, compared) for raw in task.get("annotations") or []]
        unreadable = [one for one in read if isinstance(one, UnreadableAnnotation)]
        return [one for one in read if isinstance(one, Annotation)], unreadable

    def read_one(
        self, raw: Any, task: Mapping[str, Any], compared: Compared
    ) -> Annotation | UnreadableAnnotation:
        """Return an annotation of a task."""
        try:
            annotation = _without_results(raw, task)
            if annotation.skipped:
                self._read_skip(annotation, compared)
            else:
                self._read_results(annotation, raw.get("result") or [], compared)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return _unreadable(raw, task.get("id"))
        return annotation

    def _read_skip(self, annotation: Annotation, compared: Compared) -> None:
        for control in self.controls.values():
            kind = control["kind"]
            if kind == "number":
                answer = ConstructAnswer(control["construct"], control["construct_version"], None)
                annotation.answers.append(answer)
            elif kind in _COMPARING:
                for first, second in combinations(compared.get(kind, ()), 2):
                    pair = ComparedPair(control["construct"], first, second, None)
                    annotation.preferences.append(pair)

    def _read_results(
        self, annotation: Annotation, results: Sequence[Mapping[str, Any]], compared: Compared
    ) -> None:
        given = self._by_control(annotation, results)
        flags: dict[str, tuple[str, ...]] = {}
        # Remarks come before the values that they are stored with.
        ordered = sorted(self.controls.items(), key=lambda item: item[1]["kind"] != "flags")
        for name, control in ordered:
            kind = control["kind"]
            if kind == "marks":
                ticks = [box for value in given[control.get("none", "")] for box in ticked(value)]
                _read_marks(annotation, control, given[name], ticks)
                continue
            key = control["construct"] if kind in VALUED else None
            if len(given[name]) != 1:
                if kind in VALUED and not given[name]:
                    annotation.reject(key, None, reasons.MISSING)
                for value in given[name]:
                    annotation.reject(key, value, reasons.ENTERED_TWICE)
                continue
            value = given[name][0] if isinstance(given[name][0], dict) else {}
            if kind == "flags":
                flags[control["construct"]] = _flags(annotation, control, value)
            elif kind == "comment":
                _read_comment(annotation, value)
            elif kind == "number":
                remarks = flags.get(control["construct"], ())
                self._read_number(annotation, control, value, remarks)
            elif kind == "preference":
                self._read_preference(annotation, control, value, compared.get(kind, ()))
            elif kind == "ranking":
                _read_ranking(annotation, name, control, value, compared.get(kind, ()))
        if annotation.comment is not None and not (
            annotation.answers or annotation.preferences or annotation.marks
        ):
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
            control = self.controls.get(name)
            if control is None:
                reason = f"{reasons.UNKNOWN_CONTROL}: {storable_text(name)[:100]}"
                annotation.reject(None, value, reason)
                continue
            given[name].append(value)
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
        version = control["construct_version"]
        annotation.answers.append(ConstructAnswer(key, version, answer, flags))

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
            annotation.preferences.append(ComparedPair(key, first, second, float(better)))


def _without_results(raw: Mapping[str, Any], task: Mapping[str, Any]) -> Annotation:
    user = user_number(raw["completed_by"])
    if user is not None and as_integer(user) is None:
        raise ValueError(f"{user!r} is not a user")
    editor = as_integer(user_number(raw.get("updated_by")))
    lead = raw.get("lead_time")
    data = task.get("data")
    name = data.get(NAME) if isinstance(data, dict) else None
    return Annotation(
        number=int(raw["id"]),
        task=int(task["id"]),
        name=name if isinstance(name, str) else None,
        user=user,
        created=parse_time(raw["created_at"]),
        updated=parse_time(raw.get("updated_at") or raw["created_at"]),
        lead_seconds=float(lead) if lead is not None and is_number(lead) and lead >= 0 else None,
        skipped=raw.get("was_cancelled") is True,
        prefilled=is_prefilled(raw),
        edited_by_other=user is not None and editor not in {None, user},
    )


def _unreadable(raw: Any, task: Any) -> UnreadableAnnotation:
    # Only these fields are stored: others, and the text of the error, may name people.
    fields = raw if isinstance(raw, dict) else {}
    number, user = as_integer(fields.get("id")), as_integer(user_number(fields.get("completed_by")))
    value = as_json({"id": number, "user": user, "result": fields.get("result")})
    return UnreadableAnnotation(
        number, as_integer(task), user, InvalidValue(None, value, reasons.UNREADABLE)
    )


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
    for first, second in combinations([item for item in names if item in places], 2):
        better = (places[second] > places[first]) - (places[second] < places[first])
        pair = ComparedPair(control["construct"], first, second, float(better))
        annotation.preferences.append(pair)


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
            if item not in names or item in places:
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
            marks = MarkedParts(key, control["versions"][key], tuple(places))
            annotation.marks.append(marks)


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
    text = "\n".join(part if isinstance(part, str) else as_json(part) for part in parts)
    if not text.strip():
        return
    try:
        storable(text)
    except ValueError:
        annotation.reject(None, text, reasons.NOT_STORABLE)
        return
    comment = "\n".join(part for part in (annotation.comment, text) if part)
    if len(comment) > _MAX_COMMENT:
        annotation.reject(None, text, reasons.TOO_LONG)
        return
    annotation.comment = comment
