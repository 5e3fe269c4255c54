"""How many of a rater's comparisons are made."""

from sqlalchemy import Connection

from annotate_ui.tasks.comparisons import own_comparisons
from study.study import Study


def comparisons_done(connection: Connection, study: Study, rater_id: int) -> tuple[int, int]:
    """Return how many comparisons a rater has made, and how many they have in all."""
    mine = own_comparisons(connection, study.config, rater_id)
    return sum(one.decided for one in mine), len(mine)
