"""Bulk inserts of rows whose keys are assigned before they are stored."""

from typing import Any

from sqlalchemy import Connection, Dialect, Float, LargeBinary, Table, func, insert, select, text
from sqlalchemy.types import TypeEngine

# Large enough that the cost of a statement is negligible, small enough for any memory.
_ROWS = 2000


class Batch:
    """Rows of one table, which are written in their order when there are enough.

    Keys are assigned here, so that a row can be referred to before it is written. That is safe
    because the transaction excludes all other writers.
    """

    def __init__(self, connection: Connection, table: Table) -> None:
        self._connection = connection
        self._table = table
        self._rows: list[dict[str, Any]] = []
        self._numbered = "id" in table.c
        self._written = False
        self._converting = {
            column.name for column in table.c if _converts(column.type, connection.dialect)
        }
        if self._numbered:
            if connection.dialect.name == "postgresql":
                # SQLite's writing transaction has the database to itself anyway.
                connection.execute(text(f'LOCK TABLE "{table.name}" IN EXCLUSIVE MODE'))
            highest = connection.execute(select(func.max(table.c.id))).scalar()
            self._next = 1 + (highest or 0)

    def add(self, **values: Any) -> int:
        """Add a row and return its key (0 in a table without an id)."""
        key = 0
        if self._numbered:
            key = self._next
            self._next += 1
            values["id"] = key
        self._rows.append(values)
        return key

    @property
    def full(self) -> bool:
        """Whether it is time to write."""
        return len(self._rows) >= _ROWS

    def write(self) -> None:
        """Insert the rows added since the last call."""
        if not self._rows:
            return
        if self._converting.intersection(self._rows[0]):
            self._connection.execute(insert(self._table), self._rows)
        else:
            # Rows that need no conversion go directly to the driver, in a third of the time.
            statement = insert(self._table).compile(
                dialect=self._connection.dialect, column_keys=list(self._rows[0])
            )
            order = statement.positiontup
            rows = [tuple(row[name] for name in order) for row in self._rows] if order else None
            self._connection.exec_driver_sql(str(statement), rows or self._rows)
        self._rows = []
        self._written = True

    def finish(self) -> None:
        """Write the remaining rows, and set the sequence of the database to the last key."""
        self.write()
        if self._written and self._numbered and self._connection.dialect.name == "postgresql":
            name = self._table.name
            self._connection.execute(
                text(f"SELECT setval(pg_get_serial_sequence('\"{name}\"', 'id'), :last)"),
                {"last": self._next - 1},
            )


def _converts(kind: TypeEngine[Any], dialect: Dialect) -> bool:
    """Whether values of a column's type are changed on their way to the driver."""
    if isinstance(kind, LargeBinary | Float):
        return False  # drivers take bytes and floats
    return kind.dialect_impl(dialect).bind_processor(dialect) is not None
