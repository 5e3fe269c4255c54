"""Triggers that keep stored facts as they are, for SQLite and PostgreSQL alike."""

from collections.abc import Iterable

from alembic import op

_MESSAGE = "is append-only: a change is a new row"


def protect(tables: Iterable[str]) -> None:
    """Refuse UPDATE and DELETE on these tables from now on.

    A migration that rebuilds one of them in SQLite loses its triggers and calls this again.
    """
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger AS $$ "
            f"BEGIN RAISE EXCEPTION '% {_MESSAGE}', TG_TABLE_NAME; END $$ LANGUAGE plpgsql"
        )
        for table in tables:
            op.execute(
                f'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON "{table}" '
                "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
            )
        return
    for table in tables:
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f'CREATE TRIGGER {table}_refuses_{action.lower()} BEFORE {action} ON "{table}" '
                f"BEGIN SELECT RAISE(ABORT, '{table} {_MESSAGE}'); END"
            )
