"""Importing the JSON export of any Label Studio project.

Controls that rate are mapped to constructs by `--control`, by study.toml, or by a common name.
Values that cannot be ratings become missing values, each with its reason.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from annotate_ui.label_studio.annotation_reader import (
    ENTERED_TWICE,
    MISSING,
    NO_NUMBER,
    UNKNOWN_CONTROL,
    Annotation,
    InvalidValue,
    as_integer,
)
from annotate_ui.label_studio.export_annotations import Annotations
from annotate_ui.label_studio.export_controls import (
    ValueRange,
    described_controls,
    map_controls,
    unmapped_controls,
    value_range,
)
from annotate_ui.label_studio.export_inventory import ExportControl, read_controls, scorers_of_users
from annotate_ui.label_studio.task_data import NAME
from study.errors import Fault
from study.importing.formats.responses import FIELDS as OF_RESPONSES, response_row
from study.importing.importers import FileDescription, FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields, folded
from study.importing.readers.input_file import Record
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import PreferenceRow, Rows, ScoreRow
from study.scales import RatingScale
from study.text import quoted_names

DESCRIPTION = (
    "the JSON export of a Label Studio project: [{data, annotations: [{result, completed_by}]}]"
)
SOURCE = "label_studio"

_FIELDS: Fields = {
    **{name: names for name, names in OF_RESPONSES.items() if name != "attributes"},
    "response_id": ("response_id", "item_id"),
    "response_a": ("response_a",),
    "response_b": ("response_b",),
}
_SHORT_FORM = {"annotation_id", "annotator", "lead_time"}
_REASONS = {MISSING: "blank", NO_NUMBER: "no_number", ENTERED_TWICE: "given_twice"}


def matches(head: Head) -> bool:
    """Whether the file is a list of tasks with annotations."""
    return head.form.startswith("json") and {"data", "annotations"} <= set(head.columns)


def reject_reason(head: Head) -> Fault | None:
    """Return a fault for an export in a short form.

    It does not distinguish ratings from texts, and contains e-mail addresses of people.
    """
    columns = folded(head.columns)
    if _SHORT_FORM - columns or {"construct", "value"} <= columns:
        return None
    return Fault(
        "it is a Label Studio export in a short form (JSON_MIN, CSV or TSV), which does not "
        "distinguish ratings from texts and names people by their e-mail addresses.",
        "Export the project as JSON. If it is another kind of table, name its format with "
        "--as NAME.",
    )


def describe(source: RecordSource, options: FormatOptions) -> FileDescription:
    """Return the controls and users of the export, and the options of its import."""
    return described_controls(source, options)


def unmapped(source: RecordSource, options: FormatOptions) -> list[str]:
    """Return the controls whose construct is unknown."""
    return unmapped_controls(source, options)


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses and ratings; the latest of a person's annotations of a task counts.

    Raises
    ------
    InputError
        The options do not fit the controls or users of the file.
    """
    inventory = read_controls(source)
    controls = map_controls(source, inventory, options)
    scorers = scorers_of_users(source, options)
    reader = Reader(source, _FIELDS, families=True)
    keys = {control: meaning["construct"] for control, meaning in controls.items()}
    ranges = {
        key: used_range
        for control, key in keys.items()
        if (used_range := value_range(control, key, inventory, options)) is not None
    }
    # Values are checked against the range on which they were given.
    scales = dict(options.scales) | {key: used_range.source for key, used_range in ranges.items()}
    for key, used_range in ranges.items():
        source.report.rules[f"{key}: mapped to its scale from {used_range.source}"] += 1
    compared = {meaning["construct"] for meaning in controls.values() if "compares" in meaning}
    scales |= dict.fromkeys(compared, RatingScale(min=-1, max=1))
    annotations = Annotations(source, controls, scales)
    ratings = 0
    for record in source.records():
        if isinstance(record, Fault):
            yield record
            continue
        task = record.cells
        problem = _task_problem(task)
        if problem is not None:
            yield Fault(*problem, record.number)
            continue
        cells = reader.cells(Record(record.number, _with_id(task["data"], task["id"])))
        has_texts = _has_texts(cells, task["data"])
        if has_texts:
            yield from response_row(cells, options)
        for annotation in annotations.of(record):
            if isinstance(annotation, Fault):
                yield annotation
            elif annotation.user is None:
                source.report.left_out["annotations of deleted accounts"] += 1
            elif scorers[annotation.user] is None:
                source.report.left_out["annotations of users that --rater leaves out"] += 1
            else:
                mapped = _map_values(annotation, ranges)
                scorer = str(scorers[annotation.user])
                scores = list(_scores(cells, mapped, scorer, inventory, compared, source))
                ratings += len(scores)
                unplaced = _unplaced(task, mapped, compared, has_texts, record.number)
                if unplaced is not None:
                    yield unplaced
                    break
                yield from scores
        yield from cells.remaining_faults()
    annotations.report_unreadable()
    if not ratings:
        source.report.warnings.append(_no_ratings(annotations.count, inventory, controls))


def _task_problem(task: Mapping[str, Any]) -> tuple[str, str] | None:
    if not isinstance(task.get("data"), dict):
        return "the task has no data.", "Export the project again."
    if as_integer(task.get("id")) is None:
        return "the task has no number.", "Export the project again."
    if NAME in task["data"]:
        return (
            "the task was pushed by ccrs label-studio push.",
            "Read its ratings with ccrs label-studio pull.",
        )
    return None


