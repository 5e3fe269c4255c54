"""A JSON export of any Label Studio project, as a file to import.

Controls that rate become constructs: by `--control`, by study.toml, or where they are called like
a construct. Values that can't be ratings are missing values, each with its reason.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotate_ui.label_studio.export_controls import controls_of, meanings, rating_controls
from annotate_ui.label_studio.export_people import users
from annotate_ui.label_studio.reading import (
    MISSING,
    NO_NUMBER,
    TWICE,
    UNKNOWN_CONTROL,
    Annotation,
    Unfit,
    read_task,
)
from annotate_ui.label_studio.tasks import NAME
from study.errors import Fault
from study.importing.formats.contexts import passages_of
from study.importing.formats.options import Options
from study.importing.formats.responses import FIELDS as OF_RESPONSES
from study.importing.reading.file import Record
from study.importing.reading.layout import Fields
from study.importing.reading.reader import Reader
from study.importing.reading.record_cells import RecordCells
from study.importing.reading.source import Head, Source
from study.importing.rows import ResponseRow, Rows, ScoreRow
from study.scales import Scale

WANTS = "the JSON export of a Label Studio project: [{data, annotations: [{result, completed_by}]}]"
SOURCE = "label_studio"

_FIELDS: Fields = {
    **{name: names for name, names in OF_RESPONSES.items() if name != "attributes"},
    "response_id": ("response_id", "item_id"),
}
_REASONS = {MISSING: "blank", NO_NUMBER: "no_number", TWICE: "given_twice"}


def recognises(head: Head) -> bool:
    """Whether the file is a list of tasks with annotations."""
    return head.form.startswith("json") and {"data", "annotations"} <= set(head.columns)


def asks(source: Source, options: Options) -> list[str]:
    """Return the controls whose construct nobody has said."""
    found = meanings(rating_controls(source), options.controls, options.names)
    return [control for control, key in found.items() if key is None]


def rows(source: Source, options: Options) -> Rows:
    """Read responses and ratings; of a person's several annotations of a task the latest.

    Raises
    ------
    InputError
        A control is mapped to nothing, or to no construct of the study.
    """
    controls = controls_of(source, options)
    people = users(source, options)
    reader = Reader(source, _FIELDS, families=True)
    ranges = {
        meaning["construct"]: options.ranges[control]
        for control, meaning in controls.items()
        if control in options.ranges
    }
    # A value is checked against the range that it was given on.
    scales = dict(options.scales) | {
        key: Scale(min=low, max=high) for key, (low, high) in ranges.items()
    }
    for key in ranges:
        source.tally.rules[f"{key}: mapped to its scale from {scales[key]}"] += 1
    for record in source.records():
        if isinstance(record, Fault):
            yield record
            continue
        task = record.cells
        data = task.get("data")
        if not isinstance(data, dict):
            yield Fault("the task holds no data.", "Export the project again.", record.number)
            continue
        if not isinstance(task.get("id"), int):
            yield Fault("the task holds no number.", "Export the project again.", record.number)
            continue
        if NAME in data:
            yield Fault(
                "the task was pushed by ccrs label-studio push.",
                "Bring its ratings in with ccrs label-studio pull.",
                record.number,
            )
            continue
        cells = reader.cells(Record(record.number, _named(data, task["id"])))
        yield from _response(cells, options)
        annotations, unreadable, drafts = read_task(task, NAME, controls, scales)
        if drafts:
            source.tally.left_out["drafts, which are no ratings"] += drafts
        for unread in unreadable:
            source.tally.left_out[unread.unfit.reason] += 1
        for annotation in _latest(annotations, source):
            if annotation.user is None:
                source.tally.left_out["annotations whose account is deleted"] += 1
            elif people[annotation.user] is None:
                source.tally.left_out["annotations of users that --rater leaves out"] += 1
            else:
                mapped = _mapped(annotation, ranges, options)
                yield from _scores(cells, mapped, str(people[annotation.user]), source)
        yield from cells.untold()


def _named(data: dict[str, Any], task: Any) -> dict[str, Any]:
    """Return a task's data with a response_id, where nothing in it names the response."""
    if any(data.get(name) for name in _FIELDS["response_id"]):
        return data
    if data.get("query_id") and data.get("system"):
        return data
    return {**data, "response_id": f"task-{task}"}


def _response(cells: RecordCells, options: Options) -> Rows:
    if not (cells.has("query") and cells.has("response")):
        return
    yield from cells.row(
        ResponseRow,
        query_id=cells.key("query_id"),
        query=cells.text("query"),
        response=cells.text("response"),
        response_id=cells.key("response_id"),
        system=options.system_of(cells),
        passages=passages_of(cells),
        references=cells.listed("references"),
    )


def _latest(annotations: list[Annotation], source: Source) -> Iterator[Annotation]:
    newest: dict[int | None, Annotation] = {}
    for one in sorted(annotations, key=lambda one: (one.updated, one.number)):
        newest[one.user] = one
    more = len(annotations) - len(newest)
    if more:
        source.tally.left_out["annotations of a task by somebody who annotated it again later"] += (
            more
        )
    yield from newest.values()


def _mapped(
    annotation: Annotation, ranges: Mapping[str, tuple[float, float]], options: Options
) -> Annotation:
    """Return an annotation with its values on the scales of their constructs."""
    answers = []
    for answer in annotation.answers:
        value = answer.value
        if value is not None and answer.construct_key in ranges:
            low, high = ranges[answer.construct_key]
            scale = options.scales[answer.construct_key]
            value = scale.min + (value - low) * (scale.max - scale.min) / (high - low)
        answers.append(replace(answer, value=value))
    return replace(annotation, answers=answers)


def _scores(cells: RecordCells, annotation: Annotation, scorer: str, source: Source) -> Rows:
    given: dict[str, tuple[float | None, str | None]] = {}
    for answer in annotation.answers:
        reason = "skipped" if annotation.skipped else None
        given[answer.construct_key] = answer.value, reason
    for unfit in annotation.unfit:
        if unfit.construct_key is None:
            source.tally.left_out[_left_out(unfit)] += 1
            continue
        if unfit.value is not None:
            source.tally.rules[f"a value that is taken as missing: {unfit.reason}"] += 1
        given[unfit.construct_key] = None, _REASONS.get(unfit.reason, "out_of_range")
    for construct, (value, reason) in given.items():
        yield from cells.row(
            ScoreRow,
            response_id=cells.key("response_id"),
            query_id=cells.key("query_id"),
            system=cells.key("system"),
            construct_key=construct,
            scorer=scorer,
            scorer_kind="human",
            value=value,
            missing_reason=reason,
            source=SOURCE,
        )


def _left_out(unfit: Unfit) -> str:
    if unfit.reason.startswith(UNKNOWN_CONTROL):
        return f"results of the control {unfit.reason.rpartition(': ')[2]!r}"
    return unfit.reason
