"""How the export of a project that was made in Label Studio is read: one way for file and server.

Its controls are mapped to constructs, its values to their scales.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_reader import AnnotationReader
from annotate_ui.label_studio.annotations import Annotation, InvalidValue, UnreadableAnnotation
from annotate_ui.label_studio.export_controls import map_controls, mark_controls
from annotate_ui.label_studio.export_inventory import ExportControl
from annotate_ui.label_studio.task_content import TaskContent, unplaced
from annotate_ui.label_studio.value_ranges import ValueRange, value_range
from study.base.scales import Scale
from study.errors import Fault
from study.importing.importers import FormatOptions
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
    ) -> tuple[list[Annotation], list[UnreadableAnnotation], int]:
        """Return a task's annotations on the scales of their constructs, and as `read` does."""
        compared = {kind: tuple(named) for kind, named in content.compared.items()}
        annotations, unreadable, drafts = self.reader.read(task, compared)
        return [self._mapped(annotation) for annotation in annotations], unreadable, drafts

    def unplaced(self, annotation: Annotation, content: TaskContent) -> Fault | None:
        """Return a fault if a task does not name the responses that its values are of."""
        keys = {answer.construct_key for answer in annotation.answers}
        keys |= {pair.construct_key for pair in annotation.preferences}
        keys |= {invalid.construct_key or "" for invalid in annotation.invalid}
        kinds = {self.kinds[key] for key in keys if key in self.kinds}
        if annotation.marks:
            kinds.add("number")
        return unplaced(content, kinds)

    @property
    def typed(self) -> set[str]:
        """The constructs whose values are typed into a field."""
        return {
            control["construct"]
            for control in self.controls.values()
            if control["kind"] == "number" and "labels" not in control
        }

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