def _has_id(data: Mapping[str, Any]) -> bool:
    """Whether a task's data identify the response."""

    def has(field: str) -> bool:
        names = _FIELDS[field]
        return any(name.casefold() in names and not blank(cell) for name, cell in data.items())

    return has("response_id") or (has("query_id") and has("system"))


def _has_pair(data: Mapping[str, Any]) -> bool:
    """Whether a task's data name the two responses that are compared, and their query."""
    names = {name.casefold() for name, cell in data.items() if not blank(cell)}
    return {"query_id", "response_a", "response_b"} <= names


def _unplaced(
    task: Mapping[str, Any],
    annotation: Annotation,
    compared: Collection[str],
    has_texts: bool,
    row: int,
) -> Fault | None:
    """Return a fault where a task does not say which responses its values are of."""
    constructs = {answer.construct_key for answer in annotation.answers}
    constructs |= {invalid.construct_key or "" for invalid in annotation.invalid} - {""}
    if constructs & {*compared} and not _has_pair(task["data"]):
        return _unknown_pair(task, row)
    if constructs - {*compared} and not has_texts and not _has_id(task["data"]):
        return _unknown_response(task, row)
    return None


def _unknown_pair(task: Mapping[str, Any], row: int) -> Fault:
    return Fault(
        f"task {task['id']} does not name the responses that were compared. Its fields: "
        f"{quoted_names(task['data']) or 'none'}.",
        "Name query_id, and the ids of the response on the left, response_a, and on the right, "
        "response_b.",
        row,
    )


def _with_id(data: dict[str, Any], task: Any) -> dict[str, Any]:
    """Return a task's data with a response_id, if they do not identify the response."""
    # A blank field would hide another one that is not blank.
    names = _FIELDS["response_id"]
    cleaned = {
        name: cell for name, cell in data.items() if name.casefold() not in names or not blank(cell)
    }
    return cleaned if _has_id(cleaned) else {**cleaned, "response_id": f"task-{task}"}


def _has_texts(cells: RecordCells, data: Mapping[str, Any]) -> bool:
    """Whether a task's data contain a response, which may be empty, and its query."""
    column = cells.column("response")
    return cells.has("query") and column is not None and data[column] is not None


def _unknown_response(task: Mapping[str, Any], row: int) -> Fault:
    return Fault(
        f"task {task['id']} has neither the id of a response nor its texts. Its fields: "
        f"{quoted_names(task['data']) or 'none'}.",
        "Name the texts question (or query) and response (or answer), or identify a response of "
        "the study by response_id (or item_id), or by query_id and system.",
        row,
    )


def _no_ratings(
    annotations: int, inventory: Mapping[str, ExportControl], controls: Mapping[str, Any]
) -> str:
    """Return why an export has no ratings."""
    if not annotations:
        reason = "its tasks have no annotations"
    elif inventory and not any(control.rates for control in inventory.values()):
        listed = ", ".join(f"{name!r} ({control})" for name, control in inventory.items())
        reason = (
            f"its controls are {listed}; numbers (Number) and stars (Rating) are ratings, and "
            "choices and comparisons whose construct is named with --control CONTROL=CONSTRUCT"
        )
    elif inventory and not controls:
        reason = "all controls that rate are left out"
    else:
        reason = "its annotations that count contain neither numbers nor stars"
    return f"the export has no ratings: {reason}."


def _map_values(annotation: Annotation, ranges: Mapping[str, ValueRange]) -> Annotation:
    """Return an annotation with its values on the scales of their constructs."""
    answers, invalid = [], list(annotation.invalid)
    for answer in annotation.answers:
        used_range = ranges.get(answer.construct_key)
        if answer.value is None or used_range is None:
            answers.append(answer)
        elif (problem := used_range.off_grid(answer.value)) is not None:
            invalid.append(InvalidValue(answer.construct_key, f"{answer.value:g}", problem))
        else:
            answers.append(replace(answer, value=used_range.mapped(answer.value)))
    return replace(annotation, answers=answers, invalid=invalid)


def _scores(
    cells: RecordCells,
    annotation: Annotation,
    scorer: str,
    inventory: Mapping[str, ExportControl],
    compared: Collection[str],
    source: RecordSource,
) -> Rows:
    """Yield a score of each construct, or a preference where responses were compared."""
    values: dict[str, tuple[float | None, str | None]] = {}
    for answer in annotation.answers:
        reason = "skipped" if annotation.skipped else None
        values[answer.construct_key] = answer.value, reason
    for invalid in annotation.invalid:
        if invalid.construct_key is None:
            source.report.left_out[_left_out(invalid, inventory)] += 1
            continue
        if invalid.value is not None:
            source.report.rules[f"a value treated as missing: {invalid.reason}"] += 1
        values[invalid.construct_key] = None, _REASONS.get(invalid.reason, "out_of_range")
    for construct, (value, reason) in values.items():
        if construct in compared:
            yield from cells.row(
                PreferenceRow,
                query_id=cells.key("query_id"),
                response_a=cells.key("response_a"),
                response_b=cells.key("response_b"),
                construct_key=construct,
                scorer=scorer,
                scorer_kind="human",
                value=value,
                missing_reason=reason,
            )
            continue
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


def _left_out(invalid: InvalidValue, inventory: Mapping[str, ExportControl]) -> str:
    name = invalid.reason.removeprefix(f"{UNKNOWN_CONTROL}: ")
    if name == invalid.reason:
        return name
    control = inventory.get(name)
    kind = (
        "" if control is None or control.rates else f", which gives {control} rather than numbers"
    )
    return f"results of the control {name!r}{kind}"
