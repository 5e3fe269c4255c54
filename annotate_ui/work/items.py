"""A rater's assignments, with what has been done of each."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Text, bindparam, cast, select
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


# Made once: every page asks for these, and making a statement takes longer than running it.
_a, _r, _g, _v = table(Assignment), table(Response), table(Rating), table(Reveal)
_successor = aliased(_a)
_MINE = (_a.c.rater_id == bindparam("rater")) & (_a.c.channel == OWN_CHANNEL)
_RATED = (
    select(_g.c.assignment_id, _g.c.construct_key)
    .join_from(_g, _a, _g.c.assignment_id == _a.c.id)
    .where(_MINE)
    .distinct()
    .order_by(_g.c.assignment_id)
)
_OPENED = (
    select(_v.c.assignment_id, _v.c.stage, cast(_v.c.fields, Text))
    .join_from(_v, _a, _v.c.assignment_id == _a.c.id)
    .where(_MINE)
)
_ITEMS = (
    select(
        _a.c.id,
        _a.c.public_id,
        _a.c.response_id,
        _r.c.query_id,
        _a.c.purpose,
        _a.c.round,
        _a.c.repeat,
        _a.c.layout,
        cast(_a.c.construct_keys, Text),
        _a.c.leased_until,
        _a.c.released_at,
        _successor.c.id,
    )
    .join_from(_a, _r, _a.c.response_id == _r.c.id)
    .join(_successor, _successor.c.replaces_id == _a.c.id, isouter=True)
    .where(_MINE)
    .order_by(_a.c.position, _a.c.id)
)


def items_of(connection: Connection, config: StudyConfig, rater_id: int) -> list[Item]:
    """Return a rater's assignments on these pages, in the order of their positions."""
    whose = {"rater": rater_id}
    rated = _grouped(connection.execute(_RATED, whose).all())
    opened: dict[int, dict[int, tuple[Sees, ...]]] = {}
    for assignment, stage, fields in connection.execute(_OPENED, whose).all():
        opened.setdefault(assignment, {})[stage] = _listed(fields)
    known = frozenset(construct.key for construct in config.constructs)
    rows: Sequence[Any] = connection.execute(_ITEMS, whose).all()
    return [
        Item(
            number,
            public_id,
            response,
            query,
            purpose,
            round_,
            repeat,
            layout,
            _among(keys, known),
            leased_until,
            successor is not None or released_at is not None,
            frozenset(rated.get(number, ())),
            opened.get(number, {}),
        )
        for (
            number,
            public_id,
            response,
            query,
            purpose,
            round_,
            repeat,
            layout,
            keys,
            leased_until,
            released_at,
            successor,
        ) in rows
    ]


# A study has few lists, and each is read once for every assignment.
@lru_cache(maxsize=4096)
def _listed(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def _among(text: str, known: frozenset[str]) -> tuple[str, ...]:
    return tuple(key for key in _listed(text) if key in known)


def _grouped(rows: Iterable[Any]) -> dict[int, list[Any]]:
    return {key: [row[1] for row in group] for key, group in groupby(rows, itemgetter(0))}
