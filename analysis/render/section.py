"""The sections of a report: each has a text in plain words, figures and tables on one topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.core.analysis import Analysis
from analysis.core.statistic import Statistic
from analysis.render.drawing import Figure
from analysis.render.table import Table


def _no_sentences(_analysis: Analysis) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True)
class Section:
    """A topic of the report: its statistics, figures, tables, and what they mean in words.

    `reading` yields sentences in plain words, each with its figures.
    """

    key: str
    title: str
    statistics: tuple[Statistic, ...] = ()
    figures: tuple[Callable[[Analysis], Iterator[Figure]], ...] = ()
    tables: tuple[Callable[[Analysis], Iterator[Table]], ...] = ()
    reading: Callable[[Analysis], Iterator[str]] = _no_sentences


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
    figures = tuple(figure for part in section.figures for figure in part(analysis))
    candidates = (table for part in section.tables for table in part(analysis))
    tables = tuple(table for table in candidates if table.rows)
    reading = tuple(section.reading(analysis))
    if not (figures or tables or reading):
        return None
    return Chapter(section.key, section.title, reading, figures, tables)
