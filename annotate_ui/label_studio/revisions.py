"""Ratings of this channel as revisions: each difference from the newest is the next, or nothing."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, insert, select

from annotate_ui.label_studio import CHANNEL
from annotate_ui.label_studio.annotation_reader import Annotation
from annotate_ui.label_studio.projects import StoredProject, stored_projects
from annotate_ui.label_studio.reserved_slots import Slot
from annotate_ui.label_studio.results import Pulled
from study.facts.ratings import newest_ratings
from study.schema import Assignment, Rating, RatingBase, SetAside, table
from study.study import Study

# Rows that are written at once, so that not all of them are held.
_TOGETHER = 2000


class Revisions:
    """The ratings of this channel as they stood before a pull, and what it adds to them.

    A pull gives a construct of a slot at most once.
    """

    def __init__(self, connection: Connection, study: Study, result: Pulled) -> None:
        self._connection, self._study, self._result = connection, study, result
        self._rows: list[dict[str, Any]] = []
        self._versions = study.construct_versions(connection)
        self.newest = ratings_of_channel(connection)
        """By slot and construct, with its rater."""

    def standing(self, slot: Slot) -> set[str]:
        """Return the constructs of which a slot holds what was not taken back."""
        return {
            key
            for key in slot.construct_keys
            if (row := self.newest.get((slot.id, key))) is not None and row.status != "withdrawn"
        }

    def add(self, slot: Slot, row: RatingBase) -> None:
        """Store a rating unless the newest says the same."""
        before = self.newest.get((slot.id, row.construct_key))
        wanted = self._versions.get(row.construct_key, row.construct_version)
        self._result.earlier += row.status == "rated" and row.construct_version != wanted
        if before is not None and _content(before) == _content(row):
            self._result.unchanged += 1
            return
        if before is None:
            self._result.new += 1
        else:
            self._result.changed += 1
        self._result.skipped += row.status == "skipped"
        self._write(slot, row, 0 if before is None else before.revision)

    def withdraw(
        self,
        slot: Slot,
        construct_keys: Iterable[str],
        reason: str,
        annotation: Annotation | None = None,
    ) -> None:
        """Take back what was stored of these constructs, since it no longer stands over there."""
        for key in construct_keys:
            before = self.newest.get((slot.id, key))
            if before is None or before.status == "withdrawn":
                continue
            self._result.withdrawn += 1
            row = RatingBase(
                construct_key=key,
                construct_version=before.construct_version,
                status="withdrawn",
                reason=reason,
                input_kind=CHANNEL,
                revealed=list(before.revealed),
                after_reveal=before.after_reveal,
                seen_more=before.seen_more,
                channel=CHANNEL,
                external_id=before.external_id,
                external_at=None if annotation is None else annotation.updated,
                rules_hash=before.rules_hash,
            )
            self._write(slot, row, before.revision)

    def _write(self, slot: Slot, row: RatingBase, revision: int) -> None:
        self._rows.append(
            {
                **row.model_dump(),
                "revision": revision + 1,
                "assignment_id": slot.id,
                "config_hash": self._study.config_hash,
            }
        )
        if len(self._rows) >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Write what was held back."""
        if self._rows:
            self._connection.execute(insert(table(Rating)), self._rows)
            self._rows = []


def ratings_of_channel(connection: Connection) -> dict[tuple[int, str], Any]:
    """Return the newest revision of each rating of this channel, with its rater."""
    a = table(Assignment)
    g = newest_ratings(
        table(Rating).c.assignment_id.in_(select(a.c.id).where(a.c.channel == CHANNEL))
    )
    rows: Any = connection.execute(
        select(g, a.c.rater_id).join_from(g, a, g.c.assignment_id == a.c.id).order_by(g.c.id)
    )
    return {(row.assignment_id, row.construct_key): row for row in rows}


def _content(rating: Any) -> tuple[Any, ...]:
    return (
        rating.construct_version,
        rating.value,
        rating.status,
        rating.reason,
        rating.comment,
        tuple(rating.flags),
        # Given anew with the same value, it is another annotation: by it its rater is known
        # when their account is deleted.
        rating.external_id,
    )


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
