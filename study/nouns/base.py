"""What all nouns share: one metadata with named constraints, checked text, one type for time."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from pydantic import AfterValidator
from sqlalchemy import DateTime, Dialect, MetaData, Table, inspect
from sqlalchemy.orm import registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import SQLModel

# Named constraints can be altered by a later migration on every database.
NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Noun(SQLModel, registry=registry(metadata=MetaData(naming_convention=NAMING))):
    """Root of every stored noun.

    A noun is a pair: a base that validates, and a table class, which by SQLModel's design does
    not. Rows enter through the base.
    """


def table(noun: type[Noun]) -> Table:
    """Return the table of a noun, for statements that go past the ORM."""
    return cast(Table, inspect(noun).local_table)


_CONTROL = re.compile(r"[\x00-\x1f]")


def storable(text: str) -> str:
    """Refuse text that SQLite or PostgreSQL can't hold unchanged."""
    if "\x00" in text:
        raise ValueError("holds a NUL character, which databases refuse; remove it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"holds half of a surrogate pair at character {error.start + 1}; "
            "repair the text at its source"
        ) from None
    return text


def naming(text: str) -> str:
    """Check a name or key: storable, not blank, one line, no white space around it."""
    storable(text)
    if not text.strip():
        raise ValueError("is blank; give it a name")
    if text != text.strip():
        raise ValueError(f"{text!r} has white space around it; remove it")
    if len(text) > 500:
        raise ValueError(f"is {len(text)} characters long; 500 are the most")
    if _CONTROL.search(text):
        raise ValueError(f"{text!r} holds a control character; remove it")
    return text


Text = Annotated[str, AfterValidator(storable)]
Key = Annotated[str, AfterValidator(naming)]


class UTCDateTime(TypeDecorator[datetime]):
    """Aware datetimes in, aware UTC datetimes out, on every database."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone; times are stored in UTC")
        return value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        moment: datetime = value
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)
