"""Consent and instructions, which raters answer before they rate.

Answers are never deleted; the newest one to a text counts. A changed text has another hash and
needs a new answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from sqlalchemy import Connection, insert, select

from study.errors import StudyError
from study.schema.tables import consents, raters
from study.study import Study

LONGEST = 200_000
"""Maximum size of a text in bytes; a larger file is probably a mistake."""
_CACHE_KEY = "_texts_of_raters"


@dataclass(frozen=True)
class RaterText:
    """A Markdown text, with the hash that identifies it in answers."""

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

    A running server keeps the texts it has read, like the settings.

    Raises
    ------
    StudyError
        A file that study.toml names is missing, empty, too long or not UTF-8.
    """
    texts: Texts | None = study.__dict__.get(_CACHE_KEY)
    if texts is None:
        rating = study.config.rating
        texts = Texts(
            _read(study.folder, "consent", rating.consent),
            _read(study.folder, "instructions", rating.instructions),
        )
        study.__dict__[_CACHE_KEY] = texts
    return texts


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
        raise StudyError(f"{named} has {len(content)} bytes; the maximum is {LONGEST}.")
    try:
        # Editors on Windows may begin a file with a byte order mark.
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
    """Return the page that the rater must answer before rating; None: no page.

    Parameters
    ----------
    connection
        A transaction on the study's database.
    study
        Its settings name the texts.
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
    """Return a rater's newest answer to a text; None: it does not exist."""
    agreed: bool | None = connection.execute(
        select(consents.c.agreed)
        .where(consents.c.rater_id == rater_id, consents.c.text_hash == text.sha256)
        .order_by(consents.c.id.desc())
        .limit(1)
    ).scalar()
    return agreed


def declined(connection: Connection, rater_ids: Iterable[int]) -> set[int]:
    """Return those of these raters whose newest answer was to decline."""
    rows = connection.execute(
        select(consents.c.rater_id, consents.c.agreed)
        .where(consents.c.rater_id.in_(list(rater_ids)))
        .order_by(consents.c.id)
    )
    newest = {row.rater_id: row.agreed for row in rows}
    return {rater for rater, agreed in newest.items() if not agreed}


def answer(study: Study, rater_id: int, text: RaterText, *, agreed: bool) -> bool:
    """Store a rater's answer to a text, and return the answer that counts.

    An agreement cannot be withdrawn here, only by leaving the study. The same answer is stored
    once.
    """
    with study.write() as connection:
        # Two requests of one rater at once: the second sees what the first has stored.
        connection.execute(select(raters.c.id).where(raters.c.id == rater_id).with_for_update())
        before = answer_to(connection, rater_id, text)
        if before or before == agreed:
            return before
        connection.execute(
            insert(consents).values(rater_id=rater_id, text_hash=text.sha256, agreed=agreed)
        )
        return agreed


_TAGS = {
    *("h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code"),
    *("em", "strong", "s", "a", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
# Deeper nesting only serves to slow down the parser.
_DEEPEST = 20


@lru_cache(maxsize=16)
def markdown(text: str) -> Markup:
    """Return a Markdown text as HTML for a page whose own heading is of the first rank.

    Headings move down by one rank. HTML in the text is shown as text; an image is left out, and
    a link leads to http, https or a mail address only, in a new window.
    """
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    parser.enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    for token in tokens:
        _move_down(token)
    html = nh3.clean(
        parser.renderer.render(tokens, parser.options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return Markup(html)  # noqa: S704


def _move_down(token: Token) -> None:
    if token.type in {"heading_open", "heading_close"}:
        token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
