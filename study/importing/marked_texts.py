"""Marks of a file: ranges of characters of responses that are in the study."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, select

from study.importing.import_report import TWICE, ImportReport
from study.importing.rows import MarkedPart
from study.importing.value_store import Entry, Key
from study.schema.tables import responses
from study.sentences import Range
from study.text import abbreviate, counted

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
