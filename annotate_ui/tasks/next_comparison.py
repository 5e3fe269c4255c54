"""Opening the next comparison: from then on its page may be shown."""

from sqlalchemy import Connection, update

from annotate_ui.tasks.comparisons import own_comparisons
from study.schema import Comparison, now, table
from study.study import Study


def next_comparison(connection: Connection, study: Study, rater_id: int) -> str | None:
    """Open the first comparison that is not made, and return its public id; None: all are.

    The connection is a writing one, and the caller has locked the rater.
    """
    mine = own_comparisons(connection, study.config, rater_id)
    following = next((one for one in mine if not one.decided), None)
    if following is None:
        return None
    if not following.opened:
        c = table(Comparison)
        connection.execute(update(c).where(c.c.id == following.id).values(opened_at=now()))
    return following.public_id
