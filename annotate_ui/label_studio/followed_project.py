"""Reading a project that was made in Label Studio: what its controls mean, and what it contains."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from pydantic import TypeAdapter

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.annotation_kinds import PREDICTIONS, counting, predictions_of
from annotate_ui.label_studio.annotations import Annotation, UnreadableAnnotation
from annotate_ui.label_studio.export_inventory import ExportControl, read_inventory
from annotate_ui.label_studio.export_reading import ExportReading, export_reading
from annotate_ui.label_studio.stated_controls import stated_controls
from annotate_ui.label_studio.task_content import FIELDS, TaskContent, TaskReader
from annotate_ui.tasks.stages import in_order
from study.base.scales import Scale
from study.errors import Fault, InputError
from study.importing.importers import FormatOptions
from study.importing.readers.source import RecordSource
from study.settings.study_toml import StudyConfig
from study.types import Sees

USERS_LEFT_OUT = "annotations of users that --rater leaves out"
_FIELD = re.compile(r"\$(\w+)")
_SHOWN: dict[str, Sees] = {
    "query": "question",
    "response": "response",
    "text_a": "response",
    "text_b": "response",
    "items": "response",
    "passages": "context",
    "references": "reference",
}


@dataclass(frozen=True)
class FollowOptions:
    """How a project is read; see `study.importing.importers.FormatOptions`."""

    controls: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    users_left_out: tuple[int, ...] = ()

    def updated(self, newer: Self) -> Self:
        """Return these options with newer ones, which take precedence."""
        users = tuple(sorted({*self.users_left_out, *newer.users_left_out}))
        merged = {
            one.name: {**getattr(self, one.name), **getattr(newer, one.name)}
            for one in fields(self)
            if one.name != "users_left_out"
        }
        return replace(newer, **merged, users_left_out=users)


STORED_OPTIONS = TypeAdapter(FollowOptions)
"""Options as JSON, in which form a study stores them."""


@dataclass
class ReadProject:
    """A project as it is on the server."""

    number: int
    controls: dict[str, dict[str, Any]]
    """As `AnnotationReader` takes them."""
    fields: tuple[Sees, ...]
    """What raters see."""
    tasks: list[tuple[int, TaskContent]] = field(default_factory=list)
    """Number and content of each task."""
    annotations: list[Annotation] = field(default_factory=list)
    unreadable: list[UnreadableAnnotation] = field(default_factory=list)
    ranges: dict[str, str] = field(default_factory=dict)
    """Control to the range that the project states, and what becomes of it."""
    drafts: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def read_project(
    number: int,
    xml: str,
    exported: Sequence[Mapping[str, Any]],
    config: StudyConfig,
    versions: Mapping[str, int],
    scales: Mapping[str, Scale],
    options: FollowOptions,
) -> ReadProject:
    """Return what a project contains.

    Parameters
    ----------
    xml
        Its labeling configuration.
    exported
        Its tasks, as Label Studio exports them.
    versions, scales
        The versions of the constructs under which values are stored, and their scales.

    Raises
    ------
    InputError
        A control is not mapped, or something is contradictory; with all faults.
    """
    form = FormatOptions(
        constructs=tuple(scales),
        names={construct.key: construct.name for construct in config.constructs},
        scales=scales,
        preference_scale=config.preferences.scale,
        controls={**config.label_studio.controls, **options.controls},
        declared_controls=options.controls,
        ranges=options.ranges,
        values=options.values,
        columns=options.columns,
        annotations=options.annotations,
    )
    with _as_file(number, exported) as source:
        inventory = stated_controls(xml)
        if exported:
            _add(inventory, read_inventory(source, form).controls)
        comments = {
            name: {"kind": "comment"}
            for name, control in inventory.items()
            if control.types == {"textarea"}
        }
        reading = export_reading(source, inventory, form, versions, comments)
        project = ReadProject(number, reading.controls, _fields(xml, options.columns))
        project.ranges = reading.stated_ranges()
        if exported:
            _read_tasks(project, source, reading, form, set(options.users_left_out))
    return project


def _read_tasks(
    project: ReadProject,
    source: RecordSource,
    reading: ExportReading,
    form: FormatOptions,
    users_left_out: set[int],
) -> None:
    reader = TaskReader(source, form)
    faults: list[Fault] = []
    for record in source.records():
        content = reader.read(record)
        if isinstance(content, Fault):
            faults.append(content)
            continue
        task = content.record.cells
        made = task.get("annotations")
        if isinstance(made, list):
            task = {**task, "annotations": counting(made, form.annotations, project.left_out)}
        project.left_out[PREDICTIONS] += len(predictions_of(task))
        annotations, unreadable, drafts = reading.read(task, content)
        project.drafts += drafts
        project.unreadable += unreadable
        for annotation in annotations:
            if annotation.user in users_left_out:
                project.left_out[USERS_LEFT_OUT] += 1
                continue
            fault = reading.unplaced(annotation, content)
            if fault is not None:
                faults.append(fault)
                break
            project.annotations.append(_without_unknown(annotation, project, reading))
        faults += [row for row in content.rows if isinstance(row, Fault)]
        faults += content.cells.remaining_faults()
        project.tasks.append((int(task["id"]), content))
    faults += reader.unknown_columns()
    if faults:
        raise InputError(f"project {project.number}", faults, source.report.notes)
    project.left_out = +project.left_out


def _without_unknown(
    annotation: Annotation, project: ReadProject, reading: ExportReading
) -> Annotation:
    """Return an annotation without results of controls that give no construct a value."""
    unknown = [i for i in annotation.invalid if i.reason.startswith(reasons.UNKNOWN_CONTROL)]
    project.left_out.update(reading.left_out(invalid) for invalid in unknown)
    return replace(annotation, invalid=[i for i in annotation.invalid if i not in unknown])


@contextmanager
def _as_file(number: int, exported: Sequence[Mapping[str, Any]]) -> Iterator[RecordSource]:
    """Yield the tasks as an export to be read, like one that a person downloaded."""
    with TemporaryDirectory(prefix="ccrs-label-studio-") as folder:
        path = Path(folder) / f"project-{number}.json"
        path.write_text(json.dumps(exported), encoding="utf-8")
        yield RecordSource(path)


def _add(inventory: dict[str, ExportControl], used: Mapping[str, ExportControl]) -> None:
    """Add the controls with results to those of the configuration."""
    for name, control in used.items():
        known = inventory.get(name)
        if known is not None:
            control.types |= known.types
            control.labels += known.labels
            control.stated = known.stated
        inventory[name] = control


def _fields(xml: str, columns: Mapping[str, str]) -> tuple[Sees, ...]:
    """Return the fields of a query that a labeling configuration shows."""
    names = {name: meaning for meaning, known in FIELDS.items() for name in known}
    shown = {columns.get(name, name) for name in _FIELD.findall(xml)}
    meant = {names.get(name.casefold(), name) for name in shown}
    always: set[Sees] = {"question", "response"}
    return in_order(always | {_SHOWN[name] for name in meant if name in _SHOWN})
