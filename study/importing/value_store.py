"""Scores and preferences of a file on their way to the study: one value for each key."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import Connection, Table, select

from study.importing.bulk_insert import Batch
from study.importing.import_report import TWICE, ImportReport
from study.schema import Noun, table

AGAIN = "the same value again under another id or system of the same response"
AS_REPEAT = "a second value kept as the next repeat"

Key = tuple[tuple[int, ...], str, str, int]
"""(what names the responses, construct, scorer, repeat)"""


class Entry(NamedTuple):
    """What is said under a key."""

    value: float | None
    reason: str | None
    extra: tuple[Any, ...] = ()
    """The noun's further columns."""
    number: int = 0
    """Row of the file; 0 for a value already in the study."""
    name: str = ""
    """How the file names what is scored."""
    column: str | None = None
    """The file's own column of the value."""

    def says_the_same(self, other: "Entry") -> bool:
        """Whether the other entry has the same value, reason and further columns."""
        return self[:3] == other[:3]


class ValueStore:
    """Values of one noun, gathered in memory and compared with each other and the study.

    `keys` are the noun's columns that name the responses, `extra` those beside the value.
    """

    def __init__(
        self,
        noun: type[Noun],
        base: type[BaseModel],
        keys: tuple[str, ...],
        extra: tuple[str, ...],
        tally: ImportReport,
        *,
        conflicts_as_repeats: bool = False,
    ) -> None:
        self._table: Table = table(noun)
        self._plural = f"{self._table.name}s"
        self._base = base
        self._keys = keys
        self._extra = extra
        self._tally = tally
        self._as_repeats = conflicts_as_repeats
        self._given: dict[Key, Entry] = {}

    def add(self, key: Key, entry: Entry) -> None:
        """Take a value, or note the existing value that contradicts it."""
        first = self._given.setdefault(key, entry)
        if first is entry:
            return
        if first.says_the_same(entry):
            self._tally.rules[TWICE if first.name == entry.name else AGAIN] += 1
        elif self._as_repeats:
            while key in self._given and not self._given[key].says_the_same(entry):
                key = _next_repeat(key)
            self._given[key] = entry
            self._tally.rules[AS_REPEAT] += 1
        else:
            self._conflict(key, first, entry)

    def join(self, connection: Connection, versions: Mapping[str, int]) -> None:
        """Compare with what the study holds of the file's scorers; keep what is new.

        `versions` are the current versions of the constructs, the ones that are meant.
        """
        stored = self._stored(connection, versions) if self._given else {}
        new: dict[Key, Entry] = {}
        for key, entry in self._given.items():
            place = key
            while self._as_repeats:
                other = stored.get(place) or (self._given.get(place) if place != key else None)
                if other is None or other.says_the_same(entry):
                    break
                place = _next_repeat(place)
            if place not in stored:
                new[place] = entry
                if place != key:
                    self._tally.rules[AS_REPEAT] += 1
            elif stored[place].says_the_same(entry):
                self._tally.already[self._plural] += 1
            else:
                self._conflict(key, stored[place], entry)
        self._given = new
        self._tally.added[self._plural] += len(new)

    def store(
        self,
        connection: Connection,
        versions: Mapping[str, int],
        kinds: Mapping[str, str],
        file_id: int,
    ) -> None:
        """Insert what `join` left."""
        if not self._given:
            return
        batch = Batch(connection, self._table)
        for (responses, construct, scorer, repeat), entry in self._given.items():
            noun = self._base.model_validate(
                {
                    "construct_key": construct,
                    "construct_version": versions[construct],
                    "scorer": scorer,
                    "scorer_kind": kinds[scorer],
                    "repeat": repeat,
                    "value": entry.value,
                    "missing_reason": entry.reason,
                    **dict(zip(self._extra, entry.extra, strict=True)),
                }
            )
            names = dict(zip(self._keys, responses, strict=True))
            batch.add(**noun.model_dump(), **names, file_id=file_id)
            if batch.full:
                batch.write()
        batch.finish()

    def _stored(self, connection: Connection, versions: Mapping[str, int]) -> dict[Key, Entry]:
        t = self._table
        stored: dict[Key, Entry] = {}
        wanted = {key[0] for key in self._given}
        for scorer in sorted({key[2] for key in self._given}):
            rows: Any = connection.execute(select(t).where(t.c.scorer == scorer)).mappings()
            for row in rows:
                responses = tuple(row[column] for column in self._keys)
                construct = row["construct_key"]
                if responses in wanted and row["construct_version"] == versions.get(construct):
                    extra = tuple(row[column] for column in self._extra)
                    stored[responses, construct, scorer, row["repeat"]] = Entry(
                        row["value"], row["missing_reason"], extra
                    )
        return stored

    def _conflict(self, key: Key, first: Entry, second: Entry) -> None:
        _, construct, scorer, repeat = key
        column, new, stored = self._difference(first, second)
        where = "the study" if not first.number else f"row {first.number}"
        other = f" under {first.name}" if first.name not in ("", second.name) else ""
        self._tally.fault(
            f"{new} for {second.name} by {scorer!r} on {construct}, repeat {repeat}, but {where} "
            f"has {stored} for the same response{other}.",
            "Keep one of them, number them as repeats, or import with --conflicts-as-repeats."
            if first.number
            else "What is stored stays: take the row out. Where it was given a second time, and "
            "not corrected, number it as a repeat or import with --conflicts-as-repeats.",
            second.number,
            column,
        )

    def _difference(self, first: Entry, second: Entry) -> tuple[str | None, str, str]:
        if first[:2] != second[:2]:
            return second.column, _described(second), _described(first)
        name, new, stored = next(
            (name, new, stored)
            for name, new, stored in zip(self._extra, second.extra, first.extra, strict=True)
            if new != stored
        )
        return name, f"{name} {new}", f"{name} {stored}"


def _next_repeat(key: Key) -> Key:
    return (*key[:3], key[3] + 1)


def _described(entry: Entry) -> str:
    return f"{entry.value:g}" if entry.value is not None else f"no value ({entry.reason})"
