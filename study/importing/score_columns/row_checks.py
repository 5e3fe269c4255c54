"""Checks of a table of judgments: repeated rows, values outside the scale, and rows that sum up the
others, as spreadsheets and pandas add them.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, NamedTuple

from study.importing.import_report import ImportReport
from study.importing.readers.column_words import number_in
from study.importing.readers.judgment_cells import Ranged
from study.importing.readers.records import RecordCells
from study.importing.readers.written_values import JudgedValue, declare_words, off_the_scale
from study.importing.score_columns.column_purposes import ScorerColumn
from study.text import counted, shell_word


@dataclass(frozen=True)
class Row:
    """A row: its cells, the texts that identify it, and the columns that are kept."""

    cells: RecordCells
    texts: Mapping[str, str | None]
    """id, query, system and construct, where columns name them."""
    kept: Mapping[str, Any]

    @property
    def number(self) -> int:
        """The row as an editor or spreadsheet counts it."""
        return self.cells.number

    @property
    def construct(self) -> str | None:
        """The construct, where the row names it."""
        return self.texts.get("construct")


class Scorer(NamedTuple):
    """Who gave values, on which construct."""

    name: str
    construct: str
    kind: str


def note_repeated(
    rows: Sequence[Row], identifying: Mapping[str, str], report: ImportReport
) -> None:
    """Report a row with the id (and construct) of an earlier one, or its id and another query."""
    if "id" not in identifying:
        return
    first: dict[tuple[str | None, ...], int] = {}
    first_rows: dict[str | None, tuple[str | None, int]] = {}
    for row in rows:
        name = row.texts["id"]
        if "query" in identifying:
            here = row.texts["query"]
            query, above = first_rows.setdefault(name, (here, row.number))
            if query != here:
                report.fault(
                    f"the response {name!r} is one to the query {here!r} here, "
                    f"and to {query!r} in row {above}.",
                    "Give each response an id that no other query's response has.",
                    row.number,
                    identifying["id"],
                )
                continue
        parts = ("id", "construct", "scorer")
        key = tuple(row.texts[part] for part in parts if part in identifying)
        before = first.setdefault(key, row.number)
        if before != row.number and name:
            report.fault(
                f"{name!r} is also in row {before}, while a row is one response.",
                "Keep one of them, or name a column that differs with --id.",
                row.number,
                identifying["id"],
            )


def note_contradicting(
    rows: Sequence[Row],
    scorers: Sequence[ScorerColumn],
    judged: Sequence[Sequence[JudgedValue]],
    report: ImportReport,
) -> None:
    """Report each row of a rater with another score of the judge than an earlier one's."""
    for column, values in zip(scorers, judged, strict=True):
        if column.kind != "judge":
            continue
        first: dict[tuple[str | None, ...], tuple[float, int]] = {}
        for row, judgment in zip(rows, values, strict=True):
            if judgment.value is None:
                continue
            key = (row.texts["id"], row.construct)
            earlier, number = first.setdefault(key, (judgment.value, row.number))
            if earlier != judgment.value:
                report.fault(
                    f"the judge's score of {key[0]!r} is {judgment.value:g} here, and "
                    f"{earlier:g} in row {number}.",
                    "Each rater's row of a response repeats one score of the judge: correct it, or "
                    "name the column that tells the responses apart with --id.",
                    row.number,
                    column.column,
                )


def note_summary(rows: Sequence[Row], scorers: Collection[str], report: ImportReport) -> None:
    """Report rows at the end that sum up the others, as spreadsheets have them.

    Other faults of such a row, such as a blank id, are left out.
    """
    if not rows:
        return
    names = dict.fromkeys(name for row in rows[-1:] for name in row.cells.written)
    columns = {name: [row.cells.written.get(name) for row in rows] for name in names}
    found = summary_rows(columns, [name for name in scorers if name in columns])
    numbers = {rows[row.place].number for row in found}
    report.faults[:] = [fault for fault in report.faults if fault.row not in numbers]
    for row in found:
        report.fault(row.problem, "Remove the row.", rows[row.place].number, row.column)


def note_words(
    placed: Sequence[tuple[int, JudgedValue]],
    scorer: Scorer,
    column: str,
    scale: Ranged,
    report: ImportReport,
) -> None:
    """Report the first word whose value is no point of the declared scale."""
    for number, judgment in placed:
        if judgment.word_range is None:
            continue
        problem = off_the_scale(judgment.word_range, scale.min, scale.max)
        if problem:
            remedy = declare_words(*scorer, judgment.word_range)
            report.fault(f"{problem}.", remedy, number, column)
            return


def note_outside(
    placed: Sequence[tuple[int, JudgedValue]],
    scorer: Scorer,
    scale: Ranged,
    looks_like: Callable[[Sequence[float]], str | None] | None,
    report: ImportReport,
) -> None:
    """Report each value outside the declared scale.

    Where most values of a scorer are outside, one fault names the scale that they look like.
    """
    present = [(n, j.value) for n, j in placed if j.value is not None and j.word_range is None]
    outside = [(n, value) for n, value in present if not scale.min <= value <= scale.max]
    if not outside:
        return
    own, ends = f"{scorer.name}:{scorer.construct}", f"{scale.min:g} to {scale.max:g}"
    most = len(outside) > len(present) / 2
    likely = looks_like([value for _, value in present]) if most and looks_like else None
    if likely:
        row, value = outside[0]
        report.fault(
            f"{value:g} for {scorer.construct} by {scorer.name!r} is outside {ends}, "
            f"as {'is' if len(outside) == 1 else 'are'} {len(outside)} of "
            f"{counted(len(present), 'value')} of this scorer.",
            f"Its scale is probably {likely}: add --scale {shell_word(f'{own}={likely}')}.",
            row,
        )
        return
    for row, value in outside:
        report.fault(
            f"{value:g} for {scorer.construct} by {scorer.name!r} is outside {ends}.",
            f"Correct it, or declare the scorer's own scale: --scale {own}=MIN:MAX.",
            row,
        )


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
_FEW = 4
# A sum that is not so many times the largest value may be a value.
_FAR = 2


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
    # Of few grades the sum or the mean may be a further grade, as in 1, 2, 3 or 1, 2, 1.5.
    if any(len(values) < (2 if unlabeled else _FEW) for values in above.values()):
        return None
    if all(numbers[name] == math.fsum(v) > _FAR * max(v) for name, v in above.items()):
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
