"""How the judgments of a file are written: in numbers, or in words of which vocabulary.

The words of a file are read ahead when the first one is met, since one vocabulary reads them all.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from study.errors import Fault
from study.importing.import_report import ImportReport
from study.importing.readers.cells import CellError, is_number, ratio_or_percentage
from study.importing.readers.column_words import (
    MOST_WORDS,
    ColumnWords,
    Declared,
    number_in,
    unread_word,
    vocabularies_of,
    word_in,
)
from study.importing.readers.judgment_cells import (
    Ranged,
    how_read,
    judgment_in,
    out_of,
)
from study.importing.readers.value_words import (
    Declaration,
    Vocabulary,
    as_option,
    folded_word,
    is_missing,
    is_verdict,
    missing_numbers,
    unused_values,
    vocabulary_of,
    words_alone,
)
from study.text import abbreviate, shell_word

NUMBERS = "numbers"
IN_ONE_WAY = (
    "Write all values of a scorer on a construct in one way: in numbers, or in words of one "
    "scale, such as pass and fail."
)
OF_THE_MAXIMUM = "scores such as 4/5 or 80% read by the end of the declared scale"


# A longer text among numbers is not a word for a missing value.
_LONGEST_WORD = 40


class JudgedValue(NamedTuple):
    """A value that was read, and the scale of its words where it was a word with a known scale."""

    value: float | None = None
    word_range: tuple[float, float] | None = None


class NumberCell(NamedTuple):
    """The content of a cell that is to be read as a number."""

    cell: Any


Group = tuple[Any, Any]
"""Who gave values, or their column, and the construct."""


class GroupWords(NamedTuple):
    """The words of a scorer on a construct, and the vocabulary that they are read by."""

    column: ColumnWords
    vocabulary: Vocabulary | None
    declared: Declared
    construct_words: tuple[str, ...]
    """The words of all columns of the construct."""


class ScoredCell(NamedTuple):
    """A cell with a judgment."""

    scorer: str | None
    construct: str | None
    cell: Any
    row: int


@dataclass
class WordsAhead:
    """The words of each scorer on each construct of a file."""

    cells: Callable[[], Iterable[ScoredCell]]
    """Reads the file from its beginning."""
    declared: Declared
    """Numbers of words for the whole file."""
    declared_by_construct: Mapping[str, Declared] = field(default_factory=dict)
    """Those of a construct, where the file's do not have the word."""

    @property
    def met(self) -> Mapping[Group, GroupWords]:
        """The words, if the file was read ahead."""
        return self.groups if "groups" in vars(self) else {}

    @cached_property
    def groups(self) -> dict[Group, GroupWords]:
        """The words by (scorer, construct)."""
        by_construct: dict[Any, dict[Group, ColumnWords]] = {}
        for scorer, construct, cell, row in self.cells():
            columns = by_construct.setdefault(construct, {})
            group = (scorer, construct)
            if group not in columns:
                columns[group] = ColumnWords(self.missing_of(group))
            columns[group].add(cell, row)
        found: dict[Group, GroupWords] = {}
        for construct, columns in by_construct.items():
            declared = self._declared_for(construct)
            vocabularies = vocabularies_of(columns, declared)
            every = (word for column in columns.values() for word in column.valued)
            words = tuple(dict.fromkeys(every))
            for group, column in columns.items():
                found[group] = GroupWords(column, vocabularies.get(group), declared, words)
        return found

    def missing_of(self, group: Group) -> frozenset[float]:
        """Return the numbers that are declared to be missing values of a scorer on a construct."""
        return missing_numbers(self._declared_for(group[1]))

    def _declared_for(self, construct: Any) -> Declared:
        own = self.declared_by_construct.get(str(construct), {})
        if not own:
            return self.declared
        declared = {folded_word(word) for word in words_alone(self.declared)}
        numbers = missing_numbers(own)
        rest = {
            word: number
            for word, number in words_alone(own).items()
            if folded_word(word) not in declared
        }
        return {**rest, **{f"{number:g}": None for number in numbers}, **self.declared}

    def concluded(self, report: ImportReport) -> list[Fault]:
        """Note names without an order; return a fault where no declared word occurs."""
        report.warnings += named_categories(self.met.values())
        if not self.declared:
            return []
        return unused(self.declared, (words.column for words in self.groups.values()))


def unused(declared: Declared, columns: Iterable[ColumnWords]) -> list[Fault]:
    """Return a fault where none of the declared words is in a column."""
    columns = list(columns)
    words = dict.fromkeys(word for column in columns for word in column.words)
    numbers = {number for column in columns for number in column.missing_found}
    problem = unused_values(declared, words, numbers)
    remedy = "Correct the words of --values, or leave them out."
    return [] if problem is None else [Fault(problem, remedy)]


