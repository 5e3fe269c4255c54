"""Decisions of raters on pairs of responses, as rows of the preference table."""

import pandas as pd
from sqlalchemy import ColumnElement, Connection, Subquery, and_, exists, func, literal, select

from study.schema import Comparison, Decision, Query, Rater, table
from study.schema.database import read_frame


def newest_decisions(*conditions: ColumnElement[bool]) -> Subquery:
    """Return the newest revision of each decision, the one that counts.

    `conditions` refer to the table of decisions; each selects all revisions of a decision or none.
    """
    d = table(Decision)
    last = (
        select(d.c.comparison_id, func.max(d.c.revision).label("revision"))
        .where(*conditions)
        .group_by(d.c.comparison_id)
        .subquery()
    )
    same = and_(last.c.comparison_id == d.c.comparison_id, last.c.revision == d.c.revision)
    return select(d).join(last, same).subquery("newest_decision")


def is_decided() -> ColumnElement[bool]:
    """Return the condition, on the table of comparisons, that there is a decision."""
    return exists().where(table(Decision).c.comparison_id == table(Comparison).c.id)


def decision_rows(connection: Connection) -> pd.DataFrame:
    """Return the newest revision of every decision, in the columns of imported preferences.

    A decision without a value is missing, with its status as the reason.
    """
    c, d, q, w = table(Comparison), newest_decisions(), table(Query), table(Rater)
    return read_frame(
        connection,
        select(
            q.c.key.label("query_id"),
            c.c.response_a_id.label("a"),
            c.c.response_b_id.label("b"),
            d.c.construct_key.label("construct"),
            d.c.construct_version,
            w.c.code.label("scorer"),
            literal("human").label("scorer_kind"),
            literal(0).label("repeat"),
            d.c.value,
            func.nullif(d.c.status, "rated").label("missing_reason"),
        )
        .join_from(d, c, d.c.comparison_id == c.c.id)
        .join(q, c.c.query_id == q.c.id)
        .join(w, c.c.rater_id == w.c.id)
        .order_by(c.c.id),
    )
