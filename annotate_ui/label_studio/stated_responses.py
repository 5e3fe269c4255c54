"""Responses that a file names, such as those on which judge and people differ most, as projects.

Their tasks have the columns of the file, by which the Data Manager filters and sorts. Nobody's
slot is filled there: what is settled on comes back by following the project.
"""

from collections.abc import Sequence
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from annotate_ui.label_studio import NAME
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.page import configuration, control_name, instructions
from annotate_ui.label_studio.projects import exchange
from annotate_ui.label_studio.results import StatedProject
from annotate_ui.label_studio.task_upload import task_data
from study.errors import Fault, InputError, StudyError, nearest
from study.facts.current_responses import response_contents
from study.facts.find_response import find_response
from study.importing.readers.source import RecordSource
from study.settings.constructs import ConstructSpec
from study.study import Study
from study.types import Sees

_REQUIRED = ("construct", "response_id")
_NAMES = {*_REQUIRED, "scorer", "query_id"}
_TEXTS = {NAME, "question", "response", "passages", "reference", "references"}
_COLUMNS = (
    "Name them construct and response_id; other columns become fields of the tasks, such as those "
    "of tables/largest-disagreements.csv of a report."
)

_IDENTIFY: tuple[Sees, ...] = ("question", "response", "context")
"""What identifies a response in a project that is followed."""
_Group = tuple[str, str]
"""Construct, and the scorer that the file names or an empty string: the rows of a project."""


class _Task(NamedTuple):
    response: int
    cells: dict[str, Any]
    """The row, with numbers as such."""


def push_stated(
    study: Study, server: Server, path: Path, *, title: str | None = None
) -> list[StatedProject]:
    """Create a project for each construct and scorer of a file, with a task for each row.

    The same file again sends what the projects lack.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column, or a row names no response or construct, or a
        response twice; nothing was sent.
    ServerError
        The server could not be reached or refused.
    """
    groups = _read(study, path)
    with exchange(study, server) as on_server, study.read() as connection:
        done = []
        for (key, scorer), tasks in groups.items():
            construct = next(spec for spec in study.config.constructs if spec.key == key)
            about = f"{construct.name}, {scorer}" if scorer else construct.name
            name = title or study.config.name
            place = f"Stated responses of {name}: {about}."
            versions = study.construct_versions(connection)
            xml = configuration(construct.sees, [construct], versions).xml
            made_of = repr((on_server.study_name, scorer, [task.cells for task in tasks], xml))
            digest = blake2b(made_of.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
            mark = f"[ccrs-study items {digest}]"
            number = next((one.id for one in on_server.listed if mark in one.description), None)
            is_new = number is None
            if number is None:
                number = server.create_project(
                    title=f"{name[:24]}: {about}"[:50],
                    description=f"{place} {mark}",
                    xml=xml,
                    instructions=instructions(study, [construct], place),
                    overlap=1,
                    in_order=True,
                )
            there = {task["data"].get("response_id") for task in server.export(number)}
            missing = [task for task in tasks if task.cells["response_id"] not in there]
            if missing:
                server.import_tasks(number, _tasks(connection, construct, missing))
            url, control = f"{server.url}/projects/{number}", control_name(key)
            sent = control, len(missing), is_new
            done.append(StatedProject(number, url, key, scorer or None, *sent))
    return done


def _tasks(
    connection: Connection, construct: ConstructSpec, tasks: Sequence[_Task]
) -> list[dict[str, Any]]:
    """Return tasks with their rows, what the construct sees, and what identifies a response."""
    shown = tuple(dict.fromkeys((*_IDENTIFY, *construct.sees)))
    keys = [task.response for task in tasks]
    # A page shows the first reference; a project that is followed states all of a query.
    contents = response_contents(connection, keys) if "reference" in shown else {}
    every = {key: {"references": content[2]} for key, content in contents.items() if content[2]}
    return [
        {"data": {**task.cells, **every.get(task.response, {}), **texts}}
        for task, texts in zip(tasks, task_data(connection, keys, shown), strict=True)
    ]


def _read(study: Study, path: Path) -> dict[_Group, list[_Task]]:
    source = RecordSource(path)
    names = source.head.columns
    taken = sorted(_TEXTS.intersection(names))
    if taken or not {*_REQUIRED} <= {*names}:
        problem = f"the columns are {', '.join(names) or 'none'}."
        if taken:
            problem = f"the column {taken[0]} would hide a text of the study."
        raise InputError(path.name, [Fault(problem, _COLUMNS, 1)])
    groups: dict[_Group, list[_Task]] = {}
    faults: list[Fault] = []
    keys = [spec.key for spec in study.config.constructs]
    with study.read() as connection:
        for record in source.records():
            if isinstance(record, Fault):
                faults.append(record)
                continue
            row, line = record.cells, record.number
            key, response = (str(row[name] or "").strip() for name in _REQUIRED)
            if key not in keys:
                hint = nearest(key, keys) or f"It has {', '.join(keys)}."
                problem = f"the study has no construct {key!r}."
                faults.append(Fault(problem, hint, line, "construct"))
                continue
            try:
                found = find_response(connection, response)
            except StudyError as error:
                faults.append(Fault(str(error), "", line, "response_id"))
                continue
            cells = {name: _cell(name, cell) for name, cell in row.items() if cell}
            cells |= {"construct": key, "response_id": response}
            group = groups.setdefault((key, str(row.get("scorer") or "")), [])
            if any(task.response == found.id for task in group):
                problem = f"{response!r} is there twice for {key}."
                faults.append(Fault(problem, "Keep one of the rows.", line, "response_id"))
            group.append(_Task(found.id, cells))
    if faults:
        raise InputError(path.name, faults)
    return groups


def _cell(name: str, cell: Any) -> str | float:
    """Return a number as such, by which the Data Manager sorts, unless it is a name."""
    try:
        number = float(cell)
    except ValueError:
        return str(cell)
    return str(cell) if name in _NAMES or not isfinite(number) else number
