"""What the columns of a file contain: numbers, words or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from study.importing.readers.input_file import Record
    from study.importing.readers.source import RecordSource

# Rows whose cells decide whether a column contains numbers.
_ROWS = 200
# With so many words or fewer, a column has labels in place of scores.
_MOST_LABELS = 10


@dataclass
class ColumnContent:
    """What the cells of a column are, as far as they are not blank."""

    numbers: int = 0
    """Numbers, words for pass and fail, and what looks like a number: 4/5 or 80%."""
    words: int = 0
    first_word: tuple[int, str] = (0, "")
    """Row and text."""
    distinct: set[str] = field(default_factory=set)
    """Words, up to one more than labels usually are."""

    @property
    def only_numbers(self) -> bool:
        return self.numbers > 0 and not self.words

    @property
    def mostly_numbers(self) -> bool:
        return self.numbers > 0 and self.numbers >= self.words

    @property
    def labels(self) -> bool:
        """Whether its words are few, as labels are; texts differ from row to row."""
        return 0 < len(self.distinct) <= _MOST_LABELS

    def __str__(self) -> str:
        row, word = self.first_word
        if not self.words:
            return "numbers" if self.numbers else "blank"
        return f"numbers and words, such as {word!r} in row {row}" if self.numbers else "text"


def contents_of(source: RecordSource) -> dict[str, ColumnContent]:
    """What each column contains, as far as the first rows show."""
    from study.text import shorten

    contents = {column: ColumnContent() for column in source.head.columns}
    for record in islice(records_of(source), _ROWS):
        for column, cell in record.cells.items():
            content = contents.setdefault(column, ColumnContent())
            sign = _looks_numeric(cell)
            content.numbers += sign is True
            content.words += sign is False
            if sign is False and content.words == 1:
                content.first_word = (record.number, shorten(str(cell)))
            if sign is False and len(content.distinct) <= _MOST_LABELS:
                content.distinct.add(str(cell))
    return contents


def _looks_numeric(cell: Any) -> bool | None:
    """Whether a cell has a score; None for a blank one."""
    from study.importing.import_report import ImportReport
    from study.importing.readers.cells import CellError, number, ratio_or_percentage
    from study.importing.readers.verdict_words import verdict

    if verdict(cell) is not None:
        return True
    try:
        value = number(cell, ImportReport(), typed=True, decimal_comma=True)
    except CellError:
        return isinstance(cell, str) and ratio_or_percentage(cell) is not None
    return None if value is None else True


def records_of(source: RecordSource) -> Iterable[Record]:
    """The readable rows of a file."""
    from study.importing.readers.input_file import Record

    return (record for record in source.peeked() if isinstance(record, Record))
