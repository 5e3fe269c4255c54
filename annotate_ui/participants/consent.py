"""What stands before the work: consent, then the instructions.

Answers are rows that stay; the newest one about a text counts. A text that is changed has another
hash, so it asks again.
"""

from collections.abc import Iterable
from typing import Literal

from sqlalchemy import Connection, insert, select

from annotate_ui.participants.rater_texts import RaterText, texts_of
from study.schema import Consent, Rater, table
from study.study import Study

Gate = Literal["consent", "instructions"]


def open_gate(connection: Connection, study: Study, rater_id: int) -> Gate | None:
    """Return what the rater has to answer before they may go on; None: nothing.

    Parameters
    ----------
    connection
        A transaction on the study's database.
    study
        Its settings say which texts there are.
    rater_id
        The rater's key in the database.
    """
    texts = texts_of(study)
    if texts.consent is not None and not answer_to(connection, rater_id, texts.consent):
        return "consent"
    if texts.instructions is not None and not answer_to(connection, rater_id, texts.instructions):
        return "instructions"
    return None


def answer_to(connection: Connection, rater_id: int, text: RaterText) -> bool | None:
    """Return a rater's newest answer to a text; None: there is none."""
    c = table(Consent)
    found: bool | None = connection.execute(
        select(c.c.agreed)
        .where(c.c.rater_id == rater_id, c.c.text_hash == text.sha256)
        .order_by(c.c.id.desc())
        .limit(1)
    ).scalar()
    return found


def declined(connection: Connection, rater_ids: Iterable[int]) -> set[int]:
    """Return who of these raters did not agree to the text that they were asked about last."""
    c = table(Consent)
    rows = connection.execute(
        select(c.c.rater_id, c.c.agreed).where(c.c.rater_id.in_(list(rater_ids))).order_by(c.c.id)
    )
    newest = {row.rater_id: row.agreed for row in rows}
    return {rater for rater, agreed in newest.items() if not agreed}


def answer(study: Study, rater_id: int, text: RaterText, *, agreed: bool) -> bool:
    """Store a rater's answer to a text, and return what holds now.

    Who has agreed stays so: the way back from there is to leave the study. The same answer twice
    is stored once.
    """
    with study.write() as connection:
        w = table(Rater)
        # Two requests of one rater at once: the second sees what the first has stored.
        connection.execute(select(w.c.id).where(w.c.id == rater_id).with_for_update())
        before = answer_to(connection, rater_id, text)
        if before or before == agreed:
            return before
        connection.execute(
            insert(table(Consent)).values(rater_id=rater_id, text_hash=text.sha256, agreed=agreed)
        )
        return agreed
