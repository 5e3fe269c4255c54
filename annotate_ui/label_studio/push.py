"""Pushing: projects and tasks for the slots of this channel are added; rated ones stay."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.drawn_pairs import PairToCompare, pairs_to_compare, shown_fields_of
from annotate_ui.label_studio.page_layout import same_page
from annotate_ui.label_studio.projects import (
    StoredProject,
    TaskKey,
    forget,
    rated_slots,
    store_controls,
    stored_projects,
    task_places,
)
from annotate_ui.label_studio.reserved_slots import Slot, ready, slots, split_by_stage
from annotate_ui.label_studio.results import Pushed
from annotate_ui.label_studio.revisions import Origins
from annotate_ui.label_studio.server_projects import (
    exchange,
    last_title,
    new_projects_workspace,
    publish,
    unknown_projects,
)
from annotate_ui.label_studio.task_data import NAME, PAIRS, Shown, study_name, task_names
from annotate_ui.label_studio.task_upload import Pages, ProjectKind, TaskSender
from study.errors import StudyError
from study.facts.comparison_decisions import people_by_pair
from study.progress_bar import Advance
from study.settings.design import DesignSpec
from study.study import Study

_Outdated = list[tuple[StoredProject, set[Shown]]]
"""Projects with an earlier version of a construct, and those of their tasks that have no annotation
and no draft."""

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
    workspace: int | None = None,
    progress: Advance | None = None,
) -> Pushed:
    """Create the projects and tasks that the slots of this channel need and do not have yet.

    Rated tasks are never changed; untouched tasks of an earlier version of a construct are
    replaced. A stage of a query is pushed once its earlier stages are rated and pulled for all
    slots, and its drawn pairs once all are.

    Parameters
    ----------
    title
        Beginning of the projects' names, before the stage; default: that of the study's newest
        project on the server, else the study's name.
    workspace
        Number of the workspace in which projects are created, in editions other than the open one;
        default: that of the study's newest project on the server.

    Raises
    ------
    StudyError
        Nothing is assigned to Label Studio, or the open edition is asked for a workspace.
    ServerError
        The server could not be reached or refused. The next push recognizes what was sent.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with exchange(study, server) as on_server:
        used_workspace = new_projects_workspace(server, workspace, on_server.present)
        _update_pages(study, server, on_server.present)
        deleted = _forget_deleted(study, server, on_server.present)
        outdated = _find_outdated(study, server, on_server.present)
        for project in on_server.missing:
            forget(study, project, list(project.tasks))
        with study.write() as connection:
            projects = stored_projects(connection)
            places = task_places(projects, {project.id: tasks for project, tasks in outdated})
            detached = _detached_slots(connection, study, projects)
            split_by_stage(connection, study, places, detached)
        with study.read() as connection:
            reserved = slots(connection, study)
            rated = rated_slots(connection)
            mark_name = study_name(connection)
            current = [slot for slot in reserved if slot.current_keys]
            pairs = pairs_to_compare(connection, study, current, rated)
            decided = people_by_pair(connection, CHANNEL)
        if not reserved and study.config.design.ratings:
            raise StudyError(
                "Nothing is assigned to Label Studio. Reserve slots with "
                f"`ccrs assign {study.folder} --open --channel {CHANNEL}`."
            )
        due = ready(current, rated)
        missing = _missing_tasks(
            study, [slot for slot in due if slot.id not in detached & rated], places, rated
        )
        missing |= _missing_pairs(study, pairs, places, decided)
        result = Pushed(
            server.url,
            existing=sum(len(project.tasks) for project in projects),
            deleted=deleted,
            outdated=sum(len(project.tasks) - len(untouched) for project, untouched in outdated),
            missing_projects=[project.number for project in on_server.missing],
            blocked=sum(sum(project.blocked.values()) for project in projects),
            waiting=len(current) - len(due),
            slots=len(reserved),
            ignored_settings=_ignored_settings(study.config.design),
        )
        used_title = title or last_title(on_server.listed, mark_name) or study.config.name
        sender = TaskSender(study, server, on_server, used_title, used_workspace, result, advance)
        sender.send(missing)
        with study.read() as connection:
            projects = stored_projects(connection)
        known = {project.number for project in projects}
        result.unknown_projects = unknown_projects(mark_name, on_server.listed, known)
        result.replaced = _delete_outdated(study, server, outdated)
        sent_to = {project.number for project in result.projects}
        result.published, result.unpublished = publish(server, projects, sent_to)
        return result


def _ignored_settings(design: DesignSpec) -> list[str]:
    default = DesignSpec()
    return [name for name in _OF_OWN_PAGES if getattr(design, name) != getattr(default, name)]


