"""Projects and tasks in Label Studio as they are stored in the study."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from annotate_ui.label_studio import CHANNEL
from study.base.scales import Scale
from study.facts.label_studio_left import asked_constructs
from study.facts.ratings import newest_ratings
from study.schema.creation import append_only_suspended
from study.schema.tables import (
    assignments,
    constructs,
    external_projects,
    external_tasks,
    ratings,
    rejected_values,
)
from study.study import Study
from study.types import Sees

TaskKey = tuple[int, frozenset[str]]
"""The response of a task, and the constructs that it asks for."""


@dataclass(frozen=True)
class StoredProject:
    """A project with its tasks."""

    id: int
    number: int
    """Its number in Label Studio."""
    stage: int
    fields: tuple[Sees, ...]
    controls: Mapping[str, Mapping[str, Any]]
    overlap: int
    tasks: dict[int, int]
    """Response of each task to the task's number in Label Studio."""
    following: Mapping[str, Any] | None = None
    """How a project that was made there is read; None: it was pushed."""

    @property
    def construct_keys(self) -> frozenset[str]:
        """The constructs that are rated, or that sentences are marked for."""
        return asked_constructs(self.controls)

    @property
    def versions(self) -> dict[str, int]:
        """The constructs in the versions under which values are stored."""
        versions: dict[str, int] = {}
        for control in self.controls.values():
            versions |= control.get("versions", {})
            if "construct" in control:
                versions[control["construct"]] = control["construct_version"]
        return versions


def stored_projects(connection: Connection, *, followed: bool = False) -> list[StoredProject]:
    """Return the projects that were pushed, or those that are `followed`, the oldest first."""
    tasks: dict[int, dict[int, int]] = {}
    for row in connection.execute(select(external_tasks)):
        tasks.setdefault(row.project_id, {})[row.response_id] = int(row.external_id)
    return [
        StoredProject(
            row.id,
            int(row.external_id),
            row.stage,
            tuple(row.fields),
            row.controls,
            row.overlap,
            tasks.get(row.id, {}),
            row.following,
        )
        for row in connection.execute(select(external_projects).order_by(external_projects.c.id))
        if (row.following is not None) == followed
    ]


def task_places(
    projects: Iterable[StoredProject], replaced: Mapping[int, Collection[int]]
) -> Counter[TaskKey]:
    """Return the number of places for annotations in Label Studio, by what is asked about what.

    Tasks that are `replaced`, by project, have none.
    """
    counts: Counter[TaskKey] = Counter()
    for project in projects:
        for response in project.tasks.keys() - replaced.get(project.id, ()):
            counts[response, project.construct_keys] += project.overlap
    return counts


def stored_scales(connection: Connection, versions: Mapping[str, int]) -> dict[str, Scale]:
    """Return the scales of constructs in these versions."""
    return {
        row.key: Scale(
            min=row.scale_min, max=row.scale_max, step=row.scale_step, level=row.scale_level
        )
        for row in connection.execute(select(constructs))
        if versions.get(row.key) == row.version
    }


def store_controls(
    connection: Connection, project: StoredProject, controls: Mapping[str, Mapping[str, Any]]
) -> None:
    """Store that the page of a project asks for more than before."""
    table = external_projects
    with append_only_suspended(connection, [table.name]):
        connection.execute(update(table).where(table.c.id == project.id).values(controls=controls))


def store_tasks(connection: Connection, project_id: int, tasks: Mapping[int, int]) -> None:
    """Store tasks of a project: the response of each, and its number."""
    if tasks:
        connection.execute(
            insert(external_tasks),
            [
                {
                    "project_id": project_id,
                    "response_id": response,
                    "external_id": str(number),
                    "lost": 0,
                }
                for response, number in tasks.items()
            ],
        )


def rated_slots(connection: Connection) -> set[int]:
    """Return the slots of this channel that were rated, according to what was pulled.

    A slot with a rejected value counts as rated, one whose values were withdrawn does not.
    """
    of_channel = select(assignments.c.id).where(assignments.c.channel == CHANNEL)
    rows = connection.execute(select(newest_ratings(ratings.c.assignment_id.in_(of_channel))))
    newest = [(row.assignment_id, row.answered) for row in rows]
    rated = {assignment for assignment, answered in newest if answered}
    withdrawn = {assignment for assignment, _ in newest} - rated
    rejected = connection.execute(
        select(assignments.c.id)
        .join_from(
            assignments,
            rejected_values,
            (assignments.c.rater_id == rejected_values.c.rater_id)
            & (assignments.c.response_id == rejected_values.c.response_id),
        )
        .where(assignments.c.channel == CHANNEL)
    ).scalars()
    return rated | (set(rejected) - withdrawn)


def forget(study: Study, project: StoredProject, tasks: Iterable[int]) -> int:
    """Delete the study's record of some of a project's tasks; return their number.

    Ratings that were pulled stay; the next push sends what is unrated again.
    """
    numbers = [project.tasks.pop(r) for r in list(tasks) if r in project.tasks]
    if numbers:
        with study.write() as connection:
            for number in numbers:
                connection.execute(
                    delete(external_tasks).where(
                        external_tasks.c.project_id == project.id,
                        external_tasks.c.external_id == str(number),
                    )
                )
    return len(numbers)
