"""Recorded answers by the prompt that they answer, on disk."""

import json
import sqlite3
from dataclasses import asdict
from typing import NamedTuple

from judge.protocol.exchange import Answer
from study.schema import PROMPT_NOT_WHOLE


class Key(NamedTuple):
    """What a recorded answer is for: a prompt by its hash, or a response and a construct."""

    name: str
    """`prompt HASH`, or `RESPONSE CONSTRUCT` with the response's database key."""
    repeat: int


def of_prompt(prompt_hash: str, repeat: int) -> Key:
    """Return the key of answers that name the words of a prompt."""
    return Key(f"prompt {prompt_hash}", repeat)


def of_response(response: int, construct: str, repeat: int) -> Key:
    """Return the key of answers that name a response and a construct."""
    return Key(f"{response} {construct}", repeat)


class RecordedIndex:
    """Answers by key and attempt, in a temporary database of SQLite.

    Memory does not depend on the number of answers.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA cache_size = -8000")
        self._database.execute("BEGIN")
        self._database.execute(
            "CREATE TABLE recorded (name TEXT, repeat INT, attempt INT, whole INT, "
            "place TEXT, answer TEXT, used INT DEFAULT 0, PRIMARY KEY (name, repeat, attempt)) "
            "WITHOUT ROWID"
        )

    def add(self, key: Key, attempt: int, answer: Answer, place: str) -> tuple[Answer, str] | None:
        """Add an answer; return the one with its key and attempt, and its place, if there is one.

        The answer that was first stays.
        """
        whole = answer.missing not in PROMPT_NOT_WHOLE
        row = (*key, attempt, whole, place, json.dumps(asdict(answer)))
        added = self._database.execute(
            "INSERT OR IGNORE INTO recorded VALUES (?, ?, ?, ?, ?, ?, 0)", row
        ).rowcount
        if added:
            return None
        stored = self._database.execute(
            "SELECT answer, place FROM recorded WHERE name = ? AND repeat = ? AND attempt = ?",
            (*key, attempt),
        ).fetchone()
        return Answer(**json.loads(stored[0])), str(stored[1])

    def take(self, key: Key) -> Answer | None:
        """Return the first attempt that was whole, or else the first; note that it is used."""
        row = self._database.execute(
            "SELECT answer, attempt FROM recorded WHERE name = ? AND repeat = ? "
            "ORDER BY whole DESC, attempt LIMIT 1",
            key,
        ).fetchone()
        if row is None:
            return None
        self._database.execute("UPDATE recorded SET used = 1 WHERE name = ? AND repeat = ?", key)
        return Answer(**json.loads(row[0]))

    def prompts(self, repeats: int | None = None, *, unused: bool = False) -> int:
        """Return the number of prompts with an answer.

        Parameters
        ----------
        repeats
            Only those of the first repeats; None: all.
        unused
            Only those that were not taken.
        """
        (number,) = self._database.execute(
            "SELECT count(*) FROM (SELECT DISTINCT name, repeat FROM recorded WHERE "
            "(? IS NULL OR repeat < ?) AND used <= ?)",
            (repeats, repeats, 0 if unused else 1),
        ).fetchone()
        return int(number)

    def attempts(self) -> int:
        """Return the number of answers, further attempts included."""
        return int(self._database.execute("SELECT count(*) FROM recorded").fetchone()[0])

    def repeats(self) -> int:
        """Return the number of repeats of the answers."""
        (last,) = self._database.execute("SELECT max(repeat) FROM recorded").fetchone()
        return 0 if last is None else int(last) + 1

    def close(self) -> None:
        """Delete the index."""
        self._database.close()