def named_categories(groups: Iterable[GroupWords], declare: Declaration = as_option) -> list[str]:
    """Return a warning for each vocabulary of names without an order, of grades and with None."""
    groups = list(groups)
    nominal = {
        group.vocabulary.label: group.vocabulary
        for group in groups
        if group.vocabulary is not None and group.vocabulary.nominal
    }
    grades = {
        g.vocabulary.label for g in groups if g.vocabulary is not None and g.vocabulary.graded
    }
    levels = {
        group.vocabulary.none: group.vocabulary.label
        for group in groups
        if group.vocabulary is not None and (group.vocabulary.none or "none") != "none"
        and not group.vocabulary.nominal
    }  # fmt: skip
    named = [
        f"{vocabulary.label} are read as names without an order. If they have one, give them "
        f"numbers: {declare([word for word, _ in vocabulary.words], None)}"
        for vocabulary in nominal.values()
    ]
    named += [
        f"{label} are read as school grades, of which A is the best. If they are something else, "
        "give each its number with --values, or write each as a word."
        for label in sorted(grades)
    ]
    named += [
        f"{none} is read as one of {label}. If it means a missing value, as Python writes it, "
        f"give --values {none}="
        for none, label in levels.items()
    ]
    return named


@dataclass
class ValueRules:
    """How the values of a file are read: its vocabularies, its scales, and what it used so far."""

    words: WordsAhead | None = None
    """The words of the file, read ahead once one was met; None where words are no values."""
    scale_of: Callable[[Any, Any], Ranged | None] = lambda scorer, construct: None  # noqa: ARG005
    """The declared scale of a scorer on a construct."""
    scale_option: Callable[[Group, str], str] = lambda group, scale: f"--scale {scale}"  # noqa: ARG005
    """How a scale is declared."""
    declare: Declaration = as_option
    """How numbers of words are declared."""
    first: dict[Group, tuple[str, int]] = field(default_factory=dict)
    """By scorer and construct: how the first value is written, and its row."""
    _unread: set[tuple[Group, str]] = field(default_factory=set)

    def other_way(self, group: Group, written: str, row: int) -> str | None:
        """Note how a value is written; return how the first one is, where that is different."""
        earlier, first_row = self.first.setdefault(group, (written, row))
        return None if earlier == written else f"{earlier} (row {first_row})"

    def read(
        self, cell: Any, group: Group, row: int, report: ImportReport
    ) -> JudgedValue | NumberCell:
        """Read a word, or a score such as 4/5; what else a cell has is a number, if anything.

        Raises
        ------
        CellError
            The cell cannot be read.
        """
        missing = self.words.missing_of(group) if self.words is not None else ()
        if missing and (number := number_in(cell)) in missing:
            report.rules[f"cells with {number:g} read as missing"] += 1
            return JudgedValue()
        if cell.__class__ is str and is_number(cell):
            return NumberCell(cell)
        return self._read_word(cell, group, row, report)

    def _read_word(
        self, cell: Any, group: Group, row: int, report: ImportReport
    ) -> JudgedValue | NumberCell:
        content = judgment_in(cell)
        if content is not cell:
            report.rules[how_read(cell)] += 1
        if isinstance(content, str) and ratio_or_percentage(content) is not None:
            return self._out_of(content, group, report)
        word = word_in(content)
        if word is None:
            return NumberCell(content)
        return self._valued(word, cell, group, row, report)

    def _valued(
        self, word: str, cell: Any, group: Group, row: int, report: ImportReport
    ) -> JudgedValue | NumberCell:
        content = judgment_in(cell)
        found = None if self.words is None else self.words.groups.get(group)
        vocabulary = None if found is None else found.vocabulary
        if found is None and is_verdict(content):
            found_alone = vocabulary_of([word])
            vocabulary = None if found_alone is None else replace(found_alone, used=())
        value = None if vocabulary is None else vocabulary.value(word)
        if vocabulary is None or value is None:
            declared = {} if found is None else found.declared
            missing = {folded_word(w) for w, number in declared.items() if number is None}
            if folded_word(word) in missing or is_missing(word):
                report.rules[f"cells with {word.casefold()} read as missing"] += 1
                return JudgedValue()
            return self._refuse(word, group, content, found)
        if found is not None and found.column.mostly_numbers:
            raise CellError(
                f"{abbreviate(cell)} is among numbers (row {found.column.first_number}).",
                IN_ONE_WAY,
            )
        if vocabulary.nominal and self._is_ordered(group):
            if (group, "") in self._unread:
                return JudgedValue()  # one fault for each scale
            self._unread.add((group, ""))
            raise CellError(
                f"{vocabulary.label} have no known order, and the declared scale has one.",
                f"Give each word a point of the scale: "
                f"{self.declare([each for each, _ in vocabulary.words], None)}.",
            )
        report.rules[str(vocabulary)] += 1
        other = self.other_way(group, vocabulary.label, row)
        if other is not None:
            raise CellError(f"{abbreviate(cell)} is among {other}.", IN_ONE_WAY)
        ends = vocabulary.range
        return JudgedValue(value, None if vocabulary.declared or ends is None else ends[:2])

    def _is_ordered(self, group: Group) -> bool:
        """Whether the scale that is declared for a group has an order."""
        scale = self.scale_of(*group)
        return scale is not None and getattr(scale, "level", "interval") != "nominal"

    def _out_of(self, text: str, group: Group, report: ImportReport) -> JudgedValue | NumberCell:
        value = out_of(text, self.scale_of(*group))
        if value is not None:
            report.rules[OF_THE_MAXIMUM] += 1
            return NumberCell(str(value))
        parts = ratio_or_percentage(text)
        end = "100" if parts is None or parts[1] == "%" else parts[1].replace(",", ".")
        if (group, f"/{end}") in self._unread:
            return JudgedValue()  # one fault for each scale
        self._unread.add((group, f"/{end}"))
        declared = self.scale_option(group, f"0:{end}")
        raise CellError(
            f"{abbreviate(text)} is not a number.",
            f"If the scale ends at {end}, declare that with its lowest value: {declared}.",
        )

    def _among_numbers(
        self, word: str, group: Group, cell: Any, found: GroupWords
    ) -> JudgedValue | NumberCell:
        """Raise the fault of a word among numbers, once for each word; texts are no words."""
        if len(word) > _LONGEST_WORD or not found.column.mostly_numbers:
            return NumberCell(cell)
        if (group, folded_word(word)) in self._unread:
            return JudgedValue()
        self._unread.add((group, folded_word(word)))
        times = found.column.words[word].times if word in found.column.words else 1
        further = f", and {times - 1:,} more like it" if times > 1 else ""
        raise CellError(
            f"{abbreviate(word)} is not a number{further}.",
            "Write a bare number, such as 85, or leave the cell empty if the score is missing; "
            f"{self.declare((), {word: None})} makes it a missing value.",
        )

    def _refuse(
        self, word: str, group: Group, cell: Any, found: GroupWords | None
    ) -> JudgedValue | NumberCell:
        """Raise the fault of a word once for each scorer on a construct."""
        if found is None:
            return NumberCell(cell)
        if found.column.numbers and found.vocabulary is None:
            return self._among_numbers(word, group, cell, found)
        if (group, folded_word(word)) in self._unread or (group, "") in self._unread:
            return JudgedValue()
        self._unread.add((group, folded_word(word)))
        unread = unread_word(
            word, found.column, found.declared, found.construct_words, self.declare
        )
        if unread is None:
            return JudgedValue()
        problem, remedy = unread
        different = len(found.column.valued)
        if different > MOST_WORDS:
            self._unread.add((group, ""))
            problem = f"{abbreviate(word)} is a text, as are {different - 1:,} others here."
            remedy = (
                "Name a column with numbers, or with words of which each has a number: "
                f"{self.declare((), None)}."
            )
        raise CellError(problem, remedy)


def off_the_scale(words: tuple[float, float], low: float, high: float) -> str | None:
    """Return why words are not points of a scale; None where they are."""
    if words == (low, high):
        return None
    if words == (0, 1):
        return f"a word for one of two values is 1 or 0, and the scale is {low:g} to {high:g}"
    return f"the words are {words[0]:g} to {words[1]:g}, and the scale is {low:g} to {high:g}"


def declare_words(scorer: str, construct: str, kind: str, words: tuple[float, float]) -> str:
    """Return the remedy for words of a scorer whose scale has other points."""
    own = f"--scale {shell_word(f'{scorer}:{construct}={words[0]:g}:{words[1]:g}:1')}"
    if words != (0, 1):
        return f"Add {own}, or give the words points of the scale: --values WORD=NUMBER,..."
    if kind == "human":
        return f"Add {own}, or write points of the scale."
    return (
        f"Add {own} and the lowest value with which people pass, --cut human=VALUE; or write "
        "points of the scale."
    )
