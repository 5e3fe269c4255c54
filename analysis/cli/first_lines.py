"""The first lines of a report on a table with one rater, printed before the report is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from analysis.cli.read_scores import check_likely_scales
from analysis.cli.report_input import say_declared
from analysis.core.likely_scales import likely_options, scored_lists
from analysis.core.options import Options
from analysis.core.understood_scales import note_of_options, scales_of_options
from study.base.scales import Scale

if TYPE_CHECKING:
    from analysis.cli.read_scores import TableRead
    from analysis.pipeline.one_rater import OneRaterTable
    from study.importing.score_columns.judgment_table import JudgmentTable

#: Settings that the first figures depend on; with others they are left to the report.
_SETTINGS = {"level", "seed", "resamples"}

PASS_OR_FAIL = Scale(0, 1, step=1)


def first_lines(read: TableRead, chosen: Mapping[str, Any], title: str) -> bool:
    """Print the agreement and the answers, if the table has one rater; return whether it has.

    The figures are those of the report, computed without numpy and pandas.
    """
    if read.table is None or set(chosen) - _SETTINGS or read.scorer_scales or len(read.scales):
        return False
    check_likely_scales(_values_of(read.table), read.scales, read.scorer_scales)
    found = one_rater_table(read.table, read.scales.get, read.scorer_scales)
    if found is None or found[0].left_to_the_report:
        return False
    from analysis.pipeline.one_rater import first_figures
    from analysis.render.opening import openings
    from analysis.render.terminal_opening import print_opening, print_reading, say

    table, understood = found
    figures = first_figures(table, Options(**chosen))
    say_declared(read.declared)
    for line in read.table.summary:
        click.echo(line, err=True)
    click.secho(title, bold=True)
    judge_openings = openings(
        figures.described, figures.estimates, figures.facts, figures.decisions
    )
    for opening in judge_openings:
        own = [d for d in figures.decisions if d.scorer == opening.scorer]
        print_opening(figures.described, opening, own)
    print_reading(figures.described, figures.decisions)
    if understood is not None:
        say(f"Note: {understood}.")
    return True


def _values_of(table: JudgmentTable) -> Iterator[tuple[str, str, list[float]]]:
    for column in table.columns:
        values = [math.nan if value is None else value for value in column.values]
        yield column.construct or "", column.scorer, values


def one_rater_table(
    table: JudgmentTable,
    declared: Any,
    declared_by_scorer: Mapping[tuple[str, str], Scale],
) -> tuple[OneRaterTable, str | None] | None:
    """The table as `pipeline.one_rater` takes it, and which scale was understood.

    None where it has several raters, constructs or systems, or several responses to a query.
    """
    from analysis.pipeline.one_rater import OneRaterTable

    people = [column for column in table.columns if column.kind == "human"]
    judges = [column for column in table.columns if column.kind == "judge"]
    constructs = {column.construct for column in table.columns}
    separate = len(set(table.query_ids)) == len(table.query_ids)
    if len(people) != 1 or not judges or len(constructs) != 1 or None in constructs:
        return None
    if not separate or any(table.systems) or table.constructs is not None:
        return None
    (construct,) = constructs
    rater = people[0]
    assert construct is not None  # noqa: S101  (for the type checker)
    columns = {(construct, column.scorer): column.values for column in table.columns}
    scales = _Scales(construct, rater.scorer, columns)
    understood = scales.declare(declared(construct), declared_by_scorer, table)
    return (
        OneRaterTable(
            construct,
            rater.scorer,
            rater.values,
            {column.scorer: column.values for column in judges},
            scales.people_scale,
            {column.scorer: scales.of(column.scorer) for column in judges},
        ),
        understood,
    )


class _Scales:
    """Scales of one construct: declared ones, those of words, pass or fail, or likely ones."""

    def __init__(
        self, construct: str, rater: str, columns: Mapping[tuple[str, str], list[float | None]]
    ) -> None:
        self.construct, self.rater, self.columns = construct, rater, columns
        self.general: Scale | None = None
        self.own: dict[str, Scale] = {}

    def of(self, scorer: str) -> Scale | None:
        return self.own.get(scorer, self.general)

    @property
    def people_scale(self) -> Scale | None:
        return self.of(self.rater)

    def declare(
        self,
        general: Scale | None,
        by_scorer: Mapping[tuple[str, str], Scale],
        table: JudgmentTable,
    ) -> str | None:
        """Work out the scales; return a sentence where one was understood from the values."""
        self.general = general
        if general is None:
            for (scorer, construct), words in table.word_scales.items():
                if construct == self.construct:
                    level: Any = words.level
                    self.own[scorer] = Scale(words.min, words.max, words.step, level)
        self.own |= {s: scale for (s, key), scale in by_scorer.items() if key == self.construct}
        people = self._values(self.rater)
        scale = self.people_scale
        if people <= {0.0, 1.0} and (
            (scale is None and len(people) == 2)
            or (scale is not None and (scale.min, scale.max, scale.step) == (0, 1, None))
        ):
            self.own[self.rater] = PASS_OR_FAIL
            if all(self._values(scorer) <= {0.0, 1.0} for _, scorer in self.columns):
                self.general = PASS_OR_FAIL
        missing = {
            key: [float("nan") if v is None else v for v in values]
            for key, values in self.columns.items()
        }
        kinds = {s: "human" if s == self.rater else "judge" for _, s in self.columns}
        known = {key: self.of(key[1]) for key in self.columns}
        options = likely_options(tuple(scored_lists(missing, kinds, known)))
        if not options:
            return None
        construct_scales, scorer_scales = scales_of_options(options, [self.construct])
        self.general = self.general or construct_scales.get(self.construct)
        for (scorer, _), found in scorer_scales.items():
            self.own.setdefault(scorer, found)
        return note_of_options(options)

    def _values(self, scorer: str) -> set[float]:
        return {v for v in self.columns[self.construct, scorer] if v is not None}
