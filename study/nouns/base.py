"""What all nouns share: one metadata with named constraints, checked text, one type for time."""

import math
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
    if len(text) > 500:
        raise ValueError(f"is {len(text)} characters long; 500 are the most")
    if text != text.strip():
        raise ValueError(f"{text!r} has white space around it; remove it")
    if _CONTROL.search(text):
        raise ValueError(f"{text!r} holds a control character; remove it")
    return text


def storable_tree(tree: dict[str, Any]) -> dict[str, Any]:
    """Refuse an object that JSON in SQLite or PostgreSQL can't hold unchanged."""
    _check_tree(tree, "", 0)
    return tree


def _check_tree(value: Any, place: str, depth: int) -> None:
    at = f"at {place[:60]!r}: " if place else ""
    if depth > _DEEPEST:
        raise ValueError(f"is nested more than {_DEEPEST} deep; give it flat")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_text(str(name), at)
            _check_tree(inner, f"{place}.{name}" if place else name, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_tree(inner, place, depth + 1)
    elif isinstance(value, str):
        _check_text(value, at)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{at}{value} is not a finite number; write null if it is missing")
    elif isinstance(value, int):
        if value.bit_length() > _LONGEST:
            raise ValueError(f"{at}holds a number of {value.bit_length()} bits; write it as text")
    elif value is not None:
        kind = type(value).__name__
        raise ValueError(f"{at}holds a {kind}, which JSON has not; write it as text")


def _check_text(text: str, at: str) -> None:
    try:
        storable(text)
    except ValueError as error:
        raise ValueError(f"{at}{error}") from None


# Attributes are labels of a query, such as its domain; whatever lies deeper is no label.
_DEEPEST = 20
# As long as the largest float.
_LONGEST = 1024

Text = Annotated[str, AfterValidator(storable)]
Key = Annotated[str, AfterValidator(naming)]
Attributes = Annotated[dict[str, Any], AfterValidator(storable_tree)]


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
