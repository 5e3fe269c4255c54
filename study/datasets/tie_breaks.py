"""Keep a tie-breaker's values apart from the ratings that they settled.

A tie-breaker sees the disagreements and little else. Such values are no further
measurement of the same kind, so they are ratings whose assignment has the purpose
`adjudication`: they stay in the study, but enter neither agreement nor the score table.
"""

from collections.abc import Sequence

from sqlalchemy import insert, select

from study.datasets.dataset_source import TieBreak
from study.schema import (
    Assignment,
    AssignmentBase,
    Rater,
    RaterBase,
    Rating,
    RatingBase,
    Response,
    now,
    table,
)
from study.study import Study


def store_tie_breaks(study: Study, values: Sequence[TieBreak]) -> None:
    """Store each value as the rating of an adjudicating assignment.

    Raises
    ------
    ValueError
        A value lies outside its construct's scale.
    KeyError
        The study has no such response or construct.
    """
    if not values:
        return
    moment = now()
    with study.write() as connection:
        t = table(Response)
        rows = connection.execute(select(t.c.key, t.c.id))
        responses = {row.key: row.id for row in rows}
        versions = study.construct_versions(connection)
        raters = {}
        for code in dict.fromkeys(value.rater for value in values):
            noun = RaterBase(code=code)
            raters[code] = connection.execute(
                insert(table(Rater)).values(**noun.model_dump()).returning(table(Rater).c.id)
            ).scalar_one()
        for position, value in enumerate(values):
            scale = study.config.scale(value.construct, value.rater)
            if scale is None:
                raise KeyError(value.construct)
            if problem := scale.problem(value.value):
                raise ValueError(f"{value.response_id}, {value.construct}: {problem}")
            assignment = AssignmentBase(
                construct_keys=[value.construct],
                purpose="adjudication",
                position=position,
                channel="imported",
            )
            number = connection.execute(
                insert(table(Assignment))
                .values(
                    **assignment.model_dump(),
                    rater_id=raters[value.rater],
                    response_id=responses[value.response_id],
                    config_hash=study.config_hash,
                    created_at=moment,
                )
                .returning(table(Assignment).c.id)
            ).scalar_one()
            rating = RatingBase(
                construct_key=value.construct,
                construct_version=versions[value.construct],
                value=value.value,
                input_kind="imported",
                channel="imported",
            )
            connection.execute(
                insert(table(Rating)).values(
                    **rating.model_dump(),
                    assignment_id=number,
                    config_hash=study.config_hash,
                    created_at=moment,
                )
            )
