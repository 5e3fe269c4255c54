"""Rows gathered for bulk inserts through Core, under keys known before they are stored."""

from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, text

# Large enough that statements cost nothing beside rows, small enough for any memory.
_ROWS = 2000


class Batch:
    """Rows of one table, written in their order when enough have come together.

    Keys are given out here, so that a row can be referred to before it is written: the
    writing transaction keeps every other writer out.
    """

    def __init__(self, connection: Connection, table: Table) -> None:
        self._connection = connection
        self._table = table
        self._rows: list[dict[str, Any]] = []
        self._numbered = "id" in table.c
        self._written = False
        if self._numbered:
            if connection.dialect.name == "postgresql":
                # SQLite's writing transaction has the database to itself anyway.
                connection.execute(text(f'LOCK TABLE "{table.name}" IN EXCLUSIVE MODE'))
            highest = connection.execute(select(func.max(table.c.id))).scalar()
            self._next = 1 + (highest or 0)

    def add(self, **values: Any) -> int:
        """Take a row; return its key (0 in a table without keys of its own)."""
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
        """Insert the rows taken since the last call."""
        if self._rows:
            self._connection.execute(insert(self._table), self._rows)
            self._rows = []
            self._written = True

    def finish(self) -> None:
        """Write the rest, and let the database count on from the last key."""
        self.write()
        if self._written and self._numbered and self._connection.dialect.name == "postgresql":
            name = self._table.name
            self._connection.execute(
                text(f"SELECT setval(pg_get_serial_sequence('\"{name}\"', 'id'), :last)"),
                {"last": self._next - 1},
            )
