"""Storing the answers of a file: scores, preferences and marks, one for each key."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Subquery, bindparam, delete, select

from study.importing.bulk_insert import Batch
from study.importing.import_report import TWICE, ImportReport
from study.importing.rows import MarkedPart
from study.schema import ScorerAnswerBase
from study.schema.creation import append_only_suspended
from study.schema.tables import responses, scorer_answers
from study.sentences import Range
from study.text import abbreviate, counted

AGAIN = "the same value again under another id or system of the same response"
AS_REPEAT = "a second value stored as the next repeat"

Key = tuple[tuple[int, ...], str, str, int]
"""(ids of the responses, construct, scorer, repeat)"""


class Entry(NamedTuple):
    """The value of a key, and where it was found."""

    value: float | None
    reason: str | None
    extra: tuple[Any, ...] = ()
    """The noun's further columns."""
    number: int = 0
    """Row of the file; 0 for a value already in the study."""
    name: str = ""
    """How the file names the scored response or pair."""
    column: str | None = None
    """The file's own column of the value."""
    answer_id: int = 0
    """Key of a value already in the study."""

    def has_same_content(self, other: "Entry") -> bool:
        """Whether the other entry has the same value, reason and further columns."""
        return self[:3] == other[:3]


class ImportedKind(NamedTuple):
    """What the answers of one kind are called, and where they are stored."""

    plural: str
    stored: Subquery
    """The stored answers, to read."""
    extra: Mapping[str, str] = {}
    """Columns in addition to the value, by the name that `stored` and messages have for them."""
    item: str = ""
    """The answers' column `item`; of a comparison it follows from the second response."""


class Replaced(NamedTuple):
    """The files whose answers an import replaces: they are earlier states of what it reads."""

    files: frozenset[int] = frozenset()
    stays: Callable[[int, str], bool] = lambda response, scorer: False  # noqa: ARG005
    """Whether the answers of a scorer on a response stay although the import lacks them."""


