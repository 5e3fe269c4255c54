"""What raters decided of pairs of responses, as rows of the table of preferences."""

import pandas as pd
from sqlalchemy import Connection, and_, func, literal, select

from study.facts.frames import selected
from study.schema import Comparison, Decision, Query, Rater, table


def decision_rows(connection: Connection) -> pd.DataFrame:
    """Return the last revision of every decision, in the columns of imported preferences.

    A decision without a value is missing, and its status says why.
    """
    c, d, q, w = table(Comparison), table(Decision), table(Query), table(Rater)
    last = (
        select(d.c.comparison_id, func.max(d.c.revision).label("last"))
        .group_by(d.c.comparison_id)
        .subquery()
    )
    return selected(
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
        .join_from(
            d, last, and_(last.c.comparison_id == d.c.comparison_id, last.c.last == d.c.revision)
        )
        .join(c, d.c.comparison_id == c.c.id)
        .join(q, c.c.query_id == q.c.id)
        .join(w, c.c.rater_id == w.c.id)
        .order_by(c.c.id),
    )
