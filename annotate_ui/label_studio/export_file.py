"""A JSON export of any Label Studio project, as a file to import.

Controls that rate become constructs: by `--control`, by study.toml, or where they are called like
a construct. Values that can't be ratings are missing values, each with its reason.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotate_ui.label_studio.annotation_reader import (
    MISSING,
    NO_NUMBER,
    TWICE,
    UNKNOWN_CONTROL,
    Annotation,
    Unfit,
    whole,
)
from annotate_ui.label_studio.export_annotations import Annotations
from annotate_ui.label_studio.export_controls import (
    Range,
    asked,
    controls_of,
    range_warnings,
    said_range,
)
from annotate_ui.label_studio.export_inventory import Seen, seen_controls, users
from annotate_ui.label_studio.task_data import NAME
from study.errors import Fault
from study.importing.formats.responses import FIELDS as OF_RESPONSES, response_row
from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.column_layout import Fields, folded
from study.importing.readers.input_file import Record
from study.importing.readers.records import Reader, RecordCells
from study.importing.readers.source import Head, RecordSource
from study.importing.rows import Rows, ScoreRow
from study.text import quoted_names

DESCRIPTION = (
    "the JSON export of a Label Studio project: [{data, annotations: [{result, completed_by}]}]"
)
SOURCE = "label_studio"

_FIELDS: Fields = {
    **{name: names for name, names in OF_RESPONSES.items() if name != "attributes"},
    "response_id": ("response_id", "item_id"),
}
_SHORT_FORM = {"annotation_id", "annotator", "lead_time"}
_REASONS = {MISSING: "blank", NO_NUMBER: "no_number", TWICE: "given_twice"}


def matches(head: Head) -> bool:
    """Whether the file is a list of tasks with annotations."""
    return head.form.startswith("json") and {"data", "annotations"} <= set(head.columns)


def reject_reason(head: Head) -> Fault | None:
    """Say what is wrong with an export in a form that leaves out whose values are which.

    It names people by their e-mail addresses, too.
    """
    there = folded(head.columns)
    if _SHORT_FORM - there or {"construct", "value"} <= there:
        return None
    return Fault(
        "it is an export of Label Studio in a short form (JSON_MIN, CSV or TSV), which doesn't "
        "tell ratings from texts and names people by their addresses.",
        "Export the project as JSON. If it is a table of your own, choose its format with "
        "--as NAME.",
    )


def unmapped(source: RecordSource, options: FormatOptions) -> list[str]:
    """Return the controls whose construct nobody has said."""
    return asked(source, options)


def rows(source: RecordSource, options: FormatOptions) -> Rows:
    """Read responses and ratings; of a person's several annotations of a task the latest.

    Raises
    ------
    InputError
        A control is mapped to nothing, to no construct of the study, to that of another control,
        or on no known range; or a user is somebody else already.
    """
    seen = seen_controls(source)
    controls = controls_of(source, seen, options)
    people = users(source, options)
    reader = Reader(source, _FIELDS, families=True)
    keys = {control: meaning["construct"] for control, meaning in controls.items()}
    ranges = {
        key: found
        for control, key in keys.items()
        if (found := said_range(control, key, seen, options)) is not None
    }
    # A value is checked against the range that it was given on.
    scales = dict(options.scales) | {key: found.given for key, found in ranges.items()}
    for key, found in ranges.items():
        source.report.rules[f"{key}: mapped to its scale from {found.given}"] += 1
    annotations = Annotations(source, controls, scales)
    ratings = 0
    for record in source.records():
        if isinstance(record, Fault):
            yield record
            continue
        task = record.cells
        problem = _no_task(task)
        if problem is not None:
            yield Fault(*problem, record.number)
            continue
        cells = reader.cells(Record(record.number, _named(task["data"], task["id"])))
        held = _holds_texts(cells, task["data"])
        if held:
            yield from response_row(cells, options)
        for annotation in annotations.of(record):
            if isinstance(annotation, Fault):
                yield annotation
            elif annotation.user is None:
                source.report.left_out["annotations whose account is deleted"] += 1
            elif people[annotation.user] is None:
                source.report.left_out["annotations of users that --rater leaves out"] += 1
            else:
                mapped = _mapped(annotation, ranges)
                scorer = str(people[annotation.user])
                scores = list(_scores(cells, mapped, scorer, seen, source))
                ratings += len(scores)
                if scores and not held and not _is_named(task["data"]):
                    yield _of_no_response(task, record.number)
                    break
                yield from scores
        yield from cells.remaining_faults()
    annotations.told()
    source.report.warnings += range_warnings(seen, keys, options)
    if not ratings:
        source.report.warnings.append(_no_rating(annotations.met, seen, controls))


def _no_task(task: Mapping[str, Any]) -> tuple[str, str] | None:
    if not isinstance(task.get("data"), dict):
        return "the task holds no data.", "Export the project again."
    if whole(task.get("id")) is None:
        return "the task holds no number.", "Export the project again."
    if NAME in task["data"]:
        return (
            "the task was pushed by ccrs label-studio push.",
            "Bring its ratings in with ccrs label-studio pull.",
        )
    return None


def _is_named(data: Mapping[str, Any]) -> bool:
    def there(field: str) -> bool:
        names = _FIELDS[field]
        return any(name.casefold() in names and not blank(cell) for name, cell in data.items())

    return there("response_id") or (there("query_id") and there("system"))


def _named(data: dict[str, Any], task: Any) -> dict[str, Any]:
    """Return a task's data with a response_id, where nothing in it names the response."""
    # A blank one would hide another that is not.
    names = _FIELDS["response_id"]
    told = {
        name: cell for name, cell in data.items() if name.casefold() not in names or not blank(cell)
    }
    return told if _is_named(told) else {**told, "response_id": f"task-{task}"}


