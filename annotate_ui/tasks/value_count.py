"""How many values a rater has given, counted by the database: every save asks for it."""

import json

from sqlalchemy import Connection, Text, bindparam, cast, func, select

from annotate_ui.tasks.assignments import OWN_CHANNEL
from study.facts.slots import is_live
from study.schema import Assignment, Rating, table
from study.settings.study_toml import StudyConfig

_a, _g = table(Assignment), table(Rating)
_MINE = (
    (_a.c.rater_id == bindparam("rater"))
    & (_a.c.channel == OWN_CHANNEL)
    & (_a.c.purpose != "training")
)
_KEYS = cast(_a.c.construct_keys, Text)
# Few raters have more than one order of constructs.
_ASKED = select(_KEYS, func.count()).where(_MINE, is_live(_a)).group_by(_KEYS)
_given = (
    select(_g.c.assignment_id, _g.c.construct_key, is_live(_a).label("live"))
    .join_from(_g, _a, _g.c.assignment_id == _a.c.id)
    .where(_MINE, _g.c.construct_key.in_(bindparam("known", expanding=True)))
    .distinct()
    .subquery()
)
_GIVEN = select(_given.c.live, func.count()).group_by(_given.c.live)


def values_done(connection: Connection, config: StudyConfig, rater_id: int) -> tuple[int, int]:
    """Return how many values a rater has given, and how many there are to give in all.

    They are those of `Work.progress`, which counts the steps; what was rated in slots that were
    handed on counts in both.
    """
    known = {construct.key for construct in config.constructs}
    asked = connection.execute(_ASKED, {"rater": rater_id})
    total = sum(count * len(known.intersection(json.loads(keys))) for keys, count in asked)
    given = connection.execute(_GIVEN, {"rater": rater_id, "known": sorted(known)})
    by_live = {bool(live): int(count) for live, count in given}
    return sum(by_live.values()), total + by_live.get(False, 0)
