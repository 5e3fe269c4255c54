"""Which responses are measured, and which are there for raters to learn from or be checked with."""

from sqlalchemy import ColumnElement, exists, or_

from study.schema import Output, Response, table


def is_answer() -> ColumnElement[bool]:
    """Return the condition, on the table of responses, that a response is measured.

    What a system gave is an answer, whatever else the same content is used for.
    """
    r, o = table(Response), table(Output)
    return or_(r.c.role == "answer", exists().where(o.c.response_id == r.c.id))
