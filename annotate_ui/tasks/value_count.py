"""How many values a rater has given, counted by the database: every save asks for it."""

import json

from sqlalchemy import Connection, Text, bindparam, cast, func, or_, select
from sqlalchemy.orm import aliased

from annotate_ui.tasks.assignments import OWN_CHANNEL
from study.schema import Assignment, Rating, table
from study.settings.study_toml import StudyConfig

_a, _g = table(Assignment), table(Rating)
_successor = aliased(_a)
_MINE = (
    (_a.c.rater_id == bindparam("rater"))
    & (_a.c.channel == OWN_CHANNEL)
    & (_a.c.purpose != "training")
)
_REPLACED = or_(
    _a.c.released_at.is_not(None),
    select(_successor.c.id).where(_successor.c.replaces_id == _a.c.id).exists(),
)
_KEYS = cast(_a.c.construct_keys, Text)
# Few raters have more than one order of constructs.
_ASKED = select(_KEYS, func.count()).where(_MINE, ~_REPLACED).group_by(_KEYS)
_given = (
    select(_g.c.assignment_id, _g.c.construct_key, _REPLACED.label("replaced"))
    .join_from(_g, _a, _g.c.assignment_id == _a.c.id)
    .where(_MINE, _g.c.construct_key.in_(bindparam("known", expanding=True)))
    .distinct()
    .subquery()
)
_GIVEN = select(_given.c.replaced, func.count()).group_by(_given.c.replaced)


def values_done(connection: Connection, config: StudyConfig, rater_id: int) -> tuple[int, int]:
    """Return how many values a rater has given, and how many there are to give in all.

    They are those of `Work.progress`, which counts the steps; what was rated in slots that were
    handed on counts in both.
    """
    known = {construct.key for construct in config.constructs}
    asked = connection.execute(_ASKED, {"rater": rater_id})
    total = sum(count * len(known.intersection(json.loads(keys))) for keys, count in asked)
    given = connection.execute(_GIVEN, {"rater": rater_id, "known": sorted(known)})
    by_replaced = {bool(replaced): int(count) for replaced, count in given}
    return sum(by_replaced.values()), total + by_replaced.get(True, 0)
