"""Makes the input with which a metric is measured now the last one that was used."""

from collections.abc import Collection

from sqlalchemy import delete, insert, select

from study.facts.measured_inputs import MeasuredWith, earlier_inputs
from study.schema.creation import append_only_suspended
from study.schema.tables import scores
from study.study import Study


def use_again(study: Study, measured: Collection[MeasuredWith]) -> None:
    """Store the scores of these metrics anew, where those with another state of the input count."""
    with study.write() as connection:
        for scorer, construct in set(earlier_inputs(connection)).intersection(measured):
            chosen = scores.c.scorer == scorer, scores.c.construct_key == construct
            statement = select(scores).where(*chosen).order_by(scores.c.id)
            rows = [dict(row) for row in connection.execute(statement).mappings()]
            for row in rows:
                del row["id"]
            with append_only_suspended(connection, [scores.name]):
                connection.execute(delete(scores).where(*chosen))
            connection.execute(insert(scores), rows)
