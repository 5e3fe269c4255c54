"""How the export of any project is read, of a file or a server: controls, values, what counts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_kinds import (
    JUDGE,
    PREDICTED,
    PREDICTIONS,
    counting,
    is_reference,
    predictions_of,
)
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
from annotate_ui.label_studio.task_content import TaskContent, unplaced
from annotate_ui.label_studio.value_ranges import ValueRange, value_range
from study.base.scales import Scale
from study.errors import Fault
from study.importing.importers import FormatOptions
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource


@dataclass(frozen=True)
class ExportReading:
    """The controls of an export, and the reader of its annotations."""

    inventory: Mapping[str, ExportControl]
    controls: dict[str, dict[str, Any]]
    """Those that rate or mark, as `AnnotationReader` takes them."""
    ranges: dict[str, ValueRange]
    """Construct to the range on which its values were given, if it is not its scale."""
    kinds: dict[str, str]
    """Construct to the kind of the control that gives it a value."""
    scales: Mapping[str, Scale]
    """Construct to its scale."""
    reader: AnnotationReader

    def read(
        self, task: Mapping[str, Any], content: TaskContent
    ) -> tuple[list[Annotation], list[UnreadableAnnotation]]:
        """Return a task's annotations on the scales of their constructs, and as `read` does."""
        compared = {kind: tuple(named) for kind, named in content.compared.items()}
        annotations, unreadable = self.reader.read(task, compared)
        return [self._mapped(annotation) for annotation in annotations], unreadable

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
        for name, meaning in self.controls.items():
            stated = self.inventory[name].stated
            if meaning["kind"] != "number" or stated == (None, None):
                continue
            key = meaning["construct"]
            used = self.ranges.get(key)
            scale = self.scales[key] if used is None else used.scale
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

    def _mapped(self, annotation: Annotation) -> Annotation:
        answers, invalid = [], list(annotation.invalid)
        for answer in annotation.answers:
            used_range = self.ranges.get(answer.construct_key)
            if answer.value is None or used_range is None:
                answers.append(answer)
            elif (problem := used_range.off_grid(answer.value)) is not None:
                invalid.append(InvalidValue(answer.construct_key, f"{answer.value:g}", problem))
            else:
                answers.append(replace(answer, value=used_range.mapped(answer.value)))
        return replace(annotation, answers=answers, invalid=invalid)


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
    controls = {**rating, **of_marks}
    # Values are checked against the range on which they were given.
    scales = dict(options.scales) | {key: used.source for key, used in ranges.items()}
    return ExportReading(
        inventory,
        controls,
        ranges,
        {meaning["construct"]: str(meaning["kind"]) for meaning in rating.values()},
        options.scales,
        AnnotationReader(controls, scales, options.preference_scale),
    )


DRAFTS = "drafts, which are not ratings"
EDITED_BY_OTHER = "annotations that another user changed last, imported as their author's"
EARLIER_PREDICTIONS = "predictions of a task that the same model predicted again later"
SUPERSEDED = "annotations of a task that the same user annotated again later"
# Number of places that are listed for each reason.
_LISTED = 5


NO_MODEL = "predictions without a model_version, which names the judge"


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
        candidates = counting(everything, self.taken, left_out)
        counts = {DRAFTS: len(task.get("drafts") or [])}
        predictions = predictions_of(task)
        if self.taken.get(PREDICTED) == JUDGE:
            yield from self._of_models(predictions, content)
        else:
            counts[PREDICTIONS] = len(predictions)
        left_out.update({reason: count for reason, count in counts.items() if count})
        by_person: dict[tuple[int | str | None, bool], list[tuple[Annotation, bool]]]
        by_person = defaultdict(list)
        for raw in candidates:
            timed = _with_time(raw)
            single = {**task, "annotations": [timed]}
            annotations, unreadable = self.reading.read(single, content)
            for annotation in annotations:
                user = annotation.user
                person = user if user is None else self.scorers.get(user) or user
                key = person, is_reference(raw, self.taken)
                by_person[key].append((annotation, timed is raw))
                if annotation.edited_by_other:
                    self.source.report.rules[EDITED_BY_OTHER] += 1
            for unread in unreadable:
                number = "?" if unread.number is None else unread.number
                place = f"row {record.number}: task {task['id']}, annotation {number}"
                self._unreadable[_unreadable_reason(raw)].append(place)
        for (person, reference), timed_annotations in by_person.items():
            for latest in self._latest(person, timed_annotations, record):
                yield latest if isinstance(latest, Fault) else CountedAnnotation(latest, reference)

    def _of_models(
        self, predictions: Sequence[Any], content: TaskContent
    ) -> Iterator[CountedAnnotation]:
        """Yield the latest prediction of each model."""
        newest: dict[str, Annotation] = {}
        for raw in predictions:
            timed = _with_time(raw)
            single = {**content.record.cells, "annotations": [timed]}
            read, unreadable = self.reading.read(single, content)
            model = storable_text(str(raw.get("model_version") or "")) if read else ""
            if unreadable:
                self.source.report.left_out["unreadable predictions"] += 1
            elif not model.strip():
                self.source.report.left_out[NO_MODEL] += 1
            for annotation in read if model.strip() else ():
                before = newest.get(model)
                if before is not None:
                    self.source.report.left_out[EARLIER_PREDICTIONS] += 1
                if before is None or (before.updated, before.number) < (
                    annotation.updated,
                    annotation.number,
                ):
                    newest[model] = annotation
        for model, annotation in newest.items():
            yield CountedAnnotation(annotation, model=model.strip())

    def report_unreadable(self) -> None:
        """Report the number of unreadable annotations by reason, with their places."""
        for reason, places in self._unreadable.items():
            more = f"; and {len(places) - _LISTED} more" if len(places) > _LISTED else ""
            self.source.report.left_out[
                f"unreadable annotations: {reason} ({'; '.join(places[:_LISTED])}{more})"
            ] += len(places)

    def _latest(
        self, person: int | str | None, annotations: list[tuple[Annotation, bool]], record: Record
    ) -> Iterator[Annotation | Fault]:
        """Yield a person's latest annotation of a task, given with whether each has a time."""
        if person is None:
            # Deleted accounts: they may be different people.
            yield from (annotation for annotation, _ in annotations)
            return
        untimed = [annotation.number for annotation, timed in annotations if not timed]
        if len(annotations) > 1 and untimed:
            yield Fault(
                f"user {annotations[0][0].user} annotated task {record.cells['id']} "
                f"{len(annotations)} times; the latest counts, but "
                f"annotation {untimed[0]} has no time (with a time zone).",
                "Export the project again, or remove the others.",
                record.number,
            )
            return
        if len(annotations) > 1:
            self.source.report.left_out[SUPERSEDED] += len(annotations) - 1
        yield max(
            (annotation for annotation, _ in annotations),
            key=lambda annotation: (annotation.updated, annotation.number),
        )


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
