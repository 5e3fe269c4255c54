"""Storing marks of a file: ranges of characters of responses that are in the study."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from study.importing.bulk_insert import Batch
from study.importing.import_report import TWICE, ImportReport
from study.importing.rows import MarkedPart
from study.schema import ImportedMarksBase
from study.schema.tables import imported_marks, responses
from study.sentences import Range
from study.text import abbreviate

IN_UTF16 = "positions in UTF-16 units, as JavaScript counts, read as characters"
JOINED = "marks that overlap joined to one"
_PLURAL = "sets of marks"

Key = tuple[int, str, str, int]
"""(response, construct, scorer, repeat)"""


class MarksStore:
    """Marks of one file, compared with the texts of the responses and with the study."""

    def __init__(self, report: ImportReport) -> None:
        self._report = report
        self._given: dict[Key, tuple[Sequence[MarkedPart], int, str]] = {}
        self._new: dict[Key, list[Range]] = {}

    def add(self, key: Key, marks: Sequence[MarkedPart], row: int, name: str) -> None:
        """Add the marks of one person in one response, or a fault where others contradict them."""
        first, at, _ = self._given.setdefault(key, (marks, row, name))
        if at == row and first is marks:
            return
        if tuple(first) == tuple(marks):
            self._report.rules[TWICE] += 1
            return
        self._conflict(key, row, name, f"row {at}")

    def join(self, connection: Connection, versions: Mapping[str, int]) -> None:
        """Check the marks against the texts, and keep only those that are not in the study."""
        texts = _texts(connection, {key[0] for key in self._given})
        stored = _stored(connection, versions, {key[2] for key in self._given})
        for key, (marks, row, name) in self._given.items():
            text = texts[key[0]]
            ranges = []
            for mark in marks:
                place = self._range(text, mark, row, name)
                if place is not None:
                    ranges.append(place)
            joined = joined_ranges(ranges)
            if len(joined) < len(ranges):
                self._report.rules[JOINED] += 1
            if key not in stored:
                self._new[key] = joined
            elif stored[key] == joined:
                self._report.already[_PLURAL] += 1
            else:
                self._conflict(key, row, name, "the study")
        self._report.added[_PLURAL] += len(self._new)

    def store(self, connection: Connection, versions: Mapping[str, int], file_id: int) -> None:
        """Insert the new marks."""
        if not self._new:
            return
        batch = Batch(connection, imported_marks)
        for (response, construct, scorer, repeat), ranges in self._new.items():
            noun = ImportedMarksBase(
                construct_key=construct,
                construct_version=versions[construct],
                scorer=scorer,
                repeat=repeat,
                ranges=ranges,
            )
            batch.add(**noun.model_dump(), response_id=response, file_id=file_id)
            if batch.full:
                batch.write()
        batch.finish()

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

    def _conflict(self, key: Key, row: int, name: str, where: str) -> None:
        _, construct, scorer, repeat = key
        self._report.fault(
            f"{scorer!r} marks other parts of {name!r} for {construct}, repeat {repeat}, than in "
            f"{where}.",
            "Keep one of them, or number them as repeats.",
            row,
        )


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
        return f"is not in the response, which has {len(text)} characters"
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


def _stored(
    connection: Connection, versions: Mapping[str, int], scorers: set[str]
) -> dict[Key, list[Range]]:
    if not scorers:
        return {}
    rows = connection.execute(select(imported_marks))
    return {
        (row.response_id, row.construct_key, row.scorer, row.repeat): [
            (start, end) for start, end in row.ranges
        ]
        for row in rows
        if row.scorer in scorers and versions.get(row.construct_key) == row.construct_version
    }
