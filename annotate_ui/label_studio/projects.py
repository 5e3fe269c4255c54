"""What the study knows of its projects and tasks in Label Studio."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from annotate_ui.label_studio import CHANNEL
from study.facts.ratings import newest_ratings
from study.scales import RatingScale
from study.schema import (
    Assignment,
    Construct,
    ElsewhereProject,
    ElsewhereTask,
    Rating,
    SetAside,
    table,
)
from study.study import Study
from study.types import Sees

OTHER_CHANNEL = "the rater has this response on another channel, whose value counts"
OTHER_SERVER = "the rater gave this on another server, whose value counts"
LEFT = "the rater has left the study"


@dataclass(frozen=True)
class StoredProject:
    """A project, with its tasks."""

    id: int
    server: str
    number: int
    """Its number over there."""
    instance: str
    stage: int
    fields: tuple[Sees, ...]
    controls: Mapping[str, Mapping[str, Any]]
    overlap: int
    tasks: dict[int, int]
    """Response to the number of its task over there."""
    lost: dict[int, int]
    """Response to how many of its task's places fill nothing here, where there are any."""

    @property
    def construct_keys(self) -> frozenset[str]:
        """The constructs that are asked for."""
        return frozenset(
            control["construct"] for control in self.controls.values() if "construct" in control
        )


def stored_projects(connection: Connection, server: str | None = None) -> list[StoredProject]:
    """Return the projects of a server, or of all, the oldest first."""
    p, t = table(ElsewhereProject), table(ElsewhereTask)
    tasks: dict[int, dict[int, int]] = {}
    lost: dict[int, dict[int, int]] = {}
    columns = t.c.project_id, t.c.response_id, t.c.external_id, t.c.lost
    for row in connection.execute(select(*columns)):
        tasks.setdefault(row.project_id, {})[row.response_id] = int(row.external_id)
        if row.lost:
            lost.setdefault(row.project_id, {})[row.response_id] = row.lost
    return [
        StoredProject(
            row.id,
            row.server,
            int(row.external_id),
            row.instance,
            row.stage,
            tuple(row.fields),
            row.controls,
            row.overlap,
            tasks.get(row.id, {}),
            lost.get(row.id, {}),
        )
        for row in connection.execute(select(p).order_by(p.c.id))
        if server is None or row.server == server
    ]


def held_places(projects: Iterable[StoredProject]) -> Counter[tuple[int, frozenset[str]]]:
    """Return how many places there are over there, by response and the constructs asked for.

    Left out are those held by annotations from which the study can fill nothing: of somebody who
    has left or is erased, or whose value counts elsewhere.
    """
    held: Counter[tuple[int, frozenset[str]]] = Counter()
    for project in projects:
        for response in project.tasks:
            places = project.overlap - project.lost.get(response, 0)
            held[response, project.construct_keys] += places
    return held


def stored_scales(connection: Connection) -> dict[tuple[str, int], RatingScale]:
    """Return the scale of every version of every construct, by key and version."""
    c = table(Construct)
    return {
        (row.key, row.version): RatingScale(
            min=row.scale_min, max=row.scale_max, step=row.scale_step, level=row.scale_level
        )
        for row in connection.execute(select(c))
    }


def store_lost(connection: Connection, project: StoredProject, lost: Mapping[int, int]) -> None:
    """Store how many places of which tasks fill nothing, by response; all others have none."""
    changed = {
        response: lost.get(response, 0)
        for response in {*lost, *project.lost}
        if lost.get(response, 0) != project.lost.get(response, 0)
    }
    if changed:
        t = table(ElsewhereTask)
        connection.execute(
            update(t)
            .where(t.c.project_id == project.id, t.c.response_id == bindparam("of"))
            .values(lost=bindparam("places")),
            [{"of": response, "places": places} for response, places in changed.items()],
        )


def store_tasks(connection: Connection, project_id: int, tasks: Mapping[int, int]) -> None:
    """Store which tasks a project has: response to the number of its task."""
    if tasks:
        connection.execute(
            insert(table(ElsewhereTask)),
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
    """Return the slots of this channel that somebody has done, as far as was pulled.

    A value that was kept aside is done too: its rater was there. One that was taken back is not.
    """
    a, g, s = table(Assignment), table(Rating), table(SetAside)
    mine = select(a.c.id).where(a.c.channel == CHANNEL)
    rows = connection.execute(select(newest_ratings(g.c.assignment_id.in_(mine))))
    newest = {(row.assignment_id, row.construct_key): row.status for row in rows}
    done = {assignment for (assignment, _), status in newest.items() if status != "withdrawn"}
    withdrawn = {assignment for assignment, _ in newest} - done
    aside = connection.execute(
        select(a.c.id)
        .join_from(a, s, (a.c.rater_id == s.c.rater_id) & (a.c.response_id == s.c.response_id))
        .where(a.c.channel == CHANNEL)
    ).scalars()
    return done | (set(aside) - withdrawn)


def forget(study: Study, project: StoredProject, responses: Iterable[int]) -> int:
    """Forget a project's tasks of these responses; return how many they were.

    What was pulled of them stays; what nobody had rated is sent again.
    """
    gone = [response for response in responses if response in project.tasks]
    if not gone:
        return 0
    t = table(ElsewhereTask)
    with study.write() as connection:
        for response in gone:
            connection.execute(
                delete(t).where(t.c.project_id == project.id, t.c.response_id == response)
            )
    for response in gone:
        del project.tasks[response]
    return len(gone)
