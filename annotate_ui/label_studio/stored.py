"""What the study knows of its projects and tasks in Label Studio."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import CHANNEL
from study.nouns import (
    Assignment,
    Construct,
    ElsewhereProject,
    ElsewhereTask,
    Rating,
    SetAside,
    table,
)
from study.scales import Scale
from study.words import Sees

OTHER_CHANNEL = "the rater has this response on another channel, whose value counts"
OTHER_SERVER = "the rater gave this on another server, whose value counts"
LEFT = "the rater has left the study"
ERASED = "a place that somebody holds who is erased"
PLACE_LOST = (OTHER_CHANNEL, OTHER_SERVER, LEFT, ERASED)
"""Why an annotation that is over there fills none of the study's slots, and never will."""


@dataclass(frozen=True)
class StoredProject:
    """A project, with its tasks."""

    id: int
    server: str
    number: int
    """Its number over there."""
    stage: int
    fields: tuple[Sees, ...]
    controls: Mapping[str, Mapping[str, Any]]
    overlap: int
    predictions: str | None
    tasks: dict[int, int]
    """Response to the number of its task over there."""

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
    for row in connection.execute(select(t.c.project_id, t.c.response_id, t.c.external_id)):
        tasks.setdefault(row.project_id, {})[row.response_id] = int(row.external_id)
    return [
        StoredProject(
            row.id,
            row.server,
            int(row.external_id),
            row.stage,
            tuple(row.fields),
            row.controls,
            row.overlap,
            row.predictions,
            tasks.get(row.id, {}),
        )
        for row in connection.execute(select(p).order_by(p.c.id))
        if server is None or row.server == server
    ]


def held_places(
    connection: Connection, projects: Sequence[StoredProject]
) -> Counter[tuple[int, frozenset[str]]]:
    """Return how many places there are over there, by response and the constructs asked for.

    Left out are those held by annotations from which the study can fill nothing: of somebody who
    has left or is erased, or whose value counts elsewhere.
    """
    held: Counter[tuple[int, frozenset[str]]] = Counter()
    for project in projects:
        for response in project.tasks:
            held[response, project.construct_keys] += project.overlap
    held.subtract(lost_places(connection, projects))
    return held


def lost_places(
    connection: Connection, projects: Sequence[StoredProject]
) -> Counter[tuple[int, frozenset[str]]]:
    """Return how many places are held by annotations from which the study can fill nothing."""
    keys = {project.id: project.construct_keys for project in projects}
    s, a = table(SetAside), table(Assignment)
    mine = {
        (row.rater_id, row.response_id, frozenset(row.construct_keys))
        for row in connection.execute(
            select(a.c.rater_id, a.c.response_id, a.c.construct_keys).where(
                a.c.channel == CHANNEL, a.c.rater_id.is_not(None)
            )
        )
    }
    rows = connection.execute(
        select(s.c.project_id, s.c.response_id, s.c.rater_id, s.c.external_id, s.c.digest).where(
            s.c.reason.in_(PLACE_LOST), s.c.response_id.is_not(None)
        )
    )
    places = {
        (row.project_id, row.response_id, row.external_id or row.digest)
        for row in rows
        if row.project_id in keys
        and (row.rater_id, row.response_id, keys[row.project_id]) not in mine
    }
    return Counter((response, keys[project]) for project, response, _ in places)


def stored_scales(connection: Connection) -> dict[tuple[str, int], Scale]:
    """Return the scale of every version of every construct, by key and version."""
    c = table(Construct)
    return {
        (row.key, row.version): Scale(
            min=row.scale_min, max=row.scale_max, step=row.scale_step, level=row.scale_level
        )
        for row in connection.execute(select(c))
    }


def store_tasks(connection: Connection, project_id: int, tasks: Mapping[int, int]) -> None:
    """Store which tasks a project has: response to the number of its task."""
    if tasks:
        connection.execute(
            insert(table(ElsewhereTask)),
            [
                {"project_id": project_id, "response_id": response, "external_id": str(number)}
                for response, number in tasks.items()
            ],
        )


def rated_slots(connection: Connection) -> set[int]:
    """Return the slots of this channel that somebody has done, as far as was pulled.

    A value that was kept aside is done too: its rater was there. One that was taken back is not.
    """
    a, g, s = table(Assignment), table(Rating), table(SetAside)
    newest: dict[tuple[int, str], str] = {}
    rows = connection.execute(
        select(g.c.assignment_id, g.c.construct_key, g.c.status)
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .where(a.c.channel == CHANNEL)
        .order_by(g.c.revision)
    )
    for assignment, construct, status in rows:
        newest[assignment, construct] = status
    done = {assignment for (assignment, _), status in newest.items() if status != "withdrawn"}
    withdrawn = {assignment for assignment, _ in newest} - done
    aside = connection.execute(
        select(a.c.id)
        .join_from(a, s, (a.c.rater_id == s.c.rater_id) & (a.c.response_id == s.c.response_id))
        .where(a.c.channel == CHANNEL)
    ).scalars()
    return done | (set(aside) - withdrawn)
