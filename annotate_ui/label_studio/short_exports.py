"""The short forms of an export, JSON_MIN, CSV and TSV: a record for each annotation, as tasks.

A short form merges the results of an annotation with the data of its task. Numbers, stars,
comparisons and rankings keep their form, so that they are recognized; a choice is a text like any
other and is read where the caller names its control.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from annotate_ui.label_studio.short_form import SIGNS, is_short
from annotate_ui.label_studio.task_content import FIELDS
from study.errors import Fault
from study.importing.importers import FormatOptions
from study.importing.readers.cells import blank
from study.importing.readers.input_file import Record
from study.importing.readers.source import RecordSource
from study.text import abbreviate

_OF_ANNOTATION = {*SIGNS, "created_at", "updated_at", "agreement", "history"}
# What a result's value contains, and the type that the full export states with it.
_TYPES = {
    "number": "number",
    "rating": "rating",
    "selected": "pairwise",
    "ranker": "ranker",
    "choices": "choices",
}
# A field of the data whose name is also that of a control.
_RENAMED = "_data_"
LACKING = (
    "a short form of export (JSON_MIN, CSV, TSV) does not contain skipped tasks, which annotations "
    "are expected answers (ground truth) or were made from a prediction, nor who changed them "
    "last. Export as JSON to have them."
)


def assign_constructs(controls: Iterable[str], options: FormatOptions) -> dict[str, str | None]:
    """Return the construct of each control: as mapped, else the construct of the same name.

    An empty construct leaves the control out; None: the construct is unknown.
    """

    def normalized(name: str) -> str:
        return "".join(character for character in name.lower() if character.isalnum())

    by_name = {normalized(name): key for key, name in options.names.items()}
    by_name |= {normalized(key): key for key in options.names}
    return {name: options.controls.get(name, by_name.get(normalized(name))) for name in controls}


def tasks(source: RecordSource, options: FormatOptions) -> Iterator[Record | Fault]:
    """Yield the tasks of an export of either form, as the full one has them."""
    if not is_short(source.head):
        yield from source.records()
        return
    read = {name for names in FIELDS.values() for name in names}
    together: dict[Any, Record] = {}
    for record in source.records():
        task = record if isinstance(record, Fault) else _task(record, options)
        if isinstance(record, Fault) or isinstance(task, Fault):
            yield task if isinstance(task, Fault) else record
            continue
        key = _whole(record.cells.get("id")) or repr(record.cells.get("id"))
        first = together.setdefault(key, Record(record.number, task))
        data, other = first.cells["data"], task["data"]
        # Fields that are not read may be texts that raters gave.
        fields = [n for n in {**data, **other} if options.columns.get(n, n).casefold() in read]
        differing = next((name for name in fields if data.get(name) != other.get(name)), None)
        if differing is not None:
            problem = f"row {first.number} has the same id and another {differing!r}."
            remedy = "Export the project as JSON, where each task has its own number."
            yield Fault(problem, remedy, record.number, differing)
        elif first.cells is not task:
            first.cells["annotations"] += task["annotations"]
    yield from together.values()


def _task(record: Record, options: FormatOptions) -> dict[str, Any] | Fault:
    cells, number = record.cells, _whole(record.cells.get("id"))
    data: dict[str, Any] = {}
    results: list[dict[str, Any]] = []
    for name, cell in cells.items():
        if name in _OF_ANNOTATION or name == "id" or cell is None:
            continue
        if name.startswith(_RENAMED) and name.removeprefix(_RENAMED) in cells:
            data[name.removeprefix(_RENAMED)] = cell
            continue
        construct = assign_constructs([name], options)[name]
        named = bool(options.controls.get(name))
        control_results = _results(name, cell, named=named)
        if control_results is None and construct and not blank(cell):
            problem = f"the column {name!r} has {abbreviate(cell)}, which no control that rates "
            remedy = f"If it is a field of the tasks, leave it out with --control {name}=; "
            if named:
                remedy += "else export the project as JSON."
            else:
                remedy += (
                    f"if it is a choice, name its construct with --control {name}={construct}."
                )
            return Fault(f"{problem}gives in this form.", remedy, record.number, name)
        if control_results is None:
            data.setdefault(name, cell)
        results += control_results or []
    if number is None:
        # The data of a task in a CSV may have an id, which takes the column of its number.
        number = record.number
        data.setdefault("item_id", cells.get("id"))
    task: dict[str, Any] = {"id": number, "data": data, "annotations": []}
    if blank(cells.get("annotation_id")):
        if not results:
            return task  # It was not annotated.
        problem = f"it has values of {', '.join({r['from_name']: None for r in results})}, and no "
        remedy = "Export the project again, or leave these cells empty if it was not annotated."
        return Fault(f"{problem}annotation_id.", remedy, record.number, "annotation_id")
    made = {"result": results, "created_at": cells.get("created_at")}
    made |= {"updated_at": cells.get("updated_at"), "id": _whole(cells["annotation_id"])}
    made["completed_by"] = _whole(cells.get("annotator"))
    if made["id"] is None:
        problem = f"the annotation_id {abbreviate(cells['annotation_id'])} is not a number."
        remedy = "Export the project again, or leave the cell empty if the task was not annotated."
        return Fault(problem, remedy, record.number, "annotation_id")
    if made["completed_by"] is None:
        problem = f"the annotator {abbreviate(cells.get('annotator'))} is not the number of a user"
        problem += "; e-mail addresses are not stored."
        return Fault(problem, "Export the project as JSON.", record.number, "annotator")
    return {**task, "annotations": [made]}


def _results(name: str, cell: Any, *, named: bool) -> list[dict[str, Any]] | None:
    """Return the results in a cell; None: it belongs to the data of the task.

    `named` tells that the caller names the control, whose results may then be plain labels.
    """
    if named and cell == "":
        return []
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        with suppress(ValueError):
            cell = json.loads(cell)
    found = []
    for value in cell if isinstance(cell, list) else [cell]:
        members = value if isinstance(value, Mapping) else {}
        kinds = [kind for member, kind in _TYPES.items() if member in members]
        # Regions keep their place next to the value.
        if len(kinds) == 1 and (len(members) == 1 or "start" in members):
            found.append({"from_name": name, "type": kinds[0], "value": value})
        elif named and isinstance(value, str | int | float) and not isinstance(value, bool):
            # A number is a choice that begins with one, as it is in a CSV.
            chosen = {"choices": [str(value)]}
            found.append({"from_name": name, "type": "choices", "value": chosen})
        else:
            return None
    return found or None


def _whole(cell: Any) -> int | None:
    """Return a whole number, which pandas writes as 3.0 in a column that also has blanks."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    digits = cell.removesuffix(".0") if isinstance(cell, str) else ""
    return int(digits) if digits.isascii() and digits.isdigit() else None
