"""A small study whose responses are assigned to raters, without a sampling design."""

from hashlib import blake2b

from sqlalchemy import insert, select

from study import Study
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, PassageRow, ResponseRow
from study.schema import RaterBase, random_id
from study.schema.tables import assignments, raters, responses as response_table


def fill(study: Study, responses: int = 2) -> None:
    """Store queries with one response each."""
    rows = [
        LocatedRow(
            n,
            ResponseRow(
                query_id=f"q{n}",
                query=f"Question {n}?",
                system="A",
                response=f"Answer {n}.",
                passages=(PassageRow(text=f"Passage {n}."),),
                references=("The answer.",),
            ),
        )
        for n in range(1, responses + 1)
    ]
    digest = blake2b(repr(rows).encode()).hexdigest()
    import_rows(study, rows, source="test", sha256=digest, importer="responses")


def assign(study: Study, *codes: str | None) -> None:
    """Give every response to each of these raters; None is an open slot."""
    with study.write() as connection:
        responses = connection.execute(select(response_table.c.id)).scalars().all()
        for code in codes:
            rater = None
            if code is not None:
                noun = RaterBase.model_validate({"code": code}).model_dump()
                made = insert(raters).values(**noun, public_id=random_id()).returning(raters.c.id)
                rater = connection.execute(made).scalar_one()
            for position, response in enumerate(responses):
                connection.execute(
                    insert(assignments).values(
                        rater_id=rater,
                        response_id=response,
                        construct_keys=["QR", "AC"],
                        purpose="main",
                        position=position,
                        repeat=0,
                        channel="own",
                        inclusion_prob=1.0,
                        config_hash=study.config_hash,
                    )
                )
