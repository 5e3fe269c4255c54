"""The sections of a report: each has a text in plain words, figures and tables on one topic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.drawing import Figure
from analysis.render.formatting import counted
from analysis.render.table import Table

_T = TypeVar("_T")


def _no_comparisons(_analysis: Analysis) -> Iterable[Estimate]:
    return ()


def _no_families(_analysis: Analysis) -> Mapping[str, Iterable[Estimate]]:
    return {}


def _no_sentences(_analysis: Analysis) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True)
class Section:
    """A topic of the report: its statistics, figures, tables, and what they mean in words.

    `reading` yields sentences in plain words, each with its figures. The parts of `on_categories`
    are given nominal constructs as well; all others only those whose values have an order.
    `compared` are the estimates from which `reading` claims differences: those are made where they
    hold after correction for all of the section (`Analysis.claims`, by the key of the section).
    `joint` has its families of joint claims (`analysis.core.claims.JointFamily`), by key.
    `details` are the beginnings of the keys of tables that the page only names, with a link to
    their CSV, unless it folds nothing.
    """

    key: str
    title: str
    statistics: tuple[Statistic, ...] = ()
    figures: tuple[Callable[[Analysis], Iterator[Figure]], ...] = ()
    tables: tuple[Callable[[Analysis], Iterator[Table]], ...] = ()
    details: tuple[str, ...] = ()
    reading: Callable[[Analysis], Iterator[str]] = _no_sentences
    on_categories: tuple[Callable[[Analysis], Iterator[Any]], ...] = ()
    compared: Callable[[Analysis], Iterable[Estimate]] = _no_comparisons
    joint: Callable[[Analysis], Mapping[str, Iterable[Estimate]]] = _no_families

    def part(
        self, function: Callable[[Analysis], Iterator[_T]], analysis: Analysis
    ) -> Iterator[_T]:
        """What one part shows of an analysis."""
        return function(analysis if function in self.on_categories else analysis.ordered)


@dataclass(frozen=True)
class Chapter:
    """The content of a section for one analysis; the page only names tables of `details`."""

    key: str
    title: str
    reading: tuple[str, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    details: frozenset[str] = frozenset()

    @property
    def main_tables(self) -> tuple[Table, ...]:
        """The tables that the page shows where it folds."""
        return tuple(table for table in self.tables if table.key not in self.details)


def _corrected(analysis: Analysis, key: str) -> Iterator[str]:
    """For how many comparisons the claims of a section are corrected, and how many hold."""
    family = analysis.claims.of(key)
    if family is not None:
        hold = "holds" if family.holding == 1 else "hold"
        yield (
            f"Of {counted(family.comparisons, 'comparison')} in this section "
            f"{family.holding or 'none'} {hold} after correction (Holm)."
        )


def without_metrics(table: Table, compared: Collection[str], kinds: Mapping[str, str]) -> Table:
    """The table without the rows of metrics that are compared in one table, where it has judges.

    `compared` are the scorers of that table. The CSV has all rows.
    """
    kept = []
    for number, row in enumerate(table.rows):
        named = {cell.text for cell in row[: table.heads]} & kinds.keys()
        metrics_alone = named & set(compared) and all(kinds[name] == "metric" for name in named)
        if not metrics_alone:
            kept.append((number, named))
    if len(kept) == len(table.rows) or not any(
        kinds[name] == "judge" for _, named in kept for name in named
    ):
        return table
    return table.with_rows([number for number, _ in kept], "The CSV has the metrics as well.")


def chapter(section: Section, analysis: Analysis) -> Chapter | None:
    """The content of the section for this analysis; None where it is empty."""
    figures = tuple(f for function in section.figures for f in section.part(function, analysis))
    candidates = (t for function in section.tables for t in section.part(function, analysis))
    tables = tuple(table for table in candidates if not table.empty)
    reading = (*section.part(section.reading, analysis), *_corrected(analysis, section.key))
    if not (figures or tables or reading):
        return None
    details = frozenset(t.key for t in tables if t.key.startswith(section.details))
    return Chapter(section.key, section.title, reading, figures, tables, details)
