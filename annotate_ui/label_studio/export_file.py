"""A JSON export of any Label Studio project, as a file to import.

Controls that rate become constructs: by `--control`, by study.toml, or where they are called like
a construct. Values that can't be ratings are missing values, each with its reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
from study.errors import Fault, InputError, nearest
from study.importing.formats.contexts import passages_of
from study.importing.formats.options import Options
from study.importing.formats.responses import FIELDS as OF_RESPONSES
from study.importing.reading.file import Record
from study.importing.reading.layout import Fields
from study.importing.reading.reader import Reader
from study.importing.reading.record_cells import RecordCells
from study.importing.reading.source import Head, Source
from study.importing.rows import ResponseRow, Rows, ScoreRow

WANTS = "the JSON export of a Label Studio project: [{data, annotations: [{result, completed_by}]}]"
SOURCE = "label_studio"

_NUMBERS = {"number", "rating"}
_FIELDS: Fields = {
    **{name: names for name, names in OF_RESPONSES.items() if name != "attributes"},
    "response_id": ("response_id", "item_id"),
}
_REASONS = {MISSING: "blank", NO_NUMBER: "no_number", TWICE: "given_twice"}


def recognises(head: Head) -> bool:
    """Whether the file is a list of tasks with annotations."""
    return head.form.startswith("json") and {"data", "annotations"} <= set(head.columns)


def rating_controls(source: Source) -> list[str]:
    """Return the controls of an export that rate with numbers or stars, in their order."""
    found: dict[str, None] = {}
    for record in source.records():
        for annotation in _annotations(record):
            for result in annotation.get("result") or []:
                if isinstance(result, dict) and result.get("type") in _NUMBERS:
                    found[str(result.get("from_name"))] = None
    return list(found)


def meanings(
    controls: Iterable[str], said: Mapping[str, str], constructs: Mapping[str, str]
) -> dict[str, str | None]:
    """Return for each control its construct; an empty one where it is said to be left out.

    `constructs` holds names by keys. None: nothing is known of the control.
    """
    names = {_folded(name): key for key, name in constructs.items()}
    names |= {_folded(key): key for key in constructs}
    return {
        control: said[control] if control in said else names.get(_folded(control))
        for control in controls
    }


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
    controls = _controls(source, options)
    reader = Reader(source, _FIELDS, families=True)
    scales = options.scales
    for record in source.records():
        if isinstance(record, Fault):
            yield record
            continue
        task = record.cells
        data = task.get("data")
        if not isinstance(data, dict):
            yield Fault("the task holds no data.", "Export the project again.", record.number)
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
        for unfit in unreadable:
            source.tally.left_out[unfit.reason] += 1
        for annotation in _latest(annotations, source):
            yield from _scores(cells, annotation, source)
        yield from cells.untold()


def _controls(source: Source, options: Options) -> dict[str, dict[str, Any]]:
    found = meanings(rating_controls(source), options.controls, options.names)
    faults = []
    for control, key in found.items():
        if key is None:
            faults.append(
                Fault(
                    f"which construct does the control {control!r} rate?",
                    f"Say --control {control}=CONSTRUCT ({', '.join(options.constructs)}), or "
                    f"--control {control}= to leave it out; or write it in study.toml under "
                    "[label_studio] controls.",
                )
            )
        elif key and key not in options.constructs:
            hint = nearest(key, options.constructs)
            faults.append(
                Fault(f"the control {control!r} is said to rate {key!r}.", f"No construct. {hint}")
            )
    if faults:
        raise InputError(source.path.name, faults)
    return {
        control: {"kind": "number", "construct": key, "construct_version": 1}
        for control, key in found.items()
        if key
    }


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
    newest: dict[int, Annotation] = {}
    for one in sorted(annotations, key=lambda one: (one.updated, one.number)):
        newest[one.user] = one
    more = len(annotations) - len(newest)
    if more:
        source.tally.left_out["annotations of a task by somebody who annotated it again later"] += (
            more
        )
    yield from newest.values()


def _scores(cells: RecordCells, annotation: Annotation, source: Source) -> Rows:
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
            scorer=f"ls-{annotation.user}",
            scorer_kind="human",
            value=value,
            missing_reason=reason,
            source=SOURCE,
        )


def _left_out(unfit: Unfit) -> str:
    if unfit.reason.startswith(UNKNOWN_CONTROL):
        return f"results of the control {unfit.reason.rpartition(': ')[2]!r}"
    return unfit.reason


def _annotations(record: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(record, Record):
        found = record.cells.get("annotations")
        for annotation in found if isinstance(found, list) else []:
            if isinstance(annotation, dict):
                yield annotation


def _folded(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
