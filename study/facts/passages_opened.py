"""Whether raters had opened a passage when they gave a value on a construct that needs them.

Pages show passages folded and store which ones a rater opens. A construct needs passages if it
sees them and not the reference, so that it is rated when they are shown. A passage counts as
opened for every response that has it, since the rater has read its text.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from study.facts.slots import OWN_CHANNEL
from study.schema.tables import (
    assignments,
    constructs,
    opened_passages,
    passages,
    response_passages,
)

if TYPE_CHECKING:
    import pandas as pd

FOLDED_LENGTH = 90
"""Characters of a passage that a page shows while it is folded."""


def passages_opened(connection: Connection, ratings: "pd.DataFrame") -> "pd.Series[Any]":
    """Return `yes` or `no` for each rating, (n,) with the index of `ratings`; None if not recorded.

    It is not recorded for constructs that do not need passages, values from elsewhere, responses
    whose passages are readable without opening them, and values given before passages were shown.

    Parameters
    ----------
    ratings
        `rater_id`, `response` (database keys), `construct`, `construct_version`, `channel`,
        `revealed` (fields that the rater had seen) and `created_at` of the value.
    """
    import pandas as pd

    needing = _constructs_with_passages(connection)
    longer = set(
        connection.execute(
            select(response_passages.c.response_id)
            .join_from(response_passages, passages, passages.c.id == response_passages.c.passage_id)
            .where(
                func.length(passages.c.text) > FOLDED_LENGTH,
                response_passages.c.response_id.in_(select(assignments.c.response_id)),
            )
            .distinct()
        ).scalars()
    )
    opened = _first_opened(connection)
    states: list[str | None] = []
    for row in list[Any](
        zip(
            ratings["rater_id"],
            ratings["response"],
            ratings["construct"],
            ratings["construct_version"],
            ratings["channel"],
            ratings["revealed"],
            ratings["created_at"],
            strict=True,
        )
    ):
        rater, response, construct, version, channel, revealed, saved_at = row
        recorded = (
            channel == OWN_CHANNEL
            and (construct, version) in needing
            and response in longer
            and "context" in revealed
        )
        if recorded:
            first = opened.get((rater, response))
            states.append("yes" if first is not None and first <= saved_at else "no")
        else:
            states.append(None)
    return pd.Series(states, index=ratings.index, dtype="object")


def _constructs_with_passages(connection: Connection) -> set[tuple[str, int]]:
    rows = connection.execute(select(constructs.c.key, constructs.c.version, constructs.c.sees))
    return {
        (row.key, row.version)
        for row in rows
        if "context" in row.sees and "reference" not in row.sees
    }


def _first_opened(connection: Connection) -> Mapping[tuple[int, int], datetime]:
    """Return rater and response to when the rater first opened one of its passages."""
    place, other = response_passages.alias("place"), response_passages.alias("other")
    rows = connection.execute(
        select(
            assignments.c.rater_id,
            other.c.response_id,
            func.min(opened_passages.c.created_at, type_=opened_passages.c.created_at.type),
        )
        .join_from(
            opened_passages, assignments, assignments.c.id == opened_passages.c.assignment_id
        )
        .join(
            place,
            (place.c.response_id == assignments.c.response_id)
            & (place.c.position == opened_passages.c.position),
        )
        .join(other, other.c.passage_id == place.c.passage_id)
        .group_by(assignments.c.rater_id, other.c.response_id)
    )
    return {(rater, response): at for rater, response, at in rows}
