"""A rater's assignments, with what has been done of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.orm import aliased

from annotate_ui.work.phases import FEEDBACK, Phase, phase_of
from study.config import StudyConfig
from study.nouns import Assignment, Rating, Response, Reveal, table
from study.words import Sees

OWN_CHANNEL = "own"
"""Assignments of other channels are rated elsewhere."""


@dataclass(frozen=True)
class Item:
    """An assignment of a rater, with what has been done of it."""

    id: int
    public_id: str
    response_id: int
    query_id: int
    purpose: str
    round: int
    repeat: int
    layout: str
    construct_keys: tuple[str, ...]
    """In the order to rate; constructs that study.toml no longer has are left out."""
    leased_until: datetime | None
    replaced: bool
    """It was handed on or taken back unfinished; what was saved counts nonetheless."""
    rated: frozenset[str]
    """Constructs that have a rating of any status."""
    opened: Mapping[int, tuple[Sees, ...]]
    """Stages that were sent to the rater, with the fields that were shown."""

    @property
    def phase(self) -> Phase:
        """The part of the work to which it belongs."""
        return phase_of(self.purpose)

    @property
    def complete(self) -> bool:
        """Whether every construct has a rating."""
        return self.rated.issuperset(self.construct_keys)

    @property
    def told(self) -> bool:
        """Whether its feedback was shown."""
        return FEEDBACK in self.opened


def items_of(connection: Connection, config: StudyConfig, rater_id: int) -> list[Item]:
    """Return a rater's assignments on these pages, in the order of their positions."""
    a, r, g, v = table(Assignment), table(Response), table(Rating), table(Reveal)
    successor = aliased(a)
    mine = (a.c.rater_id == rater_id) & (a.c.channel == OWN_CHANNEL)
    rated = _grouped(
        connection.execute(
            select(g.c.assignment_id, g.c.construct_key)
            .join_from(g, a, g.c.assignment_id == a.c.id)
            .where(mine)
            .distinct()
            .order_by(g.c.assignment_id)
        )
    )
    opened: dict[int, dict[int, tuple[Sees, ...]]] = {}
    for shown in connection.execute(
        select(v.c.assignment_id, v.c.stage, v.c.fields)
        .join_from(v, a, v.c.assignment_id == a.c.id)
        .where(mine)
    ):
        opened.setdefault(shown.assignment_id, {})[shown.stage] = tuple(shown.fields)
    known = {construct.key for construct in config.constructs}
    rows = connection.execute(
        select(
            a.c.id,
            a.c.public_id,
            a.c.response_id,
            r.c.query_id,
            a.c.purpose,
            a.c.round,
            a.c.repeat,
            a.c.layout,
            a.c.construct_keys,
            a.c.leased_until,
            a.c.released_at,
            successor.c.id.label("successor"),
        )
        .join_from(a, r, a.c.response_id == r.c.id)
        .join(successor, successor.c.replaces_id == a.c.id, isouter=True)
        .where(mine)
        .order_by(a.c.position, a.c.id)
    )
    return [
        Item(
            id=row.id,
            public_id=row.public_id,
            response_id=row.response_id,
            query_id=row.query_id,
            purpose=row.purpose,
            round=row.round,
            repeat=row.repeat,
            layout=row.layout,
            construct_keys=tuple(key for key in row.construct_keys if key in known),
            leased_until=row.leased_until,
            replaced=row.successor is not None or row.released_at is not None,
            rated=frozenset(rated.get(row.id, ())),
            opened=opened.get(row.id, {}),
        )
        for row in rows
    ]


def _grouped(rows: Iterable[Any]) -> dict[int, list[Any]]:
    return {key: [row[1] for row in group] for key, group in groupby(rows, itemgetter(0))}
