"""The base of all tables: metadata with named constraints, and the type of times."""

import secrets
from datetime import UTC, datetime
from typing import Any, cast

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
    """Base class of all tables.

    A table has two classes: a base that validates and a table class, which by SQLModel's design
    does not. Rows are validated by the base before they are stored.
    """


def table(noun: type[Noun]) -> Table:
    """Return the table of a table class, for statements without the ORM."""
    return cast(Table, inspect(noun).local_table)


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


def random_id() -> str:
    """Return 128 random bits in hex: an identifier for addresses that can't be guessed."""
    return secrets.token_hex(16)
