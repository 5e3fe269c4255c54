"""The assignments of a rater with their progress."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from sqlalchemy import Connection, Text, bindparam, cast, func, select

from study.facts.ratings import answered_constructs
from study.facts.slots import OWN_CHANNEL, is_live
from study.schema.tables import assignments, ratings, responses, reveals
from study.settings.study_toml import StudyConfig
from study.types import Sees

Phase = Literal["training", "calibration", "main", "repeats", "adjudication"]

PHASES: tuple[Phase, ...] = ("training", "calibration", "main", "repeats", "adjudication")

_OF_PURPOSE: dict[str, Phase] = {
    "training": "training",
    "calibration": "calibration",
    "main": "main",
    # A check looks like a part of the main work.
    "check": "main",
    "repeat": "repeats",
    "adjudication": "adjudication",
}

WITH_FEEDBACK: frozenset[Phase] = frozenset({"training", "adjudication"})
"""Phases with a feedback page after each response: expected values, or the values of others."""

FEEDBACK = 4
"""The stage under which it is recorded that feedback was shown: after all that are rated."""


def phase_of(purpose: str) -> Phase:
    """Return the part of the work to which an assignment of this purpose belongs."""
    return _OF_PURPOSE[purpose]


@dataclass(frozen=True)
class AssignedItem:
    """An assignment of a rater with its progress."""

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
    """It was handed on or released unfinished; its saved values count nonetheless."""
    rated: frozenset[str]
    """Constructs that have an answer: a rating that is not withdrawn."""
    opened: Mapping[int, tuple[Sees, ...]]
    """Stages that were sent to the rater, with the fields that were shown."""

    @property
    def phase(self) -> Phase:
        """The part of the work to which it belongs."""
        return phase_of(self.purpose)

    @property
    def complete(self) -> bool:
        """Whether every construct has an answer."""
        return self.rated.issuperset(self.construct_keys)

    @property
    def feedback_shown(self) -> bool:
        """Whether its feedback was shown."""
        return FEEDBACK in self.opened


_BETWEEN = "\n"
_MINE = (assignments.c.rater_id == bindparam("rater")) & (assignments.c.channel == OWN_CHANNEL)
# One row for each assignment, whatever was done of it: rows cost more than the database's work.
_answered = answered_constructs(ratings.c.assignment_id.in_(select(assignments.c.id).where(_MINE)))
_rated = (
    select(
        _answered.c.assignment_id,
        func.aggregate_strings(_answered.c.construct_key, _BETWEEN).label("constructs"),
    )
    .group_by(_answered.c.assignment_id)
    .subquery()
)
_stage = cast(reveals.c.stage, Text).concat(cast(reveals.c.fields, Text))
_shown = (
    select(reveals.c.assignment_id, func.aggregate_strings(_stage, _BETWEEN).label("stages"))
    .join_from(reveals, assignments, reveals.c.assignment_id == assignments.c.id)
    .where(_MINE)
    .group_by(reveals.c.assignment_id)
    .subquery()
)
_ITEMS = (
    select(
        assignments.c.id,
        assignments.c.public_id,
        assignments.c.response_id,
        responses.c.query_id,
        assignments.c.purpose,
        assignments.c.round,
        assignments.c.repeat,
        assignments.c.layout,
        cast(assignments.c.construct_keys, Text),
        assignments.c.leased_until,
        is_live(assignments).label("live"),
        _rated.c.constructs,
        _shown.c.stages,
    )
    .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
    .join(_rated, _rated.c.assignment_id == assignments.c.id, isouter=True)
    .join(_shown, _shown.c.assignment_id == assignments.c.id, isouter=True)
    .where(_MINE)
    .order_by(assignments.c.position, assignments.c.id)
)


def items_of(connection: Connection, config: StudyConfig, rater_id: int) -> list[AssignedItem]:
    """Return a rater's assignments on these pages, in the order of their positions."""
    known = frozenset(construct.key for construct in config.constructs)
    rows: Sequence[Any] = connection.execute(_ITEMS, {"rater": rater_id}).all()
    return [
        AssignedItem(
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
            not live,
            _named(rated),
            _opened(stages),
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
            live,
            rated,
            stages,
        ) in rows
    ]


# A study has few lists, and each is read once for every assignment.
@lru_cache(maxsize=4096)
def _among(text: str, known: frozenset[str]) -> tuple[str, ...]:
    return tuple(key for key in json.loads(text) if key in known)


@lru_cache(maxsize=4096)
def _named(text: str | None) -> frozenset[str]:
    return frozenset(text.split(_BETWEEN) if text else ())


@lru_cache(maxsize=4096)
def _opened(text: str | None) -> Mapping[int, tuple[Sees, ...]]:
    """Read stages with their fields, such as `1["question", "response"]`."""
    fields_of = {}
    for stage in text.split(_BETWEEN) if text else ():
        number, bracket, fields = stage.partition("[")
        fields_of[int(number)] = tuple(json.loads(bracket + fields))
    return MappingProxyType(fields_of)


_COUNTED = (
    (assignments.c.rater_id == bindparam("rater"))
    & (assignments.c.channel == OWN_CHANNEL)
    & (assignments.c.purpose != "training")
)
_KEYS = cast(assignments.c.construct_keys, Text)
# Few raters have more than one order of constructs.
_ASKED = select(_KEYS, func.count()).where(_COUNTED, is_live(assignments)).group_by(_KEYS)
_counted = answered_constructs(
    ratings.c.assignment_id.in_(select(assignments.c.id).where(_COUNTED))
)
_values = (
    select(is_live(assignments).label("live"))
    .join_from(_counted, assignments, _counted.c.assignment_id == assignments.c.id)
    .where(_counted.c.construct_key.in_(bindparam("known", expanding=True)))
    .subquery()
)
_VALUES = select(_values.c.live, func.count()).group_by(_values.c.live)


def values_done(connection: Connection, config: StudyConfig, rater_id: int) -> tuple[int, int]:
    """Return how many values a rater has given, and how many there are to give in all.

    They are those of `Work.progress`, which counts the steps; what was rated in slots that were
    handed on counts in both.
    """
    known = {construct.key for construct in config.constructs}
    asked = connection.execute(_ASKED, {"rater": rater_id})
    total = sum(count * len(known.intersection(json.loads(keys))) for keys, count in asked)
    rows = connection.execute(_VALUES, {"rater": rater_id, "known": sorted(known)})
    by_live = {bool(live): int(count) for live, count in rows}
    return sum(by_live.values()), total + by_live.get(False, 0)
