"""What the columns of a table contain: numbers, words of judgments, texts or nothing."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from study.importing.import_report import ImportReport
from study.importing.readers.cells import CellError, number, ratio_or_percentage
from study.importing.readers.input_file import Record
from study.importing.readers.judgment_cells import is_object, judgment_in, score_fields
from study.importing.readers.value_words import Vocabulary, folded_word, is_missing, vocabulary_of
from study.text import quoted_names, shorten

ROWS = 200
"""Rows whose cells decide what a column contains."""

# With more different words, or longer ones, a column has texts.
_MOST_LABELS, _LONGEST_LABEL = 10, 40
# So few cells may all differ and still be labels, if they are short.
_FEW_CELLS, _SHORT_LABEL = 10, 20
# So many different whole numbers without a repetition number the rows.
_FEWEST_NUMBERED = 8


@dataclass
class ColumnContent:
    """What the first cells of a column are, as far as they are not blank."""

    cells: list[tuple[int, Any]] = field(default_factory=list)
    """Row and cell, without blank ones."""
    blank: int = 0

    @cached_property
    def numbers(self) -> list[float]:
        """The cells that are numbers; 4/5 and 80% count as 4 and 80."""
        return [value for _, cell in self.cells if (value := _number(cell)) is not None]

    @cached_property
    def words(self) -> list[tuple[int, str]]:
        """Row and text of the cells that are not numbers, apart from words for a missing value."""
        return [
            (row, str(inner))
            for row, cell in self.cells
            if _number(cell) is None and not is_missing(inner := inner_score(cell))
        ]

    @property
    def is_empty(self) -> bool:
        """Whether all cells are blank."""
        return not self.cells

    @cached_property
    def only_numbers(self) -> bool:
        """Whether there are numbers, and no words."""
        return bool(self.numbers) and not self.words

    @cached_property
    def mostly_numbers(self) -> bool:
        """Whether there are numbers, and not more words."""
        return bool(self.numbers) and len(self.numbers) >= len(self.words)

    @cached_property
    def distinct(self) -> list[str]:
        """The different words, without regard to capital letters."""
        return list({folded_word(word): word for _, word in reversed(self.words)}.values())

    @cached_property
    def labels(self) -> bool:
        """Whether its words are few and short, as labels are; texts differ from row to row."""
        longest = max((len(word) for _, word in self.words), default=0)
        if not 0 < len(self.distinct) <= _MOST_LABELS or longest > _LONGEST_LABEL:
            return False
        if self.in_lists or any("\n" in word.strip() for word in self.distinct):
            return False
        repeated = len(self.words) > len(self.distinct)
        return repeated or (len(self.words) <= _FEW_CELLS and longest <= _SHORT_LABEL)

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """The well-known words that its labels are."""
        return vocabulary_of(self.distinct) if self.labels else None

    @cached_property
    def in_objects(self) -> bool:
        """Whether the cells are JSON objects with a judgment."""
        return bool(self.cells) and all(
            is_object(cell) and inner_score(cell) is not cell for _, cell in self.cells
        )

    @cached_property
    def in_lists(self) -> bool:
        """Whether the cells are lists of numbers, or texts that are such lists in JSON."""
        return bool(self.cells) and all(_is_list(cell) for _, cell in self.cells)

    @property
    def is_prose(self) -> bool:
        """Whether the cells are texts, such as sentences with a score in them."""
        return bool(self.words) and not (self.may_be_scores or self.vocabulary)

    @property
    def may_be_scores(self) -> bool:
        """Whether the cells are numbers or labels."""
        return self.mostly_numbers or self.labels

    @cached_property
    def numbers_rows(self) -> bool:
        """Whether the cells are whole numbers without repetition, as ids and row numbers are."""
        values = self.numbers
        return (
            self.only_numbers
            and len(values) >= _FEWEST_NUMBERED
            and len(set(values)) == len(values)
            and all(value.is_integer() for value in values)
        )

    @property
    def different(self) -> int:
        """How many different cells there are."""
        return len({str(cell) for _, cell in self.cells})

    @property
    def repeats(self) -> bool:
        """Whether a cell occurs twice, as those of queries and systems do."""
        return self.different < len(self.cells)

    def __str__(self) -> str:
        if self.words:
            row, word = self.words[0]
            if self.numbers:
                return f"numbers and words, such as {shorten(word)!r} in row {row}"
            return f"words: {', '.join(self.distinct)}" if self.labels else "text"
        return "numbers" if self.numbers else "blank"


def contents_of(records: Iterable[Record], columns: Sequence[str]) -> dict[str, ColumnContent]:
    """What each column contains, as far as the first rows show."""
    contents = {column: ColumnContent() for column in columns}
    for record in islice(records, ROWS):
        for column, cell in record.cells.items():
            content = contents.setdefault(column, ColumnContent())
            if cell is None or cell == "" or cell != cell:  # noqa: PLR0124  (NaN)
                content.blank += 1
            else:
                content.cells.append((record.number, cell))
    return contents


def inner_score(cell: Any) -> Any:
    """The score in a judge's answer that is an object or its JSON; other cells as they are.

    The JSON may stand between the marks of a code block.
    """
    try:
        return judgment_in(cell)
    except CellError:
        return cell


def similar(one: ColumnContent, other: ColumnContent) -> bool:
    """Whether two columns have the same kind of values: the same words, or a like range."""
    if one.labels and other.labels and not (one.mostly_numbers or other.mostly_numbers):
        known = vocabulary_of([*one.distinct, *other.distinct])
        shared = set(map(folded_word, one.distinct)) & set(map(folded_word, other.distinct))
        return known is not None or bool(shared)
    if not (one.mostly_numbers and other.mostly_numbers):
        return False
    (low, high), (start, end) = (
        (min(content.numbers), max(content.numbers)) for content in (one, other)
    )
    if low > end or start > high:
        return False
    # A few values, such as 0 and 1, are not those of a scale to 100 that also has them.
    widths = sorted((high - low, end - start))
    return widths[1] <= 3 * widths[0] or widths[1] == 0 or set(one.numbers) >= set(other.numbers)


def _is_list(cell: Any) -> bool:
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return False
    return isinstance(cell, list) and all(
        isinstance(item, int | float) and not isinstance(item, bool) for item in cell
    )


def _number(cell: Any) -> float | None:
    cell = inner_score(cell)
    if isinstance(cell, bool):
        return None
    if isinstance(cell, str):
        text = cell.strip()
        if not text or not (text[0].isdigit() or text[0] in "+-.,"):
            return None
        if (ratio := ratio_or_percentage(text)) is not None:
            return float(ratio[0].replace(",", "."))
    try:
        return number(cell, ImportReport(), typed=True, decimal_comma=True)
    except CellError:
        return None


def several_in_objects(
    columns: Sequence[str], contents: Mapping[str, ColumnContent]
) -> tuple[str, str] | None:
    """Return the problem and the remedy of columns whose objects have several scores."""
    found: dict[str, list[str]] = {}
    for column in columns:
        cells = contents[column].cells
        fields = score_fields(cells[0][1]) if cells and not contents[column].in_objects else []
        if len(fields) > 1:
            found[column] = fields
    if not found:
        return None
    fields = list(dict.fromkeys(field for of in found.values() for field in of))
    which = "columns {} have" if len(found) > 1 else "column {} has"
    return (
        f"the {which.format(quoted_names(map(repr, found)))} JSON objects with several scores "
        f"({quoted_names(fields)}).",
        f"Write each into a separate column, such as {next(iter(found))}_{fields[0]}; in pandas: "
        f"for column in {list(found)}: frame = frame.join(frame[column].map(json.loads)"
        ".apply(pd.Series).add_prefix(f'{column}_')).drop(columns=column)",
    )


def lists_of_scores(column: str, content: ColumnContent) -> str | None:
    """Return the problem of a column whose cells are lists of scores, with the remedy."""
    if not content.in_lists:
        return None
    row, cell = content.cells[0]
    as_text = isinstance(cell, str)
    items = f"frame[{column!r}]{'.map(json.loads)' if as_text else ''}"
    modules = "json, pandas" if as_text else "pandas"
    return (
        f"has lists, such as {shorten(str(cell))} in row {row}; write the score of each rater into "
        f"a separate column, in pandas: import {modules}; frame = frame.drop(columns={column!r})"
        f".join(pandas.DataFrame({items}.tolist()).add_prefix({column + '_'!r}))"
    )


def reading_of_answers(column: str) -> str:
    """Return the line of Python that reads the scores of a judge's answers into a new column."""
    return (
        f"in Python: import judge, study; frame[{column + '_score'!r}] = "
        "[judge.parse_answer(text, study.Scale(min=MIN, max=MAX)).value "
        f"for text in frame[{column!r}]], with the ends of the scale in place of MIN and MAX"
    )
