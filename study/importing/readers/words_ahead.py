"""The words of a file, read ahead when the first one is met: they are read by one vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from study.errors import Fault
from study.importing.import_report import ImportReport
from study.importing.readers.column_words import ColumnWords, Declared, K, vocabularies_of
from study.importing.readers.value_words import (
    Declaration,
    as_option,
    folded_word,
    missing_numbers,
    unused_values,
    words_alone,
)
from study.importing.readers.written_values import GroupWords


class ScoredCell(NamedTuple):
    """A cell with a judgment."""

    scorer: Hashable
    construct: Hashable
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

    def __call__(self, group: Hashable) -> GroupWords | None:
        """Return the words of a scorer on a construct."""
        return self.groups.get(group)

    @property
    def met(self) -> Mapping[Hashable, GroupWords]:
        """The words, if the file was read ahead."""
        return self.groups if "groups" in vars(self) else {}

    @cached_property
    def groups(self) -> dict[Hashable, GroupWords]:
        """The words by (scorer, construct)."""
        by_construct: dict[Hashable, dict[Hashable, ColumnWords]] = {}
        for scorer, construct, cell, row in self.cells():
            columns = by_construct.setdefault(construct, {})
            group = (scorer, construct)
            if group not in columns:
                columns[group] = ColumnWords(self.missing_of(group))
            columns[group].add(cell, row)
        return {
            group: words
            for construct, columns in by_construct.items()
            for group, words in group_words(columns, self._declared_for(construct)).items()
        }

    def missing_of(self, group: Hashable) -> frozenset[float]:
        """Return the numbers that are declared to be missing values of a scorer on a construct."""
        construct = group[1] if isinstance(group, tuple) else None
        return missing_numbers(self._declared_for(construct))

    def _declared_for(self, construct: Hashable) -> Declared:
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


def group_words(columns: Mapping[K, ColumnWords], declared: Declared) -> dict[K, GroupWords]:
    """Return the words of the columns of a construct with the vocabulary of each."""
    vocabularies = vocabularies_of(columns, declared)
    words = tuple(dict.fromkeys(word for column in columns.values() for word in column.valued))
    return {
        key: GroupWords(column, vocabularies.get(key), declared, words)
        for key, column in columns.items()
    }


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
