"""Which of a rater's values is the one that counts, and which were changed later."""

from typing import Any, Literal, get_args

import pandas as pd
from sqlalchemy import Connection, and_, case, func, literal, null, or_, select

from study.errors import StudyError
from study.facts.frames import selected
from study.facts.scorers import ADJUDICATED
from study.schema import Assignment, Rater, Rating, table

Edits = Literal["before_reveal", "last"]
"""`before_reveal`: the last value committed before the rater was shown more. `last`: the last."""

# Ratings for training, calibration or checks say how raters learn; they are no measurements.
MEASURING = ("main", "repeat")

ADJUDICATING = "adjudication"
"""What an adjudicator says is no rater's value: it enters the table as another kind of scorer.

Only where it is of a stratum, so that one knows how its response was chosen: a tie-break that was
asked for where raters disagreed would stand for those responses alone.
"""

SHOWN = "shown "
"""Begins the `input_kind` of a value whose rater was shown a judge's beforehand; its name follows.

Such values are of a source of their own: what is compared with them is told apart.
"""

_OWN_PAGES = "own"

_TOO_LATE = "first given after a later stage was shown"
_AGAIN = "given to a response a second time by the same rater"


def rating_rows(connection: Connection, edits: Edits) -> pd.DataFrame:
    """Return one value of each construct of each assignment that measures or adjudicates.

    What a rater says as adjudicator stands under a name of its own, CODE (adjudicated): a scorer
    is of one kind, and the same person may have rated other responses.

    Beside what the score table holds there are `left_out` (why a row does not count; None where
    it does) and `edited` (whether the last value is another than the one before the reveal).

    A withdrawn rating is missing, whenever it was withdrawn. Of two assignments of a rater for
    the same response and repeat, the earlier one counts, or the later where that is taken back.

    Raises
    ------
    StudyError
        There is no such choice of `edits`.
    """
    if edits not in get_args(Edits):
        raise StudyError(f"edits = {edits!r}: use one of {', '.join(get_args(Edits))}.")
    rows = _revisions(connection)
    rating = rows.groupby(["assignment", "construct"], sort=False)
    taken_back = rows["last"] & rows["missing_reason"].eq("withdrawn")
    withdrawn = taken_back.groupby([rows["assignment"], rows["construct"]]).transform("any")
    in_time = rating["in_time"].transform("any")
    rows["edited"] = in_time & ~withdrawn & rating["value"].transform("nunique", dropna=False).gt(1)
    rows["left_out"] = None
    if edits == "last":
        chosen = rows["last"]
    else:
        # What a rater takes back is out of the table, however much was shown by then.
        chosen = rows["last"].where(withdrawn | ~in_time, rows["in_time"])
        rows.loc[~(withdrawn | in_time), "left_out"] = _TOO_LATE
    rows = rows[chosen].sort_values("assignment", kind="stable")
    same = ["response", "construct", "construct_version", "scorer", "repeat"]
    taken_back_last = rows["missing_reason"].eq("withdrawn").sort_values(kind="stable").index
    again = rows.loc[taken_back_last].duplicated(same)
    rows.loc[again[again].index, "left_out"] = _AGAIN
    # Elsewhere values are stored in the order in which they were fetched, not rated.
    own = rows["first_id"].where(rows["source"].eq(_OWN_PAGES))
    rows["position"] = own.groupby(rows["scorer"]).rank(method="first")
    return rows.drop(columns=["assignment", "revision", "last", "in_time", "first_id"])


def _revisions(connection: Connection) -> pd.DataFrame:
    """Return for each rating its last revision, and the last one before a reveal (`in_time`)."""
    g, a, w = table(Rating), table(Assignment), table(Rater)
    adjudicated = a.c.purpose == ADJUDICATING
    keys = g.c.assignment_id, g.c.construct_key
    before = func.max(case((g.c.after_reveal, null()), else_=g.c.revision))
    ends = (
        select(
            *keys,
            func.max(g.c.revision).label("last"),
            before.label("before"),
            func.min(g.c.id).label("first_id"),
        )
        .group_by(*keys)
        .subquery()
    )
    found = selected(
        connection,
        select(
            a.c.id.label("assignment"),
            g.c.revision,
            (g.c.revision == ends.c.last).label("last"),
            func.coalesce(g.c.revision == ends.c.before, False).label("in_time"),
            a.c.response_id.label("response"),
            g.c.construct_key.label("construct"),
            g.c.construct_version,
            case((adjudicated, w.c.code + ADJUDICATED), else_=w.c.code).label("scorer"),
            case((adjudicated, "adjudicated"), else_="human").label("scorer_kind"),
            a.c.repeat,
            g.c.value,
            func.nullif(g.c.status, "rated").label("missing_reason"),
            null().label("rule"),
            a.c.inclusion_prob,
            a.c.stratum,
            a.c.layout,
            case(
                (
                    g.c.input_kind.startswith(SHOWN),
                    g.c.channel + literal(" (") + g.c.input_kind + literal(")"),
                ),
                else_=g.c.channel,
            ).label("source"),
            ends.c.first_id,
        )
        .join_from(g, a, g.c.assignment_id == a.c.id)
        .join(w, a.c.rater_id == w.c.id)
        .join(
            ends,
            and_(
                ends.c.assignment_id == g.c.assignment_id,
                ends.c.construct_key == g.c.construct_key,
                or_(ends.c.last == g.c.revision, ends.c.before == g.c.revision),
            ),
        )
        .where(or_(a.c.purpose.in_(MEASURING), and_(adjudicated, a.c.stratum.is_not(None))))
        .order_by(g.c.revision),
    )
    types: Any = {"value": "float64", "last": "bool", "in_time": "bool"}
    return found.astype(types)
