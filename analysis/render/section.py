"""What a section of a report is: one topic, said in plain words, then drawn, then tabulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from analysis.core.analysis import Analysis
from analysis.core.statistic import Statistic
from analysis.render.drawing import Figure
from analysis.render.table import Table


def _nothing(_analysis: Analysis) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True)
class Section:
    """A topic of the report: its statistics, figures, tables, and what they mean in words.

    `reading` yields sentences in plain words, each with the figures that support it.
    """

    key: str
    title: str
    statistics: tuple[Statistic, ...] = ()
    figures: tuple[Callable[[Analysis], Iterator[Figure]], ...] = ()
    tables: tuple[Callable[[Analysis], Iterator[Table]], ...] = ()
    reading: Callable[[Analysis], Iterator[str]] = _nothing


@dataclass(frozen=True)
class Chapter:
    """A section with what one analysis has to show in it."""

    key: str
    title: str
    reading: tuple[str, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def chapter(section: Section, analysis: Analysis) -> Chapter | None:
    """What the section holds for this analysis; None where that is nothing."""
    figures = tuple(figure for part in section.figures for figure in part(analysis))
    found = (table for part in section.tables for table in part(analysis))
    tables = tuple(table for table in found if table.rows)
    reading = tuple(section.reading(analysis))
    if not (figures or tables or reading):
        return None
    return Chapter(section.key, section.title, reading, figures, tables)
