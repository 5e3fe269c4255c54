"""Projects and tasks in Label Studio as they are stored in the study."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from annotate_ui.label_studio import CHANNEL
from study.facts.label_studio_left import asked_constructs
from study.facts.ratings import newest_ratings
from study.scales import RatingScale
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
"""A response, and the constructs that are rated."""

OTHER_CHANNEL = "the rater has this response on another channel, whose value counts"
LEFT = "the rater has left the study"
UNKNOWN_RESPONSE = "its response is not in the study"
DELETED = "deleted in Label Studio"
CHANGED_TO_INVALID = "changed in Label Studio to an invalid value"
DUPLICATE = "another annotation of the same task by the same rater; the latest counts"


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
    """Response to the number of its task in Label Studio."""
    blocked: dict[int, int]
    """Response to the number of places of its task that are occupied without a value."""
    following: Mapping[str, Any] | None = None
    """How a project that was made there is read; None: it was pushed."""

    @property
    def compares(self) -> bool:
        """Whether pairs are compared in it, and nothing is rated."""
        kinds = {control["kind"] for control in self.controls.values()}
        return self.following is None and "preference" in kinds

    @property
    def construct_keys(self) -> frozenset[str]:
        """The constructs that are rated, or that sentences are marked for."""
        return asked_constructs(self.controls)

    @property
    def stage_fields(self) -> dict[str, tuple[Sees, ...]]:
        """Construct to the fields that are shown at its stage."""
        return {
            control["construct"]: tuple(control.get("fields", self.fields))
            for control in self.controls.values()
            if control["kind"] == "number"
        }


def stored_projects(connection: Connection, *, followed: bool = False) -> list[StoredProject]:
    """Return the projects that were pushed, or those that are `followed`, the oldest first."""
    tasks: dict[int, dict[int, int]] = {}
    blocked: dict[int, dict[int, int]] = {}
    columns = (
        external_tasks.c.project_id,
        external_tasks.c.response_id,
        external_tasks.c.external_id,
        external_tasks.c.lost,
    )
    for row in connection.execute(select(*columns)):
        tasks.setdefault(row.project_id, {})[row.response_id] = int(row.external_id)
        if row.lost:
            blocked.setdefault(row.project_id, {})[row.response_id] = row.lost
    return [
        StoredProject(
            row.id,
            int(row.external_id),
            row.stage,
            tuple(row.fields),
            row.controls,
            row.overlap,
            tasks.get(row.id, {}),
            blocked.get(row.id, {}),
            row.following,
        )
        for row in connection.execute(select(external_projects).order_by(external_projects.c.id))
        if (row.following is not None) == followed
    ]


def task_places(projects: Iterable[StoredProject]) -> Counter[TaskKey]:
    """Return the number of places for annotations in Label Studio, by response and constructs.

    Places occupied by annotations without a value are left out: their rater has left, was erased,
    or has a value elsewhere that counts.
    """
    counts: Counter[TaskKey] = Counter()
    for project in projects:
        for response in project.tasks:
            places = project.overlap - project.blocked.get(response, 0)
            counts[response, project.construct_keys] += places
    return counts


def stored_scales(connection: Connection) -> dict[tuple[str, int], RatingScale]:
    """Return the scale of every version of every construct, by key and version."""
    return {
        (row.key, row.version): RatingScale(
            min=row.scale_min, max=row.scale_max, step=row.scale_step, level=row.scale_level
        )
        for row in connection.execute(select(constructs))
    }


def store_blocked(
    connection: Connection, project: StoredProject, blocked: Mapping[int, int]
) -> None:
    """Store the number of occupied places without a value, by response; 0 for all others."""
    changed = {
        response: blocked.get(response, 0)
        for response in {*blocked, *project.blocked}
        if blocked.get(response, 0) != project.blocked.get(response, 0)
    }
    if changed:
        connection.execute(
            update(external_tasks)
            .where(
                external_tasks.c.project_id == project.id,
                external_tasks.c.response_id == bindparam("of"),
            )
            .values(lost=bindparam("places")),
            [{"of": response, "places": places} for response, places in changed.items()],
        )


def store_tasks(connection: Connection, project_id: int, tasks: Mapping[int, int]) -> None:
    """Store tasks of a project: response to the number of its task."""
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


def forget(study: Study, project: StoredProject, responses: Iterable[int]) -> int:
    """Delete the study's record of a project's tasks of these responses; return their number.

    Ratings that were pulled stay; the next push sends unrated responses again.
    """
    tasks = [response for response in responses if response in project.tasks]
    if not tasks:
        return 0
    with study.write() as connection:
        for response in tasks:
            connection.execute(
                delete(external_tasks).where(
                    external_tasks.c.project_id == project.id,
                    external_tasks.c.response_id == response,
                )
            )
    for response in tasks:
        del project.tasks[response]
    return len(tasks)
