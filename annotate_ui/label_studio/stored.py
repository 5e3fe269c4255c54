"""What the study knows of its projects and tasks in Label Studio."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import CHANNEL
from study.nouns import (
    Assignment,
    ElsewhereProject,
    ElsewhereTask,
    Rating,
    SetAside,
    table,
)


@dataclass(frozen=True)
class StoredProject:
    """A project, with its tasks."""

    id: int
    server: str
    number: int
    """Its number over there."""
    stage: int
    fields: tuple[str, ...]
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
