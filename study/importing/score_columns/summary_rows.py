"""Rows that sum up the others, as spreadsheets and pandas add them: averages, totals and such."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, NamedTuple

from study.importing.readers.column_words import number_in

_LABELS = {
    "average", "averages", "avg", "mean", "means", "median", "mode", "total", "totals", "sum",
    "grand total", "subtotal", "overall", "count", "n", "std", "sd", "stdev", "std dev", "stddev",
    "std. dev", "standard deviation", "standard error", "sem", "var", "variance", "min", "minimum",
    "max", "maximum", "range", "25%", "50%", "75%", "mittelwert", "durchschnitt", "summe",
    "standardabweichung", "moyenne", "écart-type", "ecart-type", "media", "promedio", "média",
    "desviación estándar",
}  # fmt: skip
# Labels that may be a value or a short text of a row; they count beside other labels only.
_WEAK = {"n", "range", "mode", "overall", "25%", "50%", "75%", "media"}
# `describe` of pandas writes eight.
_LAST = 8


class SummaryRow(NamedTuple):
    """A row that sums up the others."""

    place: int
    """Counted from 0."""
    column: str | None
    """The column with its label, if it has one."""
    problem: str


def summary_rows(
    columns: Mapping[str, Sequence[Any]], scorers: Collection[str]
) -> list[SummaryRow]:
    """Return the rows at the end of a table that sum up the others.

    These have a label such as mean in a column of texts, or no label, with the mean or the sum of
    the rows above in each column of scores.

    Parameters
    ----------
    columns
        The cells of each column (n,).
    scorers
        The columns with scores.
    """
    n = max(map(len, columns.values()), default=0)
    first = max(0, n - _LAST)
    found = {}
    for place in range(first, n):
        label = _label(columns, scorers, place, last=place == n - 1)
        if label is not None:
            column, cell = label
            where = "the last row" if place == n - 1 else "one of the last rows"
            found[place] = SummaryRow(
                place,
                column,
                f"{cell!r} in {where} names a summary of the others, which is not a response.",
            )
    if all(_folded(columns[f.column or ""][f.place]) in _WEAK for f in found.values()):
        found = {}
    texts = [name for name in columns if name not in scorers]
    numbers = {name: _Numbers(columns[name]) for name in scorers}
    for place in range(max(2, first), n):
        if place in found:
            continue
        which = _summary_of_rows_above(columns, numbers, texts, place)
        if which is None and any(f.column is None for f in found.values()):
            # What follows an average without a label is another summary.
            which = "summaries" if texts and _blank_in(columns, texts, place) else None
        if which is not None:
            found[place] = SummaryRow(
                place,
                None,
                "has no text and follows a summary of the other rows; it is not a response."
                if which == "summaries"
                else f"has the {which} of the rows above in each column of scores: it sums them up "
                "and is not a response.",
            )
    return [found[place] for place in sorted(found)]


def _label(
    columns: Mapping[str, Sequence[Any]], scorers: Collection[str], place: int, *, last: bool
) -> tuple[str, str] | None:
    """The column and the cell with the label of a row that has no other texts."""
    for column, cells in columns.items():
        cell = cells[place]
        if not isinstance(cell, str) or _folded(cell) not in _LABELS:
            continue
        weak = _folded(cell) in _WEAK
        if last and not weak:
            return column, cell
        others = (name for name in columns if name != column and name not in scorers)
        if column not in scorers and all(_no_text(columns[name][place]) for name in others):
            return column, cell
    return None


def _folded(cell: Any) -> str:
    return str(cell).strip().rstrip(":").casefold()


def _no_text(cell: Any) -> bool:
    return _blank(cell) or not math.isnan(number_in(cell))


def _blank(cell: Any) -> bool:
    if isinstance(cell, str):
        return not cell.strip()
    # As they are written: missing values of pandas, which is not loaded here.
    return cell is None or str(cell) in {"nan", "<NA>", "NaT"}


def _blank_in(columns: Mapping[str, Sequence[Any]], names: Sequence[str], place: int) -> bool:
    return all(_blank(columns[name][place]) for name in names)


class _Numbers:
    """The numbers of a column, NaN for other cells, read once where they are needed."""

    def __init__(self, cells: Sequence[Any]) -> None:
        self._cells = cells

    def __getitem__(self, place: int) -> float:
        return number_in(self._cells[place])

    def above(self, place: int) -> list[float]:
        return [number for number in self._all[:place] if not math.isnan(number)]

    @cached_property
    def _all(self) -> list[float]:
        return [number_in(cell) for cell in self._cells]


def _summary_of_rows_above(
    columns: Mapping[str, Sequence[Any]],
    scores: Mapping[str, _Numbers],
    texts: Sequence[str],
    place: int,
) -> str | None:
    """Whether a row has the means, or the sums, of the rows above; None for neither."""
    numbers = {name: of[place] for name, of in scores.items()}
    if not numbers or any(map(math.isnan, numbers.values())):
        return None
    unlabeled = any(
        _blank(columns[name][place]) and not any(map(_blank, columns[name][:place]))
        for name in texts
    )
    if texts and not _blank_in(columns, texts, place) and not unlabeled:
        return None
    above = {name: of.above(place) for name, of in scores.items()}
    if any(len(values) < 2 for values in above.values()):
        return None
    if all(numbers[name] == math.fsum(v) > max(v) for name, v in above.items()):
        return "sum"
    finer = False
    for name, values in above.items():
        places = decimals(columns[name][place])
        mean = math.fsum(values) / len(values)
        allowed = 0.5 * 10.0**-places if places else 0.0
        if abs(numbers[name] - mean) > allowed + 1e-9:
            return None
        finer = finer or places > max(map(decimals, columns[name][:place]))
    return "mean" if unlabeled or finer else None


def decimals(cell: Any) -> int:
    """The number of decimal places that a number is written with."""
    try:
        exponent = Decimal(str(cell).strip().replace(",", ".")).normalize().as_tuple().exponent
    except InvalidOperation:
        return 0
    return max(0, -exponent) if isinstance(exponent, int) else 0
