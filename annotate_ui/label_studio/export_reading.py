"""How the export of any project is read, of a file or a server: controls, values, what counts."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_reader import AnnotationReader, list_problem
from annotate_ui.label_studio.annotations import (
    Annotation,
    InvalidValue,
    UnreadableAnnotation,
    as_integer,
    parse_time,
    storable_text,
    user_number,
)
from annotate_ui.label_studio.export_controls import map_controls, mark_controls
from annotate_ui.label_studio.export_inventory import ExportControl
from annotate_ui.label_studio.reasons import (
    JUDGE,
    PREDICTED,
    PREDICTIONS,
    counting,
    is_reference,
    predictions_of,
)
from annotate_ui.label_studio.task_content import TaskContent, unplaced
from annotate_ui.label_studio.value_ranges import value_range
from study.errors import Fault
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource


@dataclass(frozen=True)
class ExportReading:
    """The controls of an export, and the reader of its annotations."""

    inventory: Mapping[str, ExportControl]
    kinds: dict[str, str]
    """Construct to the kind of the control that gives it a value."""
    reader: AnnotationReader
    """Its controls are those that rate or mark."""

    def unplaced(self, annotation: Annotation, content: TaskContent) -> Fault | None:
        """Return a fault if a task does not name the responses that its values are of."""
        keys = {answer.construct_key for answer in annotation.answers}
        keys |= {pair.construct_key for pair in annotation.preferences}
        keys |= {invalid.construct_key or "" for invalid in annotation.invalid}
        kinds = {self.kinds[key] for key in keys if key in self.kinds}
        if annotation.marks:
            kinds.add("number")
        return unplaced(content, kinds)

    def stated_ranges(self) -> dict[str, str]:
        """Return the range that the project states for each control, and what becomes of it."""
        words: dict[str, str] = {}
        for name, meaning in self.reader.controls.items():
            stated = self.inventory[name].stated
            if meaning["kind"] != "number" or stated == (None, None):
                continue
            key = meaning["construct"]
            used = self.reader.ranges.get(key)
            scale = self.reader.scales[key]
            source = scale if used is None else used.source
            words[name] = f"{source.min:g} to {source.max:g}, " + (
                f"as {key}"
                if (source.min, source.max) == (scale.min, scale.max)
                else f"mapped to {key} from {scale.min:g} to {scale.max:g}"
            )
        return words

    def left_out(self, invalid: InvalidValue) -> str:
        """Return how a value that belongs to no construct is counted."""
        name = invalid.reason.removeprefix(f"{reasons.UNKNOWN_CONTROL}: ")
        if name == invalid.reason:
            return name
        control = self.inventory.get(name)
        if control is None or control.rates:
            return f"results of the control {name!r}"
        return f"results of the control {name!r}, which gives {control} rather than numbers"


def export_reading(
    source: RecordSource,
    inventory: Mapping[str, ExportControl],
    options: FormatOptions,
    versions: Mapping[str, int] | None = None,
) -> ExportReading:
    """Return how an export with these controls is read.

    Parameters
    ----------
    versions
        Construct to the version under which values are stored; default: 1.

    Raises
    ------
    InputError
        A control is not mapped, or the options contradict it; with all faults.
    """
    of_marks = mark_controls(inventory, options)
    rating = map_controls(source, inventory, options, of_marks)
    ranges = {}
    for name, meaning in rating.items():
        key = str(meaning["construct"])
        if meaning["kind"] == "number" and (
            used_range := value_range(name, key, inventory, options)
        ):
            ranges[key] = used_range
    known = versions or {}
    for meaning in rating.values():
        meaning["construct_version"] = known.get(meaning["construct"], 1)
    for meaning in of_marks.values():
        meaning["versions"] = {key: known.get(key, 1) for key in meaning["versions"]}
    kinds = {meaning["construct"]: str(meaning["kind"]) for meaning in rating.values()}
    scales = options.scales, options.preference_scale
    return ExportReading(
        inventory, kinds, AnnotationReader({**rating, **of_marks}, *scales, ranges)
    )


DRAFTS = "drafts, which are not ratings"
EDITED_BY_OTHER = "annotations that another user changed last, imported as their author's"
EARLIER_PREDICTIONS = "predictions of a task that the same model predicted again later"
SUPERSEDED = "annotations of a task that the same user annotated again later"
NO_MODEL = "predictions without a model_version, which names the judge"
# Number of places that are listed for each reason.
_LISTED = 5


class CountedAnnotation(NamedTuple):
    """An annotation that counts, and as what."""

    annotation: Annotation
    is_reference: bool = False
    model: str | None = None
    """Name of the model that made it; None: a person did."""


@dataclass(slots=True)
class Annotations:
    """Reads the annotations of an export's tasks, and counts those that are left out."""

    source: RecordSource
    reading: ExportReading
    scorers: Mapping[int, str | None]
    """User to the person they are; several accounts may be one person's."""
    taken: Mapping[str, str]
    """Kinds of annotations that count, and as what; see `annotation_kinds`."""
    count: int = 0
    """Number of annotations of the tasks, including those that are left out."""
    _unreadable: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Reason to places."""

    def of(self, content: TaskContent) -> Iterator[CountedAnnotation | Fault]:
        """Yield the latest annotation of each user who did a task, and of each model.

        A user may have given both a reference and a rating.
        """
        record, task = content.record, content.record.cells
        problem = list_problem(task)
        if problem is not None:
            yield Fault(f"task {task['id']}: {problem}", "Export the project again.", record.number)
            return
        left_out = self.source.report.left_out
        everything = task.get("annotations") or []
        self.count += len(everything)
        candidates = [(raw, None) for raw in counting(everything, self.taken, left_out)]
        counts = Counter({DRAFTS: len(task.get("drafts") or [])})
        predictions = [(raw, _model(raw)) for raw in predictions_of(task)]
        if self.taken.get(PREDICTED) != JUDGE:
            counts[PREDICTIONS] = len(predictions)
            predictions = []
        left_out.update(+counts)
        given: dict[Any, list[tuple[CountedAnnotation, bool]]] = defaultdict(list)
        for raw, model in [*candidates, *predictions]:
            timed = _with_time(raw)
            read = self.reading.reader.read_one(timed, task, content.compared)
            if isinstance(read, UnreadableAnnotation):
                number = "?" if read.number is None else read.number
                place = f"row {record.number}: task {task['id']}, annotation {number}"
                if model is None:
                    self._unreadable[_unreadable_reason(raw)].append(place)
                else:
                    left_out["unreadable predictions"] += 1
            elif model == "":
                left_out[NO_MODEL] += 1
            else:
                user, reference = read.user, model is None and is_reference(raw, self.taken)
                person = user if user is None else self.scorers.get(user) or user
                counted = CountedAnnotation(read, reference, model)
                given[person, reference, model].append((counted, timed is raw))
                self.source.report.rules.update([EDITED_BY_OTHER] * read.edited_by_other)
        for (person, _, model), some in given.items():
            untimed = [counted.annotation.number for counted, timed in some if not timed]
            if person is None and model is None:
                # Deleted accounts: they may be different people.
                yield from (counted for counted, _ in some)
            elif model is None and untimed and len(some) > 1:
                yield Fault(
                    f"user {some[0][0].annotation.user} annotated task {task['id']} {len(some)} "
                    f"times; the latest counts, but annotation {untimed[0]} has no time (with a "
                    "time zone).",
                    "Export the project again, or remove the others.",
                    record.number,
                )
            else:
                earlier = SUPERSEDED if model is None else EARLIER_PREDICTIONS
                left_out.update([earlier] * (len(some) - 1))
                yield max((counted for counted, _ in some), key=lambda one: one.annotation.recency)

    def report_unreadable(self) -> None:
        """Report the number of unreadable annotations by reason, with their places."""
        for reason, places in self._unreadable.items():
            more = f"; and {len(places) - _LISTED} more" if len(places) > _LISTED else ""
            self.source.report.left_out[
                f"unreadable annotations: {reason} ({'; '.join(places[:_LISTED])}{more})"
            ] += len(places)


def _model(prediction: Any) -> str:
    """Return the name of the model of a prediction; empty: it has none."""
    named = prediction.get("model_version") if isinstance(prediction, dict) else None
    return storable_text(str(named or "")).strip()


def _with_time(raw: Any) -> Any:
    """Return an annotation with a time; it is needed only to compare several."""
    if not isinstance(raw, dict) or "id" not in raw:
        return raw
    try:
        parse_time(raw["created_at"])
        parse_time(raw.get("updated_at") or raw["created_at"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return {**raw, "created_at": "1970-01-01T00:00:00Z", "updated_at": None}
    return raw


def _unreadable_reason(raw: Any) -> str:
    """Return why an annotation is unreadable, without its content, which may name people."""
    if not isinstance(raw, dict):
        return "not an object"
    if as_integer(raw.get("id")) is None:
        return "no number (id)"
    if "completed_by" not in raw:
        return "no user (completed_by)"
    if as_integer(user_number(raw["completed_by"])) is None:
        return "completed_by is not the number of a user"
    return "result is not a list of results"
