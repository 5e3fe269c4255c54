"""Checks of a table of judgments: repeated rows, summaries, values outside the scale."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from study.importing.import_report import ImportReport
from study.importing.readers.judgment_cells import Ranged
from study.importing.readers.records import RecordCells
from study.importing.readers.written_values import JudgedValue, declare_words, off_the_scale
from study.importing.score_columns.scorer_names import ScorerColumn
from study.importing.score_columns.summary_rows import summary_rows
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
