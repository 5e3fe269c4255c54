"""The judgments that a study has stored."""

from typing import Any

from sqlalchemy import select

from study import Study
from study.schema.tables import judgments as judgment_table


def judgments(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(judgment_table).order_by(judgment_table.c.id)))
