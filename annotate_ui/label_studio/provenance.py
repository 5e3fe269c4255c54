"""Which annotation of which project every stored value came from."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from annotate_ui.label_studio.reserved_slots import Slot
from study.schema import Assignment, Rating, SetAside, table


def origin(project: StoredProject, annotation: int) -> str:
    """Return by which name a rating keeps the annotation that it came from.

    Numbers are those of one server, so the study's own number of the project goes first.
    """
    return f"{project.id}/{annotation}"


class Origins:
    """Where the values of each slot came from, as far as was stored before this pull."""

    def __init__(self, connection: Connection, newest: Iterable[Any]) -> None:
        self._projects: dict[int, int] = {}
        self._raters = _raters(connection)
        self._servers = {one.id: one.instance for one in stored_projects(connection)}
        for row in newest:
            if row.external_id is None:
                # Severed from whoever gave it.
                continue
            project, slash, _ = row.external_id.partition("/")
            if slash and project.isdigit():
                self._projects[row.assignment_id] = int(project)
        s = table(SetAside)
        self._aside = {
            (row.rater_id, row.response_id): row.project_id
            for row in connection.execute(select(s.c.rater_id, s.c.response_id, s.c.project_id))
        }

    def rater(self, project: StoredProject, annotation: int) -> int | None:
        """Return whose annotation it was when it was pulled before."""
        return self._raters.get(origin(project, annotation))

    def project(self, slot: Slot) -> int | None:
        """Return the project that a slot was filled from."""
        found = self._projects.get(slot.id)
        return found or self._aside.get((slot.rater_id, slot.response_id))

    def of_another_server(self, slot: Slot, project: StoredProject) -> bool:
        """Say whether a slot was filled from a project of another server."""
        known = self.project(slot)
        return known is not None and self._servers.get(known) != project.instance


def _raters(connection: Connection) -> dict[str, int]:
    """Return the rater of every annotation that a revision was ever stored of or that is aside."""
    g, a, s = table(Rating), table(Assignment), table(SetAside)
    stored = connection.execute(
        select(g.c.external_id, a.c.rater_id)
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .where(a.c.channel == CHANNEL, g.c.external_id.is_not(None))
        .order_by(g.c.id)
    )
    aside = connection.execute(
        select(s.c.project_id, s.c.external_id, s.c.rater_id).where(
            s.c.external_id.is_not(None), s.c.rater_id.is_not(None)
        )
    )
    found = {f"{row.project_id}/{row.external_id}": row.rater_id for row in aside}
    return found | {row.external_id: row.rater_id for row in stored if row.rater_id is not None}
