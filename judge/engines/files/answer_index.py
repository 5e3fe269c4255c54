"""Answers in files by what they answer, on disk: memory does not depend on their number."""

import sqlite3
from typing import NamedTuple


class Key(NamedTuple):
    """What an answer is for."""

    name: str
    """A request's name, `prompt HASH`, or `RESPONSE CONSTRUCT` with the response's database key."""
    repeat: int = 0


class AnswerIndex:
    """Which prompts have answers, and which are written to files.

    The index is a temporary database of SQLite, which keeps a bounded part of it in memory.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in (
            "PRAGMA cache_size = -8000",
            "BEGIN",
            "CREATE TABLE answer (name TEXT, repeat INT, attempt INT, whole INT, content TEXT, "
            "used INT, PRIMARY KEY (name, repeat, attempt)) WITHOUT ROWID",
            "CREATE TABLE failure (name TEXT, file INT, PRIMARY KEY (name, file)) WITHOUT ROWID",
            "CREATE TABLE sent (name TEXT PRIMARY KEY, times INT, new INT, open INT) WITHOUT ROWID",
        ):
            self._run(statement)

    def add(self, key: Key, content: str, attempt: int = 1, *, whole: bool = True) -> str | None:
        """Add an answer; return the one of its key and attempt if there is one, which stays.

        Parameters
        ----------
        content
            The answer, or where it is.
        whole
            Whether it is an answer to the whole prompt; such an answer is taken before others.
        """
        row = (*key, attempt, whole, content)
        if self._run("INSERT OR IGNORE INTO answer VALUES (?, ?, ?, ?, ?, 0)", *row).rowcount:
            return None
        same = "SELECT content FROM answer WHERE name = ? AND repeat = ? AND attempt = ?"
        return str(self._run(same, *key, attempt).fetchone()[0])

    def add_failure(self, name: str, content: str, file: int) -> None:
        """Add a request's failure, which a later one replaces, and any answer."""
        self._run("INSERT OR IGNORE INTO failure VALUES (?, ?)", name, file)
        # After every attempt at an answer.
        self._run("INSERT OR REPLACE INTO answer VALUES (?, 0, ?, 0, ?, 0)", name, 2, content)

    def take(self, key: Key) -> str | None:
        """Return the first attempt that is whole, or else the first; note that it is used."""
        row = self._run(
            "SELECT content FROM answer WHERE name = ? AND repeat = ? "
            "ORDER BY whole DESC, attempt LIMIT 1",
            *key,
        ).fetchone()
        if row is None:
            return None
        self._run("UPDATE answer SET used = 1 WHERE name = ? AND repeat = ?", *key)
        return str(row[0])

    def prompts(self, repeats: int | None = None, *, unused: bool = False) -> int:
        """Return the number of prompts with an answer.

        Parameters
        ----------
        repeats
            Only those of the first repeats; None: all.
        unused
            Only those that were not taken.
        """
        return self._number(
            "SELECT count(*) FROM (SELECT DISTINCT name, repeat FROM answer WHERE "
            "(? IS NULL OR repeat < ?) AND used <= ?)",
            repeats,
            repeats,
            not unused,
        )

    def repeats(self) -> int:
        """Return the number of repeats of the answers."""
        return self._number("SELECT coalesce(max(repeat) + 1, 0) FROM answer")

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
        return bool(
            self._run(
                "UPDATE sent SET open = 2 WHERE name = ? AND times > "
                "(SELECT count(*) FROM failure WHERE failure.name = sent.name)",
                name,
            ).rowcount
        )

    def waiting(self) -> int:
        """Return the number of open prompts that earlier files contain."""
        return self._number("SELECT count(*) FROM sent WHERE open = 2 AND NOT new")

    def close(self) -> None:
        """Delete the index."""
        self._database.close()

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        return self._database.execute(statement, values)

    def _number(self, statement: str, *values: object) -> int:
        return int(self._run(statement, *values).fetchone()[0])
