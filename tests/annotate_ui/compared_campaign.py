"""A small campaign to compare: responses put before raters in pairs."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import insert, select

from annotate_ui.tasks.answers import ComparisonInput
from annotate_ui.tasks.comparisons import next_comparison
from study import Study
from study.schema import random_id
from study.schema.tables import (
    comparisons,
    decisions as decision_table,
    queries as query_table,
    raters,
    responses,
)


def pair_up(study: Study, rater: str, keys: Sequence[str] = ("QR", "AC")) -> int:
    """Give a rater the first two responses of each query to compare; return the rater's key.

    The responses of every second query are shown in the other order.
    """
    with study.write() as connection:
        existing = connection.execute(select(raters.c.id).where(raters.c.code == rater)).scalar()
        made = insert(raters).values(code=rater, attributes={}).returning(raters.c.id)
        rater_id = existing or connection.execute(made).scalar_one()
        position = 0
        queries = (
            connection.execute(select(query_table.c.id).order_by(query_table.c.id)).scalars().all()
        )
        for number, query in enumerate(queries):
            answers = (
                select(responses.c.id)
                .where(responses.c.query_id == query)
                .order_by(responses.c.id)
                .limit(2)
            )
            a, b = connection.execute(answers).scalars().all()
            for key in keys:
                connection.execute(
                    insert(comparisons).values(
                        public_id=random_id(),
                        rater_id=rater_id,
                        query_id=query,
                        response_a_id=a,
                        response_b_id=b,
                        construct_key=key,
                        position=position,
                        swapped=bool(number % 2),
                        inclusion_prob=0.5,
                        config_hash=study.config_hash,
                    )
                )
                position += 1
    return int(rater_id)


def open_one(study: Study, rater_id: int) -> str:
    """Open a rater's next comparison."""
    with study.write() as connection:
        public_id = next_comparison(connection, study, rater_id)
    assert public_id is not None
    return public_id


def choice(
    construct: str, value: float | None = None, base: int = 0, **other: Any
) -> ComparisonInput:
    """Return a choice with a key of its own."""
    return ComparisonInput.model_validate(
        {
            "construct": construct,
            "value": value,
            "input_kind": "button",
            "base_revision": base,
            "key": uuid4().hex,
            **other,
        }
    )


def decisions(study: Study) -> list[Any]:
    """Return every stored decision in the order of storing."""
    with study.read() as connection:
        return list(connection.execute(select(decision_table).order_by(decision_table.c.id)))
