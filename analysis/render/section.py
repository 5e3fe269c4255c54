"""The sections of a report: each has a text in plain words, figures and tables on one topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from analysis.core.analysis import Analysis
from analysis.core.statistic import Statistic
from analysis.render.drawing import Figure
from analysis.render.table import Table

_T = TypeVar("_T")


def _no_sentences(_analysis: Analysis) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True)
class Section:
    """A topic of the report: its statistics, figures, tables, and what they mean in words.

    `reading` yields sentences in plain words, each with its figures. The parts of `on_categories`
    are given nominal constructs as well; all others only those whose values have an order.
    """

    key: str
    title: str
    statistics: tuple[Statistic, ...] = ()
    figures: tuple[Callable[[Analysis], Iterator[Figure]], ...] = ()
    tables: tuple[Callable[[Analysis], Iterator[Table]], ...] = ()
    reading: Callable[[Analysis], Iterator[str]] = _no_sentences
    on_categories: tuple[Callable[[Analysis], Iterator[Any]], ...] = ()

    def part(
        self, function: Callable[[Analysis], Iterator[_T]], analysis: Analysis
    ) -> Iterator[_T]:
        """What one part shows of an analysis."""
        return function(analysis if function in self.on_categories else analysis.ordered)


@dataclass(frozen=True)
class Chapter:
    """The content of a section for one analysis."""

    key: str
    title: str
    reading: tuple[str, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def chapter(section: Section, analysis: Analysis) -> Chapter | None:
    """The content of the section for this analysis; None where it is empty."""
    figures = tuple(f for function in section.figures for f in section.part(function, analysis))
    candidates = (t for function in section.tables for t in section.part(function, analysis))
    tables = tuple(table for table in candidates if table.rows)
    reading = tuple(section.part(section.reading, analysis))
    if not (figures or tables or reading):
        return None
    return Chapter(section.key, section.title, reading, figures, tables)
