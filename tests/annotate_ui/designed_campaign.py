"""What a campaign's design adds, for tests: settings, training material, further assignments."""

from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from sqlalchemy import insert, select

from annotate_ui.tasks.workflow import Opened, open_next
from study import Study
from study.schema import ExpectedValueBase
from study.schema.tables import (
    assignments as assignment_table,
    expected_values,
    queries,
    raters,
    responses,
)
from tests.annotate_ui.rated_campaign import rate


def configure(study: Study, **sections: dict[str, Any]) -> None:
    """Change sections of an open study's settings, such as `design={"training": 2}`."""
    config = study.config
    for name, values in sections.items():
        section = getattr(config, name)
        checked = type(section).model_validate({**section.model_dump(), **values})
        config = config.model_copy(update={name: checked})
    object.__setattr__(study, "config", config)


def teach(
    study: Study,
    count: int,
    *,
    low: float = 60,
    high: float = 80,
    keys: Iterable[str] = ("QR", "AC"),
    language: str | None = None,
) -> list[int]:
    """Store training responses, each with a query of its own, and their expected ranges."""
    made = []
    with study.write() as connection:
        for _ in range(count):
            name = uuid4().hex
            attributes = {} if language is None else {"language": language}
            query = connection.execute(
                insert(queries)
                .values(
                    key=f"t-{name}",
                    text=f"practice-question-{name}",
                    references=["known"],
                    attributes=attributes,
                )
                .returning(queries.c.id)
            ).scalar_one()
            response = connection.execute(
                insert(responses)
                .values(
                    key=f"t-{name}",
                    version=1,
                    text=f"practice-response-{name}",
                    role="training",
                    query_id=query,
                    content_hash=uuid4().bytes,
                )
                .returning(responses.c.id)
            ).scalar_one()
            for key in keys:
                noun = ExpectedValueBase(
                    construct_key=key,
                    purpose="training",
                    low=low,
                    high=high,
                    explanation=f"because-{key}",
                )
                connection.execute(
                    insert(expected_values).values(**noun.model_dump(), response_id=response)
                )
            made.append(response)
    return made


def new_rater(study: Study, code: str, **attributes: Any) -> int:
    """Store a rater who has nothing to do yet."""
    with study.write() as connection:
        made = insert(raters).values(code=code, attributes=attributes).returning(raters.c.id)
        return int(connection.execute(made).scalar_one())


def assign_one(study: Study, rater: int, response: int, **other: Any) -> None:
    """Give a rater one response."""
    row = {
        "rater_id": rater,
        "response_id": response,
        "construct_keys": ["QR", "AC"],
        "config_hash": study.config_hash,
        **other,
    }
    with study.write() as connection:
        connection.execute(insert(assignment_table).values(**row))


def assignments(study: Study, rater: int | None = None, purpose: str | None = None) -> list[Any]:
    """Return assignments in the order of storing."""
    rows = select(assignment_table).order_by(assignment_table.c.id)
    if rater is not None:
        rows = rows.where(assignment_table.c.rater_id == rater)
    if purpose is not None:
        rows = rows.where(assignment_table.c.purpose == purpose)
    with study.read() as connection:
        return list(connection.execute(rows))


def go_through(study: Study, rater: int, value: float = 50.0, most: int = 100) -> list[Opened]:
    """Go on until nothing more is opened, with the same value for all; return what was opened."""
    seen: list[Opened] = []
    for _ in range(most):
        opened = open_next(study, rater)
        seen.append(opened)
        if opened.kind == "step":
            assert opened.page is not None
            for step in opened.page.steps:
                for key in step.construct_keys:
                    if key not in step.item.rated:
                        rate(study, rater, step, key, value)
        elif opened.kind != "feedback":
            return seen
    raise AssertionError("it goes on for ever")
