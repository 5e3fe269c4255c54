"""Pushing: projects and tasks for the slots of this channel are added; rated ones stay."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.configuration import protected
from annotate_ui.label_studio.pair_tasks import pairs_to_compare
from annotate_ui.label_studio.pair_upload import PairSender
from annotate_ui.label_studio.projects import (
    StoredProject,
    TaskKey,
    forget,
    rated_slots,
    stored_projects,
    task_places,
)
from annotate_ui.label_studio.reserved_slots import Slot, ready, slots, split_by_stage
from annotate_ui.label_studio.results import Pushed
from annotate_ui.label_studio.revisions import Origins, ratings_of_channel
from annotate_ui.label_studio.server_projects import exchange, last_title
from annotate_ui.label_studio.task_data import NAME, study_name, task_names
from annotate_ui.label_studio.task_upload import ProjectKind, TaskSender
from study.errors import StudyError
from study.progress_bar import Advance
from study.settings.design import DesignSpec
from study.study import Study

# Tasks deleted in one request: a rating made between check and deletion would be lost.
_BATCH = 250
# Settings of [design] that only the project's own pages apply.
_OF_OWN_PAGES = (
    "calibration",
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
    progress: Advance | None = None,
) -> Pushed:
    """Create the projects and tasks that the slots of this channel need and do not have yet.

    Rated tasks are never changed; untouched tasks of an earlier version of a construct are
    replaced. A stage of a query is pushed once its earlier stages are rated and pulled for all
    slots.

    Parameters
    ----------
    title
        Beginning of the projects' names, before the stage; default: that of the study's newest
        project on the server, else the study's name.

    Raises
    ------
    StudyError
        Nothing is assigned to Label Studio.
    ServerError
        The server could not be reached or refused. The next push recognizes what was sent.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with exchange(study, server) as on_server:
        _protect(server, on_server.present)
        deleted = _forget_deleted(study, server, on_server.present)
        outdated = _find_outdated(study, server, on_server.present)
        for project in on_server.missing:
            forget(study, project, list(project.tasks))
        with study.write() as connection:
            projects = stored_projects(connection)
            places = task_places(outdated.without_untouched(projects))
            detached = _detached_slots(connection, study, projects)
            split_by_stage(connection, study, places, detached)
        with study.read() as connection:
            reserved = slots(connection, study)
            rated = rated_slots(connection)
            mark_name = study_name(connection)
        if not reserved:
            raise StudyError(
                "Nothing is assigned to Label Studio. Reserve slots with "
                f"`ccrs assign {study.folder} --open --channel {CHANNEL}`."
            )
        current = [slot for slot in reserved if slot.current_keys]
        due = ready(current, rated)
        missing = _missing_tasks(
            study, [slot for slot in due if slot.id not in detached & rated], places, rated
        )
        result = Pushed(
            server.url,
            existing=sum(len(project.tasks) for project in projects),
            deleted=deleted,
            outdated=outdated.rated,
            missing_projects=[project.number for project in on_server.missing],
            blocked=sum(sum(project.blocked.values()) for project in projects),
            waiting=len(current) - len(due),
            slots=len(reserved),
            ignored_settings=_ignored_settings(study.config.design),
        )
        used_title = title or last_title(on_server.listed, mark_name) or study.config.name
        sender = TaskSender(study, server, on_server, used_title, result, advance)
        sender.total = sum(len(responses) for responses in missing.values())
        for kind in sorted(missing, key=lambda kind: (kind.stage, kind.construct_keys)):
            sender.send(kind, missing[kind])
        with study.read() as connection:
            pairs = pairs_to_compare(connection, study, current, rated)
        PairSender(study, server, on_server, sender, result).send(pairs)
        result.unknown_projects = sender.unknown_projects()
        result.replaced = _delete_outdated(study, server, outdated)
        return result


def _ignored_settings(design: DesignSpec) -> list[str]:
    default = DesignSpec()
    return [name for name in _OF_OWN_PAGES if getattr(design, name) != getattr(default, name)]


def _detached_slots(
    connection: Connection, study: Study, projects: Sequence[StoredProject]
) -> set[int]:
    """Return the slots that were rated in a task or project that has since been deleted."""
    tasks = {project.id: project.tasks for project in projects}
    origins = Origins(connection, ratings_of_channel(connection).values())
    return {
        slot.id
        for slot in slots(connection, study)
        if slot.rater_id is not None
        and (project := origins.project(slot)) is not None
        and slot.response_id not in tasks[project]
    }


