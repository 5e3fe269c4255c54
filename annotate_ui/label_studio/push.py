"""Pushing: projects and tasks are added for the slots of this channel, or for stated responses.

Tasks of stated responses, such as those on which judge and people differ most, have the columns of
their file, by which the Data Manager filters and sorts. Nobody's slot is filled there: what is
settled on comes back by following the project.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import canonicalize

from sqlalchemy import Connection

from annotate_ui.label_studio import CHANNEL, NAME
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.page import configuration, control_name, instructions
from annotate_ui.label_studio.projects import (
    StoredProject,
    TaskKey,
    exchange,
    forget,
    store_project,
    stored_projects,
)
from annotate_ui.label_studio.results import Pushed, StatedProject
from annotate_ui.label_studio.revisions import EarlierAnswers
from annotate_ui.label_studio.slots import Slot, ready, slots
from annotate_ui.label_studio.task_upload import ProjectKind, TaskSender, page_of, task_data
from annotate_ui.tasks.stages import Stage
from study.errors import Fault, InputError, StudyError, nearest
from study.facts.current_responses import response_contents
from study.facts.find_response import find_response
from study.importing.readers.input_file import Advance, unseen
from study.importing.readers.source import RecordSource
from study.settings.constructs import ConstructSpec
from study.settings.design import DesignSpec
from study.study import Study
from study.types import Sees

_REQUIRED = ("construct", "response_id")
_NAMES = {*_REQUIRED, "scorer", "query_id"}
_TEXTS = {NAME, "question", "response", "passages", "reference", "references"}
_COLUMNS = (
    "Name them construct and response_id; other columns become fields of the tasks, such as those "
    "of tables/largest-disagreements.csv of a report."
)

_Group = tuple[str, str]
"""Construct, and the scorer that the file names or an empty string: the rows of a project."""
_Task = tuple[int, dict[str, Any]]
"""A response and its row, with numbers as such."""
# Tasks deleted in one request: a rating made between check and deletion would be lost.
_BATCH = 250
# Settings of [design] that only the project's own pages apply.
_OF_OWN_PAGES = (
    *("calibration", "comparisons", "training", "checks", "repeats", "one_construct_a_pass"),
    "layout",
)


def push(
    study: Study, server: Server, *, title: str | None = None, progress: Advance = unseen
) -> Pushed:
    """Create the projects and tasks that the slots of this channel need and do not have yet.

    Rated tasks are never changed; untouched tasks of an earlier version of a construct are
    replaced. A stage of a query is pushed once its earlier stages are rated and pulled for all
    slots.

    Parameters
    ----------
    title
        Beginning of the projects' names, before the stage; default: the study's name.

    Raises
    ------
    StudyError
        Nothing is assigned to Label Studio.
    ServerError
        The server could not be reached or refused. The next push recognizes what was sent.
    """
    with exchange(study, server) as on_server:
        for project in on_server.present:
            page = page_of(study, project)
            # A page that asked for something else stays; one that asks for less, or in other
            # words, becomes the page that a new project would have.
            if project.controls.items() <= page.controls.items():
                there = server.project(project.number).xml
                if canonicalize(there, strip_text=True) != canonicalize(page.xml, strip_text=True):
                    server.configure(project.number, page.xml)
                with study.write() as connection:
                    values = {"controls": page.controls}
                    store_project(connection, study, server, project.number, project, values)
        result = Pushed(server.url, missing_projects=[p.number for p in on_server.missing])
        given, default = study.config.design, DesignSpec()
        changed = (name for name in _OF_OWN_PAGES if getattr(given, name) != getattr(default, name))
        result.ignored_settings = list(changed)
        sender = TaskSender(study, server, on_server, title or study.config.name, result, progress)
        # Projects with an earlier version of a construct, with their untouched tasks.
        outdated: list[tuple[StoredProject, set[int]]] = []
        with study.read() as connection:
            versions = study.construct_versions(connection)
        for project in on_server.present:
            untouched = {r for r, task in sender.refresh(project).items() if not task.touched}
            # A later version comes from another process that has read a later study.toml.
            if any(version < versions.get(key, 0) for key, version in project.versions.items()):
                outdated.append((project, untouched))
        for project in on_server.missing:
            forget(study, project, list(project.tasks))
        sender.send(_missing(study, outdated, result))
        with study.read() as connection:
            projects = stored_projects(connection)
        result.unknown_projects = on_server.unknown(projects)
        for project, remaining in outdated:
            result.replaced += _delete(sender, project, remaining)
        return result


def _delete(sender: TaskSender, project: StoredProject, outdated: set[int]) -> int:
    """Delete untouched outdated tasks and return their number, after their successors were sent.

    In the other order Label Studio could give a new task the number of a deleted one, and a user
    who has the deleted task open would rate the new one.
    """
    deleted, remaining = 0, set(outdated)
    while remaining:
        # Checked again right before: tasks that were annotated meanwhile stay.
        there = sender.refresh(project)
        batch = [r for r in sorted(remaining) if r in there and not there[r].touched][:_BATCH]
        if not batch:
            break
        sender.server.delete_tasks(project.number, [project.tasks[r] for r in batch])
        deleted += forget(sender.study, project, batch)
        remaining -= set(batch)
    return deleted


def _missing(
    study: Study, outdated: Sequence[tuple[StoredProject, set[int]]], result: Pushed
) -> dict[ProjectKind, list[int]]:
    """Return what needs a further task, by the kind of project; the result gets what needs none."""
    with study.read() as connection:
        projects = stored_projects(connection)
        reserved = slots(connection, study)
        earlier = EarlierAnswers(connection)
    if not reserved:
        raise StudyError(
            "Nothing is assigned to Label Studio. Reserve slots with "
            f"`ccrs assign {study.folder} --open --channel {CHANNEL}`."
        )
    rated = {slot.id for slot in reserved if earlier.is_rated(slot)}
    due = ready(reserved, rated)
    # What an interrupted push had sent is in `adopted`.
    result.existing = sum(len(project.tasks) for project in projects) - result.adopted
    result.outdated = sum(len(project.tasks) - len(untouched) for project, untouched in outdated)
    result.waiting = sum(slot.stage is not None for slot in reserved) - len(due)
    result.slots = len(reserved)
    tasks = {project.id: project.tasks for project in projects}
    replaced = {project.id: untouched for project, untouched in outdated}
    places: Counter[TaskKey] = Counter()
    for project in projects:
        for response in project.tasks.keys() - replaced.get(project.id, set()):
            places[response, project.construct_keys] += project.overlap
    wanted: dict[TaskKey, list[Slot]] = defaultdict(list)
    stages: dict[TaskKey, Stage] = {}
    for slot, stage in due:
        origin = earlier.project(slot) if slot.id in rated else None
        # What was rated in a task that is gone is wanted nowhere.
        if origin is None or slot.response_id in tasks[origin]:
            wanted[slot.task_key].append(slot)
            stages.setdefault(slot.task_key, stage)
    missing: dict[ProjectKind, list[int]] = defaultdict(list)
    for task_key, some in wanted.items():
        # A task may have more annotations than places if raters' annotations were deleted.
        filled = sum(slot.id in rated for slot in some)
        count = len(some) - max(places[task_key], filled)
        if count > 0:
            stage = stages[task_key]
            keys = tuple(s.key for s in study.config.constructs if s.key in task_key[1])
            kind = ProjectKind(stage.number, stage.fields, keys, count)
            missing[kind].append(task_key[0])
    return missing


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
            made_of = repr((on_server.study_name, scorer, [cells for _, cells in tasks], xml))
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
            missing = [task for task in tasks if task[1]["response_id"] not in there]
            if missing:
                server.import_tasks(number, _tasks(connection, construct, missing))
            url, sent = f"{server.url}/projects/{number}", (control_name(key), len(missing), is_new)
            done.append(StatedProject(number, url, key, scorer or None, *sent))
    return done


def _tasks(
    connection: Connection, construct: ConstructSpec, tasks: Sequence[_Task]
) -> list[dict[str, Any]]:
    """Return tasks with their rows, what the construct sees, and what identifies a response."""
    identify: tuple[Sees, ...] = ("question", "response", "context")
    shown = tuple(dict.fromkeys((*identify, *construct.sees)))
    keys = [response for response, _ in tasks]
    # A page shows the first reference; a project that is followed states all of a query.
    contents = response_contents(connection, keys) if "reference" in shown else {}
    every = {key: {"references": content[2]} for key, content in contents.items() if content[2]}
    return [
        {"data": {**cells, **every.get(response, {}), **texts}}
        for (response, cells), texts in zip(tasks, task_data(connection, keys, shown), strict=True)
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
            if any(other == found.id for other, _ in group):
                problem = f"{response!r} is there twice for {key}."
                faults.append(Fault(problem, "Keep one of the rows.", line, "response_id"))
            group.append((found.id, cells))
    if faults:
        raise InputError(path.name, faults)
    return groups


def _cell(name: str, cell: Any) -> str | float:
    """Return a number as such, by which the Data Manager sorts, unless it is a name."""
    with suppress(ValueError):
        if name not in _NAMES and isfinite(float(cell)):
            return float(cell)
    return str(cell)
