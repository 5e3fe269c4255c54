"""Decisions of raters on pairs of responses, as rows of the preference table."""

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, Subquery, and_, exists, func, literal, select

from study.schema.database import read_frame
from study.schema.tables import comparisons, decisions, queries, raters

if TYPE_CHECKING:
    import pandas as pd


def newest_decisions(*conditions: ColumnElement[bool]) -> Subquery:
    """Return the newest revision of each decision, the one that counts.

    `conditions` refer to the table of decisions; each selects all revisions of a decision or none.
    """
    last = (
        select(decisions.c.comparison_id, func.max(decisions.c.revision).label("revision"))
        .where(*conditions)
        .group_by(decisions.c.comparison_id)
        .subquery()
    )
    same = and_(
        last.c.comparison_id == decisions.c.comparison_id, last.c.revision == decisions.c.revision
    )
    return select(decisions).join(last, same).subquery("newest_decision")


def is_decided() -> ColumnElement[bool]:
    """Return the condition, on the table of comparisons, that there is a decision."""
    return exists().where(decisions.c.comparison_id == comparisons.c.id)


def decision_rows(connection: Connection) -> "pd.DataFrame":
    """Return the newest revision of every decision, in the columns of imported preferences.

    A decision without a value is missing, with its status as the reason.
    """
    newest = newest_decisions()
    return read_frame(
        connection,
        select(
            queries.c.key.label("query_id"),
            comparisons.c.response_a_id.label("a"),
            comparisons.c.response_b_id.label("b"),
            newest.c.construct_key.label("construct"),
            newest.c.construct_version,
            raters.c.code.label("scorer"),
            literal("human").label("scorer_kind"),
            literal(0).label("repeat"),
            newest.c.value,
            func.nullif(newest.c.status, "rated").label("missing_reason"),
            newest.c.text_format,
        )
        .join_from(newest, comparisons, newest.c.comparison_id == comparisons.c.id)
        .join(queries, comparisons.c.query_id == queries.c.id)
        .join(raters, comparisons.c.rater_id == raters.c.id)
        .order_by(comparisons.c.id),
    )
