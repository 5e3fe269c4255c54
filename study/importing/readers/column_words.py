"""The words in columns of judgments, and one vocabulary for the columns of a construct."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from study.importing.readers.cells import (
    NO_VALUE,
    CellError,
    is_number,
    looks_like_number,
    ratio_or_percentage,
)
from study.importing.readers.judgment_cells import judgment_in
from study.importing.readers.value_words import (
    NONE,
    Declaration,
    Vocabulary,
    as_option,
    best_of,
    by_degrees,
    categories_of,
    folded_word,
    is_missing,
    vocabulary_of,
    words_alone,
)
from study.text import abbreviate

K = TypeVar("K")

Declared = Mapping[str, float | None]
"""Numbers by word, as the caller declares them; None is missing."""


class WordUse(NamedTuple):
    """How often a word is in a column, and the first row that has it."""

    times: int
    row: int


@dataclass
class ColumnWords:
    """What one column, or one scorer on a construct, has in its cells."""

    missing: frozenset[float] = frozenset()
    """Numbers that are declared to be missing values."""
    words: dict[str, WordUse] = field(default_factory=dict)
    """As they are first written; those for missing too."""
    missing_found: set[float] = field(default_factory=set)
    """Those of `missing` that occur."""
    numbers: int = 0
    first_number: int | None = None
    """The row of the first number."""
    _first: dict[str, str] = field(default_factory=dict)

    def add(self, cell: Any, row: int) -> None:
        """Add a cell."""
        word = word_in(cell)
        if word is None:
            if self.missing and (number := number_in(cell)) in self.missing:
                self.missing_found.add(number)
            elif _is_number(cell):
                self.numbers += 1
                self.first_number = row if self.first_number is None else self.first_number
            return
        key = folded_word(word)
        # None of pandas and none among words in small letters are two words.
        first = self._first.setdefault(word if key == NONE else key, word)
        use = self.words.get(first)
        self.words[first] = WordUse(1, row) if use is None else WordUse(use.times + 1, use.row)

    @property
    def mostly_numbers(self) -> bool:
        """Whether numbers are more than words, or as many and first."""
        uses = [use for word, use in self.words.items() if not is_missing(word)]
        words, first = sum(use.times for use in uses), min((use.row for use in uses), default=0)
        if self.first_number is None:
            return False
        return self.numbers > words or (self.numbers == words and self.first_number < first)

    @property
    def valued(self) -> list[str]:
        """The words apart from those for missing."""
        return [word for word in self.words if not is_missing(word)]


def number_in(cell: Any) -> float:
    """Return the number in a cell, or in a judge's JSON; NaN for anything else."""
    try:
        content = judgment_in(cell)
    except CellError:
        return math.nan
    if isinstance(content, str) and looks_like_number(content):
        return float(content.replace(",", "."))
    is_number = hasattr(content, "__float__") and not isinstance(content, bool)
    return float(content) if is_number else math.nan


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return is_number(cell)
    return hasattr(cell, "__float__") and not math.isnan(float(cell))


def word_in(cell: Any) -> str | None:
    """Return the word in a cell, or in a judge's JSON; None for a number, 4/5 or a blank cell."""
    try:
        content = judgment_in(cell)
    except CellError:
        return None
    if isinstance(content, bool):
        return str(content).lower()
    if not isinstance(content, str):
        return None
    text = content.strip()
    number = is_number(text) or ratio_or_percentage(text) is not None
    # Among other words none may be one of them.
    no_value = text.casefold() in NO_VALUE - {NONE}
    return None if not text or number or no_value else text


def vocabularies_of(
    columns: Mapping[K, ColumnWords], declared: Declared | None = None
) -> dict[K, Vocabulary]:
    """Return the vocabulary of each column of a construct that has words and can be read.

    That is the one that contains the words of all columns; or one each where they are two-valued
    or of one range, such as pass and fail beside yes and no; or names of categories, where all
    columns have words, of which no known vocabulary has more than one.
    """
    declared = words_alone(declared or {})
    in_words = {key: column for key, column in columns.items() if column.valued}
    if declared:
        names = {folded_word(word) for word in declared}
        for key, column in columns.items():
            if any(folded_word(word) in names for word in column.words):
                in_words[key] = column
    every = [word for column in in_words.values() for word in column.words]
    together = vocabulary_of(every, declared)
    if together is not None:
        return dict.fromkeys(in_words, together)
    apart = {key: vocabulary_of(column.words, declared) for key, column in in_words.items()}
    read = {key: vocabulary for key, vocabulary in apart.items() if vocabulary is not None}
    graded = {v.range for v in read.values() if not v.two_valued}
    if read and len(graded) <= 1:
        return read
    if any(column.numbers for column in columns.values()) or _partly_known(every):
        return {}
    counts = [{w: u.times for w, u in column.words.items()} for column in in_words.values()]
    categories = categories_of(counts) if not declared else None
    return dict.fromkeys(in_words, categories) if categories else {}


def _partly_known(words: Iterable[str]) -> bool:
    """Whether two or more of the words have an order, so that the others may be slips.

    So has a word for a degree, such as sehr gut.
    """
    words = list(words)
    if by_degrees(words):
        return True
    best = best_of(words)
    return best is not None and sum(best.value(word) is not None for word in set(words)) > 1


def unread_word(
    cell: str,
    column: ColumnWords,
    declared: Declared,
    construct_words: Sequence[str],
    declare: Declaration = as_option,
) -> tuple[str, str] | None:
    """Return the problem and the remedy of a word that has no number.

    None for a word with a number of its own, beside others that have none.
    """
    words = column.valued
    best = best_of(words)
    given = {folded_word(word) for word in words_alone(declared)}
    if any(folded_word(word) in given for word in construct_words):
        known = [word for word in words if folded_word(word) in given]
        problem = f"{abbreviate(cell)} has no number, while other words of this scale have one."
    elif best is not None:
        known = [word for word in words if best.value(word) is not None]
        problem = f"{abbreviate(cell)} is among {best.label} (row {column.words[known[0]].row})."
    else:
        known = []
        problem = f"{abbreviate(cell)} is neither a number nor a word with a known value."
    if best is not None and len(known) == len(words):
        problem = (
            f"{abbreviate(cell)} is one of {best.label}, and another column on the construct has "
            "words of another scale."
        )
    elif cell in known:
        return None
    long = len(construct_words) > MOST_WORDS or any(len(word) > _LONG for word in construct_words)
    option = declare((), None) if long else declare(construct_words, declared)
    return problem, f"Give each word a number, or none if it means a missing value: {option}."


#: A column with more different words, of which none is known, has texts.
MOST_WORDS = 20
# A longer word is no part of an option that is printed.
_LONG = 60