def _detached_slots(
    connection: Connection, study: Study, projects: Sequence[StoredProject]
) -> set[int]:
    """Return the slots that were rated in a task or project that has since been deleted."""
    tasks = {project.id: project.tasks for project in projects}
    origins = Origins(connection)
    return {
        slot.id
        for slot in slots(connection, study)
        if slot.rater_id is not None
        and (project := origins.project(slot)) is not None
        and (slot.response_id,) not in tasks[project]
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


def _absent(
    study: Study, project: StoredProject, on_server: Mapping[int, str | None]
) -> list[Shown]:
    """Return the tasks that are not on the server.

    Another task may have its number, since Label Studio reuses them, but not its name.
    """
    with study.read() as connection:
        names = task_names(connection, project.stage)
    return [
        shown for shown, number in project.tasks.items() if on_server.get(number) != names[shown]
    ]


def _update_pages(study: Study, server: Server, present: Iterable[StoredProject]) -> None:
    """Give projects of earlier pushes the page that a new one would have.

    It may ask for more than before, such as for marks, and words may have changed. A page that
    asked for something else stays.
    """
    pages = Pages(study)
    for project in present:
        page = pages.page(project)
        if not project.controls.items() <= page.controls.items():
            continue
        if not same_page(server.project(project.number).xml, page.xml):
            server.configure(project.number, page.xml)
        if project.controls != page.controls:
            with study.write() as connection:
                store_controls(connection, project, page.controls)


def _missing_tasks(
    study: Study, due: Sequence[Slot], places: Mapping[TaskKey, int], rated: set[int]
) -> dict[ProjectKind, list[Shown]]:
    """Return the responses that need a further task, by the kind of project."""
    order = [construct.key for construct in study.config.constructs]
    by_task: dict[TaskKey, list[Slot]] = defaultdict(list)
    for slot in due:
        by_task[slot.task_key].append(slot)
    missing: dict[ProjectKind, list[Shown]] = defaultdict(list)
    for task_key, some in by_task.items():
        # A task may have more annotations than places if raters' annotations were deleted.
        filled = sum(slot.id in rated for slot in some)
        count = len(some) - max(places.get(task_key, 0), filled)
        if count > 0:
            stage = some[0].stage
            keys = tuple(key for key in order if key in some[0].current_keys)
            missing[ProjectKind(stage.number, stage.fields, keys, count)].append(task_key[0])
    return missing


def _missing_pairs(
    study: Study,
    pairs: Sequence[PairToCompare],
    places: Mapping[TaskKey, int],
    decided: Mapping[frozenset[int], int],
) -> dict[ProjectKind, list[Shown]]:
    """Return the pairs that need a further task, by the kind of project."""
    by_pair: Counter[frozenset[int]] = Counter()
    for (shown, _), count in places.items():
        by_pair[frozenset(shown)] += count
    missing: dict[ProjectKind, list[Shown]] = defaultdict(list)
    for pair in pairs:
        both = frozenset(pair.sides)
        count = pair.wanted - max(by_pair[both], decided.get(both, 0))
        if count > 0:
            fields = shown_fields_of(study, pair.construct_keys)
            kind = ProjectKind(PAIRS, fields, pair.construct_keys, count)
            missing[kind].append(pair.sides)
    return missing


def _find_outdated(study: Study, server: Server, present: Iterable[StoredProject]) -> _Outdated:
    """Return the projects with an earlier version of a construct than study.toml.

    A later version comes from another process that has read a later study.toml.
    """
    with study.read() as connection:
        versions = study.construct_versions(connection)
    return [
        (project, _untouched(study, server, project))
        for project in present
        if project.tasks
        and any(version < versions.get(key, 0) for key, version in project.versions.items())
    ]


def _delete_outdated(study: Study, server: Server, outdated: _Outdated) -> int:
    """Delete untouched outdated tasks and return their number, after their successors were sent.

    In the other order Label Studio could give a new task the number of a deleted one, and a user
    who has the deleted task open would rate the new one.
    """
    deleted = 0
    for project, untouched in outdated:
        remaining = set(untouched)
        while remaining:
            # Checked again right before: tasks that were annotated meanwhile stay.
            batch = sorted(remaining & _untouched(study, server, project))[:_BATCH]
            if not batch:
                break
            server.delete_tasks(project.number, [project.tasks[shown] for shown in batch])
            deleted += forget(study, project, batch)
            remaining -= set(batch)
    return deleted


def _untouched(study: Study, server: Server, project: StoredProject) -> set[Shown]:
    with study.read() as connection:
        names = task_names(connection, project.stage)
    by_task = {number: shown for shown, number in project.tasks.items()}
    untouched = set()
    for task in server.export(project.number):
        shown = by_task.get(int(task["id"]))
        if shown is None or task.get("annotations") or task.get("drafts"):
            continue
        # Label Studio reuses numbers: the task must also have the response's name.
        if task.get("data", {}).get(NAME) == names[shown]:
            untouched.add(shown)
    return untouched