class ValueStore:
    """Answers of one kind, collected in memory and compared with each other and the study."""

    def __init__(
        self,
        form: ImportedKind,
        report: ImportReport,
        *,
        conflicts_as_repeats: bool = False,
        replaced: Replaced = Replaced(),  # noqa: B008  (it cannot be changed)
    ) -> None:
        self._form = form
        self._extra = tuple(form.extra)
        self._report = report
        self._as_repeats = conflicts_as_repeats
        self._replaced = replaced
        self._outdated: set[int] = set()
        """Stored answers that go: they have another value now, or none."""
        self._entries: dict[Key, Entry] = {}

    def add(self, key: Key, entry: Entry) -> None:
        """Add a value, or a fault where an earlier value of the key contradicts it."""
        first = self._entries.setdefault(key, entry)
        if first is entry:
            return
        if first.has_same_content(entry):
            self._report.rules[TWICE if first.name == entry.name else AGAIN] += 1
        elif self._as_repeats:
            while key in self._entries and not self._entries[key].has_same_content(entry):
                key = _next_repeat(key)
            self._entries[key] = entry
            self._report.rules[AS_REPEAT] += 1
        else:
            self._conflict(key, first, entry)

    def join(self, connection: Connection, versions: Mapping[str, int]) -> None:
        """Compare with the stored values of the file's scorers, and keep only new values.

        `versions` are the current versions of the constructs.
        """
        stored = self._stored(connection, versions) if self._entries else {}
        earlier = self._earlier(connection)
        present: set[int] = set()
        new: dict[Key, Entry] = {}
        for key, entry in self._entries.items():
            place = key
            while self._as_repeats:
                other = stored.get(place) or (self._entries.get(place) if place != key else None)
                if other is None or other.has_same_content(entry) or other.answer_id in earlier:
                    break
                place = _next_repeat(place)
            if place not in stored:
                new[place] = entry
                if place != key:
                    self._report.rules[AS_REPEAT] += 1
            elif stored[place].has_same_content(entry):
                self._report.already[self._form.plural] += 1
                present.add(stored[place].answer_id)
            elif stored[place].answer_id in earlier:
                new[place] = entry
                self._outdated.add(stored[place].answer_id)
            else:
                self._conflict(key, stored[place], entry)
        self._entries = new
        changed = len(self._outdated)
        gone = earlier - present - self._outdated
        self._outdated |= gone
        for counts, number in (
            (self._report.added, len(new) - changed),
            (self._report.changed, changed),
            (self._report.withdrawn, len(gone)),
        ):
            counts[self._form.plural] += number

    def store(
        self,
        connection: Connection,
        versions: Mapping[str, int],
        kinds: Mapping[str, str],
        file_id: int,
    ) -> None:
        """Insert the new answers, and delete those that they replace."""
        if self._outdated:
            with append_only_suspended(connection, [scorer_answers.name]):
                gone = delete(scorer_answers).where(scorer_answers.c.id == bindparam("answer"))
                connection.execute(gone, [{"answer": number} for number in self._outdated])
        if not self._entries:
            return
        batch = Batch(connection, scorer_answers)
        for (items, construct, scorer, repeat), entry in self._entries.items():
            first, *others = items
            second = others[0] if others else None
            noun = ScorerAnswerBase.model_validate(
                {
                    "construct_key": construct,
                    "construct_version": versions[construct],
                    "scorer": scorer,
                    "scorer_kind": kinds[scorer],
                    "repeat": repeat,
                    "item": self._form.item if second is None else f"beside {second}",
                    "value": entry.value,
                    "missing_reason": entry.reason,
                    **dict(zip(self._form.extra.values(), entry.extra, strict=True)),
                }
            )
            columns = noun.model_dump()
            if noun.ranges is None:
                # Rows without a column of JSON go directly to the driver.
                del columns["ranges"]
            batch.add(**columns, response_id=first, second_response_id=second, file_id=file_id)
            if batch.full:
                batch.write()
        batch.finish()

    def _earlier(self, connection: Connection) -> set[int]:
        """Return the stored answers that the import replaces."""
        if not self._replaced.files:
            return set()
        t = self._form.stored
        response = t.c.response_id if "response_id" in t.c else t.c.response_a_id
        rows = connection.execute(
            select(t.c.id, response, t.c.scorer).where(t.c.file_id.in_(self._replaced.files))
        )
        return {key for key, of, scorer in rows if not self._replaced.stays(of, scorer)}

    def _stored(self, connection: Connection, versions: Mapping[str, int]) -> dict[Key, Entry]:
        t = self._form.stored
        keys = [name for name in ("response_id", "response_a_id", "response_b_id") if name in t.c]
        stored: dict[Key, Entry] = {}
        responses_in_file = {key[0] for key in self._entries}
        for scorer in sorted({key[2] for key in self._entries}):
            rows: Any = connection.execute(select(t).where(t.c.scorer == scorer)).mappings()
            for row in rows:
                responses = tuple(row[column] for column in keys)
                construct = row["construct_key"]
                if responses in responses_in_file and row["construct_version"] == versions.get(
                    construct
                ):
                    extra = tuple(_as_given(row[column]) for column in self._extra)
                    value, reason = row.get("value"), row.get("missing_reason")
                    stored[responses, construct, scorer, row["repeat"]] = Entry(
                        value, reason, extra, answer_id=row["id"]
                    )
        return stored

    def _conflict(self, key: Key, first: Entry, second: Entry) -> None:
        _, construct, scorer, repeat = key
        column, new, stored = self._difference(first, second)
        where = "the study" if not first.number else f"row {first.number}"
        other = f" under {first.name}" if first.name not in ("", second.name) else ""
        self._report.fault(
            f"{new} for {second.name} by {scorer!r} on {construct}, repeat {repeat}, but {where} "
            f"has {stored} for the same response{other}.",
            "Keep one of them, number them as repeats, or import with --conflicts-as-repeats."
            if first.number
            else "Stored values never change: remove the row. If it is a second rating and not a "
            "correction, number it as a repeat or import with --conflicts-as-repeats.",
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
        # Marks have no value: their column of the file is that of their ranges.
        column = second.column if first.value is second.value is None else name
        return column, f"{name} {new}", f"{name} {stored}"


def _as_given(stored: Any) -> Any:
    """Return a stored value as rows of a file have it: JSON gives lists for tuples."""
    if isinstance(stored, list):
        return tuple((start, end) for start, end in stored)
    return stored


def _next_repeat(key: Key) -> Key:
    return (*key[:3], key[3] + 1)


def _described(entry: Entry) -> str:
    return f"{entry.value:g}" if entry.value is not None else f"no value ({entry.reason})"


IN_UTF16 = "positions in UTF-16 units, as JavaScript counts, read as characters"
JOINED = "marks that overlap joined to one"


class MarkedTexts:
    """Marks of one file, as ranges of the texts of the responses."""

    def __init__(self, report: ImportReport) -> None:
        self._report = report
        self._given: dict[tuple[Key, Sequence[MarkedPart]], Entry] = {}

    def add(
        self, key: Key, marks: Sequence[MarkedPart], row: int, name: str, column: str | None
    ) -> None:
        """Add the marks of one person in one response."""
        entry = Entry(None, None, (), row, name, column)
        if self._given.setdefault((key, tuple(marks)), entry) is not entry:
            self._report.rules[TWICE] += 1

    def entries(self, connection: Connection) -> Iterator[tuple[Key, Entry]]:
        """Yield the marks as ranges, those that overlap as one; note those that are not there."""
        texts = _texts(connection, {response for (((response, *_), *_), _) in self._given})
        for (key, marks), entry in self._given.items():
            text = texts[key[0][0]]
            places = (self._range(text, mark, entry.number, entry.name) for mark in marks)
            ranges = [place for place in places if place is not None]
            joined = joined_ranges(ranges)
            if len(joined) < len(ranges):
                self._report.rules[JOINED] += 1
            yield key, entry._replace(extra=(tuple(joined),), name=repr(entry.name))

    def _range(self, text: str, mark: MarkedPart, row: int, name: str) -> Range | None:
        """Return a mark in characters of the text; None and a fault where it is not in it."""
        place = place_of(text, mark)
        if not isinstance(place, str):
            if place != (mark.start, mark.end):
                self._report.rules[IN_UTF16] += 1
            return place
        self._report.fault(
            f"the mark from {mark.start} to {mark.end} in {name!r} {place}.",
            "Marks are ranges [start, end) of the text of the response. Correct them, or leave out "
            "marks on other texts, such as passages.",
            row,
        )
        return None


def place_of(text: str, mark: MarkedPart) -> Range | str:
    """Return the range of a mark in characters of a text, or why it is not in it.

    Some tools count UTF-16 units; the text that they store with a mark shows it.
    """
    if mark.start >= mark.end:
        return "is empty"
    if _is_there(text, mark.start, mark.end, mark.text):
        return mark.start, mark.end
    if mark.text is not None and (place := _from_utf16(text, mark)) is not None:
        return place
    if mark.end > len(text):
        return f"is not in the response, which has {counted(len(text), 'character')}"
    there = abbreviate(text[mark.start : mark.end])
    return f"is of {abbreviate(mark.text)}, but the response has {there} there"


def _is_there(text: str, start: int, end: int, expected: str | None) -> bool:
    if end > len(text):
        return False
    # Pages show white space in other ways than it is written.
    return expected is None or "".join(text[start:end].split()) == "".join(expected.split())


def _from_utf16(text: str, mark: MarkedPart) -> Range | None:
    units = text.encode("utf-16-le")
    if 2 * mark.end > len(units):
        return None
    try:
        start = len(units[: 2 * mark.start].decode("utf-16-le"))
        end = start + len(units[2 * mark.start : 2 * mark.end].decode("utf-16-le"))
    except UnicodeDecodeError:
        return None
    return (start, end) if _is_there(text, start, end, mark.text) else None


def joined_ranges(ranges: Sequence[Range]) -> list[Range]:
    """Return ranges in order, those that overlap as one."""
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _texts(connection: Connection, ids: set[int]) -> dict[int, str]:
    if not ids:
        return {}
    rows = connection.execute(select(responses.c.id, responses.c.text))
    return {row.id: row.text for row in rows if row.id in ids}
