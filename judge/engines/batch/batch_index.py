"""Prompts of a batch by name, on disk: memory does not depend on the number of prompts."""

import sqlite3
from typing import NamedTuple


class ResultPlace(NamedTuple):
    """Where a result is: the number of its file, and the position of its line in bytes."""

    file: int
    offset: int


class BatchIndex:
    """Which prompts were written to files, and which have results.

    The index is a temporary database of SQLite, which keeps a bounded part of it in memory.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._run("PRAGMA cache_size = -8000")
        self._run("BEGIN")
        self._run(
            "CREATE TABLE result (name TEXT PRIMARY KEY, file INT, offset INT, answered INT, "
            "refused INT, used INT DEFAULT 0) WITHOUT ROWID"
        )
        self._run(
            "CREATE TABLE failure (name TEXT, file INT, PRIMARY KEY (name, file)) WITHOUT ROWID"
        )
        self._run(
            "CREATE TABLE sent (name TEXT PRIMARY KEY, times INT, new INT, open INT) WITHOUT ROWID"
        )

    def add_result(self, name: str, place: ResultPlace, *, answered: bool, refused: bool) -> bool:
        """Add a result; return False if the prompt has an answer already, which stays."""
        if not answered:
            self._run("INSERT OR IGNORE INTO failure VALUES (?, ?)", name, place.file)
        row = self._row("SELECT answered FROM result WHERE name = ?", name)
        if row is not None and row[0]:
            return False
        self._run(
            "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, 0)",
            name,
            *place,
            answered,
            refused,
        )
        return True

    def take(self, name: str) -> ResultPlace | None:
        """Return the place of a prompt's result, and note that it is used."""
        row = self._row("SELECT file, offset FROM result WHERE name = ?", name)
        if row is None:
            return None
        self._run("UPDATE result SET used = 1 WHERE name = ?", name)
        return ResultPlace(*row)

    def refusals(self) -> tuple[int, int]:
        """Return the number of refused prompts, and of all answers."""
        row = self._row("SELECT coalesce(sum(refused), 0), count(*) FROM result WHERE answered")
        assert row is not None  # noqa: S101  (sums have one row)
        return int(row[0]), int(row[1])

    def unused(self) -> int:
        """Return the number of results that no prompt has taken."""
        return self._number("SELECT count(*) FROM result WHERE NOT used")

    def add_sent(self, name: str, *, new: bool) -> None:
        """Add a prompt of a file, which is written now (`new`) or was written before."""
        self._run(
            "INSERT INTO sent VALUES (?, 1, ?, 1) ON CONFLICT (name) DO UPDATE SET "
            "times = times + 1, new = max(new, excluded.new), open = 1",
            name,
            new,
        )

    def is_waiting(self, name: str) -> bool:
        """Return whether a prompt was written more often than it failed; note it as open."""
        row = self._row(
            "SELECT times > (SELECT count(*) FROM failure WHERE failure.name = sent.name) "
            "FROM sent WHERE name = ?",
            name,
        )
        if row is None or not row[0]:
            return False
        self._run("UPDATE sent SET open = 2 WHERE name = ?", name)
        return True

    def waiting(self) -> int:
        """Return the number of open prompts that earlier files contain."""
        return self._number("SELECT count(*) FROM sent WHERE open = 2 AND NOT new")

    def close(self) -> None:
        """Delete the index."""
        self._database.close()

    def _run(self, statement: str, *values: object) -> None:
        self._database.execute(statement, values)

    def _row(self, statement: str, *values: object) -> tuple[int, ...] | None:
        row: tuple[int, ...] | None = self._database.execute(statement, values).fetchone()
        return row

    def _number(self, statement: str) -> int:
        row = self._row(statement)
        return 0 if row is None else int(row[0])
