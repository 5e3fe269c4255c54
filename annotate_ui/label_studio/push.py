"""Pushing: projects and tasks for the slots of this channel are added; rated ones stay."""

from collections import Counter, defaultdict

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.page import same_page
from annotate_ui.label_studio.projects import (
    StoredProject,
    TaskKey,
    exchange,
    forget,
    store_project,
    stored_projects,
)
from annotate_ui.label_studio.results import Pushed
from annotate_ui.label_studio.revisions import EarlierAnswers
from annotate_ui.label_studio.slots import Slot, ready, slots
from annotate_ui.label_studio.task_upload import (
    ProjectKind,
    TaskSender,
    page_of,
)
from annotate_ui.tasks.stages import Stage
from study.errors import StudyError
from study.importing.readers.input_file import Advance, unseen
from study.settings.design import DesignSpec
from study.study import Study

_Outdated = list[tuple[StoredProject, set[int]]]
"""Projects with an earlier version of a construct, and the responses whose tasks in them have no
annotation and no draft."""

# Tasks deleted in one request: a rating made between check and deletion would be lost.
_BATCH = 250
# Settings of [design] that only the project's own pages apply.
_OF_OWN_PAGES = (
    "calibration",
    "comparisons",
    "training",
    "checks",
    "repeats",
    "one_construct_a_pass",
    "layout",
)


def push(
    study: Study,
    server: Server,
    *,
    title: str | None = None,
    progress: Advance = unseen,
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
                if not same_page(server.project(project.number).xml, page.xml):
                    server.configure(project.number, page.xml)
                with study.write() as connection:
                    values = {"controls": page.controls}
                    store_project(connection, study, server, project.number, project, values)
        result = Pushed(
            server.url,
            missing_projects=[project.number for project in on_server.missing],
            ignored_settings=_ignored_settings(study.config.design),
        )
        used_title = title or study.config.name
        sender = TaskSender(study, server, on_server, used_title, result, progress)
        outdated: _Outdated = []
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


def _ignored_settings(design: DesignSpec) -> list[str]:
    default = DesignSpec()
    return [name for name in _OF_OWN_PAGES if getattr(design, name) != getattr(default, name)]


def _missing(study: Study, outdated: _Outdated, result: Pushed) -> dict[ProjectKind, list[int]]:
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
    result.existing = sum(len(project.tasks) for project in projects)
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