def _holds_texts(cells: RecordCells, data: Mapping[str, Any]) -> bool:
    """Whether a task's data hold a response, which may be empty, and its query."""
    column = cells.column("response")
    return cells.has("query") and column is not None and data[column] is not None


def _of_no_response(task: Mapping[str, Any], row: int) -> Fault:
    return Fault(
        f"task {task['id']} says neither which response was rated nor its texts. Its data hold: "
        f"{quoted_names(task['data']) or 'nothing'}.",
        "Call the texts question (or query) and response (or answer), or name a response of the "
        "study with response_id (or item_id), or with query_id and system.",
        row,
    )


def _no_rating(annotations: int, seen: Mapping[str, Seen], controls: Mapping[str, Any]) -> str:
    """Say why nothing of an export is a rating."""
    if not annotations:
        why = "nobody has annotated a task of it"
    elif seen and not any(control.rates for control in seen.values()):
        given = ", ".join(f"{name!r} ({control})" for name, control in seen.items())
        why = f"its controls are {given}, and only numbers (Number) and stars (Rating) are ratings"
    elif seen and not controls:
        why = "all controls that rate are said to be left out"
    else:
        why = "none of its annotations that count holds a number or stars"
    return f"no rating came in of this export: {why}."


def _mapped(annotation: Annotation, ranges: Mapping[str, Range]) -> Annotation:
    """Return an annotation with its values on the scales of their constructs."""
    answers, unfit = [], list(annotation.unfit)
    for answer in annotation.answers:
        found = ranges.get(answer.construct_key)
        if answer.value is None or found is None:
            answers.append(answer)
        elif (problem := found.off_grid(answer.value)) is not None:
            unfit.append(Unfit(answer.construct_key, f"{answer.value:g}", problem))
        else:
            answers.append(replace(answer, value=found.mapped(answer.value)))
    return replace(annotation, answers=answers, unfit=unfit)


def _scores(
    cells: RecordCells,
    annotation: Annotation,
    scorer: str,
    seen: Mapping[str, Seen],
    source: RecordSource,
) -> Rows:
    given: dict[str, tuple[float | None, str | None]] = {}
    for answer in annotation.answers:
        reason = "skipped" if annotation.skipped else None
        given[answer.construct_key] = answer.value, reason
    for unfit in annotation.unfit:
        if unfit.construct_key is None:
            source.report.left_out[_left_out(unfit, seen)] += 1
            continue
        if unfit.value is not None:
            source.report.rules[f"a value that is taken as missing: {unfit.reason}"] += 1
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


def _left_out(unfit: Unfit, seen: Mapping[str, Seen]) -> str:
    name = unfit.reason.removeprefix(f"{UNKNOWN_CONTROL}: ")
    if name == unfit.reason:
        return name
    control = seen.get(name)
    kind = "" if control is None or control.rates else f", which gives {control} and no number"
    return f"results of the control {name!r}{kind}"
