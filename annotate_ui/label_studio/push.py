"""Pushing: projects and tasks for the slots of this channel; what is there already stays."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.projects import (
    StoredProject,
    forget,
    held_places,
    rated_slots,
    stored_projects,
)
from annotate_ui.label_studio.reserved_slots import Slot, ready, slots, split_by_stage
from annotate_ui.label_studio.results import Pushed
from annotate_ui.label_studio.revisions import Origins, ratings_of_channel
from annotate_ui.label_studio.server_projects import exchange
from annotate_ui.label_studio.task_data import NAME, task_names
from annotate_ui.label_studio.task_upload import Kind, Sender
from study.errors import StudyError
from study.progress import Advance
from study.study import Study


def push(
    study: Study,
    server: Server,
    *,
    title: str | None = None,
    progress: Advance | None = None,
) -> Pushed:
    """Make the projects and tasks that the slots of this channel want and that are not there.

    Nothing is changed that somebody has rated; untouched tasks that ask an earlier version of a
    construct are replaced. A stage of a query is pushed when its earlier stages are
    rated and pulled, by everybody who has a slot.

    Parameters
    ----------
    title
        What the projects are called, before their stage; the study's name unless given.

    Raises
    ------
    StudyError
        Nothing is assigned to Label Studio.
    ServerError
        The server could not be reached or refused. What was sent is known again at the next push.
    """
    advance = progress or (lambda done, total: None)  # noqa: ARG005
    with exchange(study, server) as there:
        gone = _forget_gone(study, server, there.present)
        outdated = earlier(study, server, there.present)
        for project in there.missing:
            forget(study, project, list(project.tasks))
        with study.write() as connection:
            projects = stored_projects(connection)
            held = held_places(outdated.without(projects))
            settled = _settled(connection, study, projects)
            split_by_stage(connection, study, held, settled)
        with study.read() as connection:
            reserved = slots(connection, study)
            done = rated_slots(connection)
        if not reserved:
            raise StudyError(
                "Nothing is assigned to Label Studio. Reserve slots with "
                f"`ccrs assign {study.folder} --open --channel {CHANNEL}`."
            )
        due = ready([slot for slot in reserved if slot.asked], done)
        asked = sum(bool(slot.asked) for slot in reserved)
        result = Pushed(server.url, waiting=asked - len(due), slots=len(reserved))
        open_places = [slot for slot in due if slot.id not in settled & done]
        wanted = _wanted(study, open_places, held, done)
        result.there = sum(len(one.tasks) for one in there.known)
        result.gone, result.earlier = gone, outdated.rated
        result.missing = [one.number for one in there.missing]
        result.lost = sum(sum(one.lost.values()) for one in projects)
        sender = Sender(study, server, there, title or study.config.name, result, advance)
        sender.total = sum(len(responses) for responses in wanted.values())
        for kind in sorted(wanted, key=lambda kind: (kind.stage, kind.construct_keys)):
            sender.send(kind, wanted[kind])
        result.unknown = sender.unknown()
        result.renewed = remove(study, server, outdated)
        return result


def _settled(connection: Connection, study: Study, projects: Sequence[StoredProject]) -> set[int]:
    """Return the slots that were rated at a place that is not over there any more.

    Its task or its project was deleted.
    """
    tasks = {one.id: one.tasks for one in projects}
    origins = Origins(connection, ratings_of_channel(connection).values())
    return {
        slot.id
        for slot in slots(connection, study)
        if slot.rater_id is not None
        and (project := origins.project(slot)) is not None
        and slot.response_id not in tasks[project]
    }


def _forget_gone(study: Study, server: Server, present: Iterable[StoredProject]) -> int:
    """Forget tasks that were deleted over there, so that they are sent again; return how many.

    Those that somebody had rated were for slots that are filled, or that their withdrawal opens.
    """
    gone = 0
    for project in present:
        if server.project(project.number).tasks != len(project.tasks):
            numbers = {int(task["id"]) for task in server.export(project.number)}
            lost = [r for r, number in project.tasks.items() if number not in numbers]
            gone += forget(study, project, lost)
    return gone


def _wanted(
    study: Study,
    due: Sequence[Slot],
    held: Mapping[tuple[int, frozenset[str]], int],
    done: set[int],
) -> dict[Kind, list[int]]:
    """Return which responses want a task of which kind; those that have theirs are left out."""
    order = [construct.key for construct in study.config.constructs]
    together: dict[tuple[int, frozenset[str]], list[Slot]] = defaultdict(list)
    for slot in due:
        together[slot.wanted].append(slot)
    wanted: dict[Kind, list[int]] = defaultdict(list)
    for (response, constructs), slots_ in together.items():
        # Of an abandoned place more annotations may be there than it had places.
        taken = sum(slot.id in done for slot in slots_)
        missing = len(slots_) - max(held.get((response, constructs), 0), taken)
        if missing > 0:
            stage = slots_[0].stage
            keys = tuple(key for key in order if key in slots_[0].asked)
            wanted[Kind(stage.number, stage.fields, keys, missing)].append(response)
    return wanted


# Tasks deleted at once: what is rated between looking and deleting would be lost.
_TOGETHER = 250


@dataclass(frozen=True)
class Earlier:
    """The projects of a server that ask an earlier version of a construct."""

    projects: Sequence[StoredProject]
    untouched: Mapping[int, frozenset[int]]
    """By project, the responses whose tasks nobody has rated or begun to."""

    @property
    def rated(self) -> int:
        """How many of their tasks stay, since somebody has rated them or begun to."""
        return sum(len(one.tasks) for one in self.projects) - sum(
            len(responses) for responses in self.untouched.values()
        )

    def without(self, projects: Sequence[StoredProject]) -> list[StoredProject]:
        """Return projects without the tasks that make way."""
        return [
            replace(
                one,
                tasks={
                    response: number
                    for response, number in one.tasks.items()
                    if response not in self.untouched.get(one.id, ())
                },
            )
            for one in projects
        ]


def earlier(study: Study, server: Server, present: Sequence[StoredProject]) -> Earlier:
    """Return what of a server's projects asks an earlier version of a construct than study.toml.

    One that asks a later version was pushed by another process that knows a later study.toml.
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
    return Earlier(
        projects, {one.id: frozenset(_untouched(study, server, one)) for one in projects}
    )


def remove(study: Study, server: Server, found: Earlier) -> int:
    """Delete the tasks that make way; return how many.

    Called when those in their place are sent: Label Studio may give a number again that was the
    last, and whoever has a task open would rate another one.
    """
    removed = 0
    for project in found.projects:
        left = set(found.untouched[project.id])
        while left:
            # Looked at once more right before: whoever rated one meanwhile keeps what they gave.
            some = sorted(left & _untouched(study, server, project))[:_TOGETHER]
            if not some:
                break
            server.delete_tasks(project.number, [project.tasks[response] for response in some])
            removed += forget(study, project, some)
            left -= set(some)
    return removed


def _untouched(study: Study, server: Server, project: StoredProject) -> set[int]:
    with study.read() as connection:
        names = task_names(connection, project.stage)
    by_task = {number: response for response, number in project.tasks.items()}
    found = set()
    for task in server.export(project.number):
        response = by_task.get(int(task["id"]))
        touched = task.get("annotations") or task.get("drafts")
        # The number may be another task's by now.
        named = response is not None and task.get("data", {}).get(NAME) == names[response]
        if response is not None and named and not touched:
            found.add(response)
    return found
