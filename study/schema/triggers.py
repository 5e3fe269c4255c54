"""Triggers that refuse a change of stored rows, for SQLite and PostgreSQL."""

from collections.abc import Iterable

from sqlalchemy import Connection

MUTABLE = frozenset(
    {"rater", "assignment", "invitation", "comparison", "enrolment_link", "elsewhere_task"}
)
"""Tables whose rows may change; all others are append-only."""

_MESSAGE = "is append-only: a change is a new row"


def protect(connection: Connection, tables: Iterable[str]) -> None:
    """Refuse UPDATE and DELETE on these tables from now on.

    A migration that rebuilds one of them in SQLite loses its triggers and calls this again.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger AS $$ "
            f"BEGIN RAISE EXCEPTION '%% {_MESSAGE}', TG_TABLE_NAME; END $$ LANGUAGE plpgsql"
        )
        for table in tables:
            connection.exec_driver_sql(
                f'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON "{table}" '
                "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
            )
        return
    for table in tables:
        for action in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f'CREATE TRIGGER {table}_refuses_{action.lower()} BEFORE {action} ON "{table}" '
                f"BEGIN SELECT RAISE(ABORT, '{table} {_MESSAGE}'); END"
            )
