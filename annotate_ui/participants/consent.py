"""What stands before the work: consent, then the instructions.

Answers are rows that stay; the newest one about a text counts. A text that is changed has another
hash, so it asks again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from sqlalchemy import Connection, insert, select

from study.errors import StudyError
from study.schema import Consent, Rater, table
from study.study import Study

LONGEST = 200_000
"""Bytes of a text. Nobody reads as much before they agree; such a file is named by mistake."""
_HELD = "_texts_of_raters"


@dataclass(frozen=True)
class RaterText:
    """A Markdown text, with the hash by which an answer says which text it was given to."""

    markdown: str
    sha256: str
    """Of the file's bytes, in hex."""


@dataclass(frozen=True)
class Texts:
    """The texts of a study; None where study.toml names no file."""

    consent: RaterText | None
    instructions: RaterText | None


def texts_of(study: Study) -> Texts:
    """Return the texts of a study, which are read once for each opening of it.

    A server that runs goes on with the texts it began with, as it does with the settings.

    Raises
    ------
    StudyError
        A file that study.toml names is missing, empty, too long or not UTF-8.
    """
    held: Texts | None = study.__dict__.get(_HELD)
    if held is None:
        rating = study.config.rating
        held = Texts(
            _read(study.folder, "consent", rating.consent),
            _read(study.folder, "instructions", rating.instructions),
        )
        study.__dict__[_HELD] = held
    return held


def _read(folder: Path, setting: str, name: str | None) -> RaterText | None:
    if name is None:
        return None
    path = folder / name
    named = f"{path}, which rating.{setting} in study.toml names,"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise StudyError(
            f"{named} is missing. Write the text there, or take the setting out."
        ) from None
    except OSError as error:
        raise StudyError(f"{named} can't be read ({error.strerror}).") from None
    if len(content) > LONGEST:
        raise StudyError(f"{named} has {len(content)} bytes; {LONGEST} are the most.")
    try:
        # Editors on Windows begin a file with a mark that is no text.
        markdown = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError(
            f"{named} is not UTF-8 at byte {error.start + 1}. Save it as UTF-8."
        ) from None
    if not markdown.strip():
        raise StudyError(f"{named} is empty. Write the text there, or take the setting out.")
    return RaterText(markdown, sha256(content).hexdigest())


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