def _forget_deleted(study: Study, server: Server, present: Iterable[StoredProject]) -> int:
    """Forget tasks that were deleted in Label Studio; return how many.

    They are sent again, unless their slots are rated.
    """
    deleted = 0
    for project in present:
        if project.tasks and _absent(study, project, server.task_names(project.number)):
            # Read again in one reply: a task may be between the pages of a list that changes.
            exported = {
                int(task["id"]): task.get("data", {}).get(NAME)
                for task in server.export(project.number)
            }
            deleted += forget(study, project, _absent(study, project, exported))
    return deleted


def _absent(study: Study, project: StoredProject, on_server: Mapping[int, str | None]) -> list[int]:
    """Return the responses whose task is not on the server.

    Another task may have its number, since Label Studio reuses them, but not its name.
    """
    with study.read() as connection:
        names = task_names(connection, project.stage)
    return [r for r, number in project.tasks.items() if on_server.get(number) != names[r]]


def _protect(server: Server, present: Iterable[StoredProject]) -> None:
    """Configure projects of earlier pushes: neither hotkeys nor the wheel may change values."""
    for project in present:
        xml = server.project(project.number).xml
        if protected(xml) != xml:
            server.configure(project.number, protected(xml))


def _missing_tasks(
    study: Study, due: Sequence[Slot], places: Mapping[TaskKey, int], rated: set[int]
) -> dict[ProjectKind, list[int]]:
    """Return the responses that need a further task, by the kind of project."""
    order = [construct.key for construct in study.config.constructs]
    by_task: dict[TaskKey, list[Slot]] = defaultdict(list)
    for slot in due:
        by_task[slot.task_key].append(slot)
    missing: dict[ProjectKind, list[int]] = defaultdict(list)
    for (response, constructs), some in by_task.items():
        # A task may have more annotations than places if raters' annotations were deleted.
        filled = sum(slot.id in rated for slot in some)
        count = len(some) - max(places.get((response, constructs), 0), filled)
        if count > 0:
            stage = some[0].stage
            keys = tuple(key for key in order if key in some[0].current_keys)
            missing[ProjectKind(stage.number, stage.fields, keys, count)].append(response)
    return missing


@dataclass(frozen=True)
class _Outdated:
    """The projects of a server that contain an earlier version of a construct."""

    projects: Sequence[StoredProject]
    untouched: Mapping[int, frozenset[int]]
    """Project to the responses whose tasks have no annotation and no draft."""

    @property
    def rated(self) -> int:
        """Number of their tasks that stay because they have an annotation or a draft."""
        return sum(len(project.tasks) for project in self.projects) - sum(
            len(responses) for responses in self.untouched.values()
        )

    def without_untouched(self, projects: Sequence[StoredProject]) -> list[StoredProject]:
        """Return projects without the tasks that are replaced."""
        return [
            replace(
                project,
                tasks={
                    response: number
                    for response, number in project.tasks.items()
                    if response not in self.untouched.get(project.id, ())
                },
            )
            for project in projects
        ]


def _find_outdated(study: Study, server: Server, present: Sequence[StoredProject]) -> _Outdated:
    """Return the projects with an earlier version of a construct than study.toml.

    A later version comes from another process that has read a later study.toml.
    """
    with study.read() as connection:
        versions = study.construct_versions(connection)
    projects = [
        project
        for project in present
        if project.tasks
        and any(
            control["construct_version"] < versions.get(control["construct"], 0)
            for control in project.controls.values()
            if control["kind"] == "number"
        )
    ]
    return _Outdated(
        projects,
        {project.id: frozenset(_untouched(study, server, project)) for project in projects},
    )


def _delete_outdated(study: Study, server: Server, outdated: _Outdated) -> int:
    """Delete untouched outdated tasks and return their number, after their successors were sent.

    In the other order Label Studio could give a new task the number of a deleted one, and a user
    who has the deleted task open would rate the new one.
    """
    deleted = 0
    for project in outdated.projects:
        remaining = set(outdated.untouched[project.id])
        while remaining:
            # Checked again right before: tasks that were annotated meanwhile stay.
            batch = sorted(remaining & _untouched(study, server, project))[:_BATCH]
            if not batch:
                break
            server.delete_tasks(project.number, [project.tasks[response] for response in batch])
            deleted += forget(study, project, batch)
            remaining -= set(batch)
    return deleted


def _untouched(study: Study, server: Server, project: StoredProject) -> set[int]:
    with study.read() as connection:
        names = task_names(connection, project.stage)
    by_task = {number: response for response, number in project.tasks.items()}
    untouched = set()
    for task in server.export(project.number):
        response = by_task.get(int(task["id"]))
        if response is None or task.get("annotations") or task.get("drafts"):
            continue
        # Label Studio reuses numbers: the task must also have the response's name.
        if task.get("data", {}).get(NAME) == names[response]:
            untouched.add(response)
    return untouched
