"""A small campaign to rate: every text is a word of its own, so that a leak can be seen."""

from collections.abc import Iterable
from itertools import count
from typing import Any
from uuid import uuid4

from sqlalchemy import insert, select

from annotate_ui.tasks.answers import RatingInput, StoredAnswer
from annotate_ui.tasks.passes import Step
from annotate_ui.tasks.rating_payload import RatingPayload
from annotate_ui.tasks.save import save
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema.tables import (
    assignments,
    raters,
    ratings as rating_table,
    responses as response_table,
)

ALL = ("QR", "CC", "ID", "AC", "IR")


def fill(study: Study, queries: int = 2, systems: int = 2) -> None:
    """Store queries with a response of each system, two passages each, and a reference."""
    rows = [
        LocatedRow(
            q * systems + s + 1,
            ResponseRow(
                query_id=f"q{q}",
                query=f"question-{q}",
                system=f"system-{s}",
                response=f"response-{q}-{s}",
                passages=(
                    PassageRow(text=f"passage-{q}-shared"),
                    PassageRow(text=f"passage-{q}-{s}"),
                ),
                references=(f"reference-{q}", f"another-{q}"),
            ),
        )
        for q in range(queries)
        for s in range(systems)
    ]
    import_rows(study, rows, source="test", sha256=uuid4().hex, importer="responses")


def give(
    study: Study,
    rater: str | None,
    *,
    keys: Iterable[str] = ALL,
    queries: Iterable[str] | None = None,
    repeat: int = 0,
    open_to: list[str] | None = None,
) -> int | None:
    """Assign every response to a rater (None: an open slot); return the rater's key."""
    with study.write() as connection:
        rater_id = None
        if rater is not None:
            existing = connection.execute(
                select(raters.c.id).where(raters.c.code == rater)
            ).scalar()
            made = insert(raters).values(code=rater, attributes={}).returning(raters.c.id)
            rater_id = existing or connection.execute(made).scalar_one()
        responses = connection.execute(
            select(response_table.c.id, response_table.c.key).order_by(response_table.c.id)
        ).all()
        wanted = None if queries is None else tuple(f"{query}/" for query in queries)
        places = count(1000 * repeat)
        rows = [
            {
                "rater_id": rater_id,
                "response_id": row.id,
                "construct_keys": list(keys),
                "purpose": "repeat" if repeat else "main",
                "position": next(places),
                "repeat": repeat,
                "channel": "own",
                "inclusion_prob": 1.0,
                "config_hash": study.config_hash,
                "open_to": open_to if rater is not None else open_to or [],
            }
            for row in responses
            if wanted is None or row.key.startswith(wanted)
        ]
        connection.execute(insert(assignments), rows)
    return rater_id


def commit(construct: str, value: float | None = None, base: int = 0, **other: Any) -> RatingInput:
    """Return a commit with a key of its own."""
    return RatingInput.model_validate(
        {
            "construct": construct,
            "value": value,
            "input_kind": "typed",
            "base_revision": base,
            "key": uuid4().hex,
            **other,
        }
    )


def rate(
    study: Study, rater_id: int, step: Step, construct: str, value: float, base: int = 0
) -> StoredAnswer:
    """Commit a value at a step."""
    return save(
        study,
        rater_id,
        RatingPayload(step.item.public_id, step.stage.number, commit(construct, value, base)),
    )


def finish_step(study: Study, rater_id: int, value: float = 50.0) -> Step:
    """Open the rater's next step and rate all of it."""
    step = open_next(study, rater_id).step
    assert step is not None
    for key in step.construct_keys:
        rate(study, rater_id, step, key, value)
    return step


def ratings(study: Study) -> list[Any]:
    """Return every stored rating in the order of storing."""
    with study.read() as connection:
        return list(connection.execute(select(rating_table).order_by(rating_table.c.id)))
