"""Makes the input with which a metric is measured now the last one that was used."""

from collections.abc import Collection

from sqlalchemy import delete, insert, select

from study.facts.measured_inputs import MeasuredWith, earlier_inputs
from study.schema.creation import append_only_suspended
from study.schema.tables import scorer_answers
from study.study import Study


def use_again(study: Study, measured: Collection[MeasuredWith]) -> None:
    """Store the scores of these metrics anew, where those with another state of the input count."""
    with study.write() as connection:
        for scorer, construct in set(earlier_inputs(connection)).intersection(measured):
            columns = scorer_answers.c
            chosen = columns.scorer == scorer, columns.construct_key == construct
            statement = select(scorer_answers).where(*chosen).order_by(columns.id)
            rows = [dict(row) for row in connection.execute(statement).mappings()]
            for row in rows:
                del row["id"]
            with append_only_suspended(connection, [scorer_answers.name]):
                connection.execute(delete(scorer_answers).where(*chosen))
            connection.execute(insert(scorer_answers), rows)
