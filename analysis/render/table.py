"""A table of a report: cells with their intervals, and the reasons of those that are empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase

import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.formatting import between, correlation, points
from study.base.scales import Scale


@dataclass(frozen=True)
class Cell:
    """The content of a cell: the figure, its interval below, and the mark of a footnote.

    `parts` are the parts of a count, one per line; `quote` is a text from data.
    """

    text: str
    interval: str = ""
    mark: str = ""
    parts: tuple[str, ...] = ()
    quote: str = ""


@dataclass(frozen=True)
class Table:
    """A finished table; the first `heads` cells of a row name the row. `data` is its CSV.

    The page shows rows whose numbers are in `detail_rows` only where it folds nothing.
    """

    key: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    data: pd.DataFrame
    footnotes: tuple[tuple[str, str], ...] = ()
    heads: int = 1
    detail_rows: frozenset[int] = frozenset()

    @property
    def brief(self) -> Table:
        """The table without rows in detail, of which its caption tells."""
        if not self.detail_rows or len(self.detail_rows) == len(self.rows):
            return self
        kept = [n for n in range(len(self.rows)) if n not in self.detail_rows]
        return self.with_rows(kept, f"The CSV has {len(self.detail_rows):,} more rows.")

    def with_rows(self, kept: Sequence[int], note: str) -> Table:
        """The table with these rows only, and a note in its caption; the CSV stays whole."""
        rows = tuple(self.rows[number] for number in kept)
        marks = {cell.mark for row in rows for cell in row}
        return replace(
            self,
            rows=rows,
            caption=f"{self.caption} {note}",
            footnotes=tuple(footnote for footnote in self.footnotes if footnote[0] in marks),
            detail_rows=frozenset(n for n, old in enumerate(kept) if old in self.detail_rows),
        )

    @property
    def empty(self) -> bool:
        """Whether there are no rows, or none of its figures is defined."""
        figures = self.data.get("value")
        return not self.rows or (
            figures is not None and len(figures) > 0 and bool(figures.isna().all())
        )

    @property
    def repeated(self) -> list[int]:
        """For each row, how many of its leading heads repeat the row above."""
        repeats = []
        for number, row in enumerate(self.rows):
            above = self.rows[number - 1] if number else ()
            same = 0
            while same < min(self.heads - 1, len(above)) and row[same] == above[same]:
                same += 1
            repeats.append(same)
        return repeats


@dataclass
class TableBuilder:
    """Collects rows, the estimates behind them, and the reasons of empty cells."""

    used: list[Estimate] = field(default_factory=list)
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    detail_rows: set[int] = field(default_factory=set)

    def r(self, estimate: Estimate | None) -> Cell:
        """A correlation or a coefficient of agreement."""
        if estimate is None:
            return Cell("")
        self.used.append(estimate)
        if not estimate.defined:
            return Cell("—", mark=self._mark(estimate.reason))
        interval = covering(estimate, between(estimate))
        return Cell(
            correlation(estimate.value), interval, "" if interval else self._mark(estimate.reason)
        )

    def points(self, estimate: Estimate | None, scale: Scale | None, more: int = 1) -> Cell:
        """A figure in points of a scale, with a decimal more than in a sentence."""
        if estimate is None:
            return Cell("")
        self.used.append(estimate)
        if not estimate.defined:
            return Cell("—", mark=self._mark(estimate.reason))
        interval = ""
        if estimate.has_interval:
            low, high = (points(v, scale, more) for v in (estimate.ci_low, estimate.ci_high))
            interval = covering(estimate, f"[{low}, {high}]")
        mark = "" if interval else self._mark(estimate.reason)
        return Cell(points(estimate.value, scale, more), interval, mark)

    def number(self, estimate: Estimate | None, form: str) -> Cell:
        """Any other figure, by a format such as '.1%' or ',.0f'."""
        if estimate is None:
            return Cell("")
        self.used.append(estimate)
        if not estimate.defined:
            return Cell("—", mark=self._mark(estimate.reason))
        interval = ""
        if estimate.has_interval:
            bare = f"[{estimate.ci_low:{form}}, {estimate.ci_high:{form}}]"
            interval = covering(estimate, bare)
        return Cell(f"{estimate.value:{form}}", interval)

    def plain(self, text: str | None, reason: str | None = None) -> Cell:
        """A figure that is no estimate, and so has no interval; None: it is undefined."""
        return Cell("—", mark=self._mark(reason)) if text is None else Cell(text)

    def add(self, *cells: Cell | str, detail: bool = False) -> None:
        """A row; plain text becomes a cell. One in `detail` is not on the page that folds."""
        if detail:
            self.detail_rows.add(len(self.rows))
        self.rows.append(tuple(c if isinstance(c, Cell) else Cell(c) for c in cells))

    def _mark(self, reason: str | None) -> str:
        if not reason:
            return ""
        if reason not in self.reasons:
            self.reasons[reason] = _letter(len(self.reasons))
        return self.reasons[reason]

    def table(
        self,
        key: str,
        title: str,
        caption: str,
        columns: Sequence[str],
        heads: int = 1,
        records: Iterable[Mapping[str, object]] | None = None,
    ) -> Table:
        """The finished table, without columns in which no row has a cell.

        Its CSV has the estimates, or these `records` where the table is of others.
        """
        shown_columns = [
            place
            for place in range(len(columns))
            if place < heads or any(row[place].text or row[place].quote for row in self.rows)
        ]
        return Table(
            key,
            title,
            caption,
            tuple(columns[place] for place in shown_columns),
            tuple(tuple(row[place] for place in shown_columns) for row in self.rows),
            to_frame(_once(self.used)) if records is None else pd.DataFrame(list(records)),
            tuple((mark, reason) for reason, mark in self.reasons.items()),
            heads,
            frozenset(self.detail_rows),
        )


def scorer_estimate(analysis: Analysis, statistic: str, where: dict[str, str]) -> Estimate | None:
    """The estimate of exactly this scorer or mean of raters (params.of)."""
    scorer = where.get("of")
    candidates = analysis.estimates.select(statistic, **where)
    return next((e for e in candidates if e.params.get("of") == scorer), None)


def covering(estimate: Estimate, interval: str) -> str:
    """The interval, with its measured coverage where that is too low."""
    covers = estimate.params.get("measured_coverage")
    return f"{interval} covers {correlation(float(covers))}" if interval and covers else interval


def _letter(number: int) -> str:
    return ascii_lowercase[number % 26] * (number // 26 + 1)


def _once(estimates: Iterable[Estimate]) -> list[Estimate]:
    return list({id(estimate): estimate for estimate in estimates}.values())
