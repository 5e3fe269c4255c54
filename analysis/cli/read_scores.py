"""The input of an analysis, from a table of scores or of comparisons."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.cli.report_input import CannotRun, ReportInput, derived_from
from analysis.cli.second_file import NO_SECOND, SecondFile, read_two

if TYPE_CHECKING:
    from pandas import DataFrame

    from analysis.cli.column_options import NamedColumns
    from analysis.core.table_declarations import ByConstruct
    from analysis.core.tables import ScoreTable
    from study.base.scales import Scale
    from study.importing.score_columns.judgment_table import JudgmentTable


@dataclass(frozen=True)
class TableRead:
    """A file that was read, before it becomes the input of an analysis."""

    path: Path
    scales: ByConstruct
    scorer_scales: dict[tuple[str, str], Scale]
    kinds: dict[str, str]
    """Declared kinds by scorer."""
    table: JudgmentTable | None
    """Of a table with a column for each judge and rater, which was read without pandas."""
    frame: DataFrame | None
    """Of any other table."""
    declared: str = ""
    """For `say_declared`."""


def from_file(
    path: Path,
    scales: Sequence[str],
    kinds: Sequence[str],
    preferences: Path | None,
    preference_scale: str | None,
    chosen: dict[str, Any],
    hypotheses: Path | None = None,
    columns: NamedColumns | None = None,
    *,
    understand: bool = True,
    second: SecondFile = NO_SECOND,
) -> ReportInput:
    """Read a table of scores as the input of an analysis; see `read_file` and `as_input`."""
    if preference_scale and preferences is None:
        raise CannotRun("--preference-scale describes the table of --preferences, which is missing")
    read = read_file(path, scales, kinds, columns, second)
    return as_input(read, preferences, preference_scale, chosen, hypotheses, understand=understand)


def read_file(
    path: Path,
    scales: Sequence[str],
    kinds: Sequence[str],
    columns: NamedColumns | None = None,
    second: SecondFile = NO_SECOND,
) -> TableRead:
    """Read a table of scores: long, wide, or with `columns` of judges and raters.

    Columns that are not named are recognized; a line says what was taken as what. The scores of a
    `second` file are joined by the ids of the responses.
    """
    from analysis.cli.column_reading import read_named_columns
    from analysis.cli.taken_columns import fields_named, told_by_names
    from analysis.core.table_declarations import read_kinds, read_scales

    declared_kinds = read_kinds(kinds)
    by_construct, by_scorer = read_scales(scales)
    columns, values = _without_values(columns)
    if second.path is not None:
        frame, declared = read_two(
            path, second, columns, declared_kinds, values, by_construct, by_scorer, _only_construct
        )
        return TableRead(path, by_construct, by_scorer, declared_kinds, None, frame, declared)
    named = columns
    columns, told, declared = told_by_names(path, columns, declared_kinds)
    # The readers check the ranges, since they know a value's row in the file.
    if columns and (columns.judge or columns.human):
        if declared_kinds:
            raise CannotRun(
                "--judge and --human state the kind of each column; leave --kind out: "
                f"{columns.options()}"
            )
        table = read_named_columns(path, columns, by_construct, by_scorer, values)
        return TableRead(path, by_construct, by_scorer, declared_kinds, table, None, declared)
    from study import read_scores

    fields = fields_named(path, named)
    only = None if "construct_key" in fields else _only_construct(path)
    frame = read_scores(
        path,
        kinds=told,
        construct=only,
        scales=by_construct,
        scorer_scales=by_scorer,
        values=values,
        columns=fields,
    )
    if only is not None:
        click.echo(f"No column names a construct; it is called {only}.", err=True)
    return TableRead(path, by_construct, by_scorer, declared_kinds, None, frame)


def as_input(
    read: TableRead,
    preferences: Path | None,
    preference_scale: str | None,
    chosen: dict[str, Any],
    hypotheses: Path | None = None,
    *,
    understand: bool = True,
    quiet: bool = False,
) -> ReportInput:
    """The input of an analysis, from a file that was read.

    `understand`: whether values without a declared scale are understood to be on the one that they
    look like. `quiet`: what was read was reported before.
    """
    from analysis.cli.study_options import declared
    from analysis.core.options import Options
    from analysis.core.scales import parse_scale
    from analysis.core.table_declarations import check_kinds, check_scales
    from analysis.core.tables import PreferenceTable, ScoreTable
    from analysis.core.understood_scales import check_odd_values, with_understood_scales
    from analysis.core.word_scales import with_word_scales
    from study.importing.read_table import read_preferences

    frame = read.table.to_frame() if read.table is not None else read.frame
    assert frame is not None  # noqa: S101  (one of the two is there)
    check_likely_scales(_by_scorer(frame), read.scales, read.scorer_scales)
    present = dict.fromkeys(zip(frame["scorer"], frame["construct"], strict=True))
    check_scales(read.scales, read.scorer_scales, present)
    constructs = list(dict.fromkeys(frame["construct"]))
    scales = with_word_scales(frame, read.scales.of(constructs), read.scorer_scales)
    scores = ScoreTable.from_frame(frame, *scales)
    numbers: Sequence[int] = read.table.row_numbers if read.table is not None else ()
    check_odd_values(frame, scores, rows=numbers, source=read.path.name)
    if understand:
        scores = with_understood_scales(frame, scores, *scales)
        _propose_cut(scores, chosen.get("cut", {}))
    if not quiet:
        _print_summary(frame, scores)
    scorers = dict.fromkeys(frame["scorer"])
    compared = None
    if preferences is not None:
        scale = parse_scale(preference_scale) if preference_scale else None
        rows = read_preferences(preferences, kinds=read.kinds, scale=scale)
        compared = PreferenceTable.from_frame(rows, scale)
        scorers |= dict.fromkeys(rows["scorer"])
    check_kinds(read.kinds, list(scorers))
    if hypotheses is not None:
        from study.settings.study_toml import read_hypotheses

        chosen = chosen | {"hypotheses": declared(read_hypotheses(hypotheses), scores)}
    options = Options(**{"derived_from": derived_from(scores), **chosen})
    declared_line = "" if quiet else read.declared
    return ReportInput(scores, compared, options, read.path.stem, declared=declared_line)


def _without_values(
    columns: NamedColumns | None,
) -> tuple[NamedColumns | None, dict[str, float | None]]:
    """The columns alone, and the declared numbers of words."""
    from study.importing.readers.value_words import declared_values

    if not columns:
        return None, {}
    try:
        return replace(columns, values=()), declared_values(columns.values)
    except ValueError as error:
        raise CannotRun(f"--values: {error}") from None


# Names that columns with constructs have elsewhere; such a column is to be renamed.
_LIKE_CONSTRUCTS = {"metric", "criterion", "dimension", "aspect", "category", "measure"}


def _only_construct(path: Path) -> str | None:
    """The construct of a table that has a row for each score and names none."""
    from study.importing.formats.scores import FIELDS
    from study.importing.readers.column_layout import folded, has
    from study.importing.readers.source import RecordSource
    from study.importing.score_columns.words import ONLY_CONSTRUCT, WHOLE_NAMES

    columns = RecordSource(path).head.columns
    names_scorers = has(FIELDS, columns, "scorer") or folded(columns) & {
        *WHOLE_NAMES["scorer_kind"]
    }
    has_scores = has(FIELDS, columns, "value") and names_scorers
    named = has(FIELDS, columns, "construct_key") or folded(columns) & _LIKE_CONSTRUCTS
    return ONLY_CONSTRUCT if has_scores and not named else None


def _print_summary(frame: DataFrame, scores: ScoreTable) -> None:
    """Print what was accepted by a rule or left out, and names that may be one."""
    from analysis.cli.alike_names import alike_names

    for line in (*frame.attrs.get("summary", ()), *(f"Warning: {s}" for s in alike_names(scores))):
        click.echo(line, err=True)


def _propose_cut(scores: ScoreTable, cuts: Mapping[str, float]) -> None:
    """Print how people's graded values are compared with a scorer that passes or fails."""
    from analysis.core.cuts import PEOPLE, declared_cut, passing_without_cut

    for construct in scores.constructs:
        machines = (*scores.scorers(construct, "judge"), *scores.scorers(construct, "metric"))
        for scorer in machines:
            if declared_cut(cuts, PEOPLE, construct) is None and passing_without_cut(
                scores, construct, scorer
            ):
                click.echo(
                    f"{scorer} passes or fails {construct}, which people grade. `ccrs report` and "
                    "`ccrs check` compare them with --cut human=VALUE, the lowest value with which "
                    "people pass.", err=True
                )  # fmt: skip


# A scale is contradicted where so many values or more, which differ, are in its lowest tenth.
_VALUES_THAT_CONTRADICT, _LOWEST = 10, 0.1
# Points of a scale that is too short to be taken for another one.
_SHORT_SCALE = 10


def check_likely_scales(
    values_of: Iterable[tuple[str, str, Iterable[float]]],
    by_construct: Mapping[str, Scale],
    by_scorer: Mapping[tuple[str, str], Scale],
) -> None:
    """Refuse a declared scale of which values use a small part at the lower end.

    `values_of` are the construct, the scorer and its values, NaN where missing. A scale that is
    declared for the scorer is not questioned.
    """
    from analysis.core.likely_scales import looks_like

    for construct, scorer, present in values_of:
        scale = by_construct.get(construct)
        values = [value for value in present if not math.isnan(value)]
        if scale is None or (scorer, construct) in by_scorer or scale.width <= _SHORT_SCALE:
            continue
        likely = looks_like(values)
        many = len(values) >= _VALUES_THAT_CONTRADICT
        if many and likely and max(values) <= scale.min + _LOWEST * scale.width:
            option = shlex.quote(f"{scorer}:{construct}={likely}")
            asserted = shlex.quote(f"{scorer}:{construct}={scale.min:g}:{scale.max:g}")
            raise CannotRun(
                f"{scorer} on {construct}: all {len(values)} values are within "
                f"{min(values):g} to {max(values):g}, on a declared scale of {scale}; nothing "
                f"was written. Its scale is probably {likely}: add --scale {option}, or --scale "
                f"{likely} if all scorers use it. If the scale is right, add --scale {asserted}."
            )


def _by_scorer(frame: DataFrame) -> Iterator[tuple[str, str, Iterable[float]]]:
    for key, rows in frame.groupby(["construct", "scorer"], sort=False):
        construct, scorer = map(str, key) if isinstance(key, tuple) else (str(key), "")
        yield construct, scorer, rows["value"].astype("float64").tolist()


def compares(path: Path, columns: NamedColumns | None = None) -> bool:
    """Whether a table compares responses; columns that are named have scores."""
    from study.importing.readers.column_layout import compares_responses
    from study.importing.readers.source import RecordSource
    from study.importing.score_columns.preference_columns import preference_columns

    read = RecordSource(path)
    if compares_responses(read.head.columns):
        return True
    return not columns and preference_columns(read) is not None


def from_preferences(
    path: Path, kinds: Sequence[str], preference_scale: str | None, chosen: dict[str, Any]
) -> ReportInput:
    """A table of comparisons alone: people's preferences, and those of judges."""
    import pandas as pd

    from analysis.core.options import Options
    from analysis.core.scales import parse_scale
    from analysis.core.table_declarations import check_kinds, read_kinds
    from analysis.core.tables import PreferenceTable, ScoreTable
    from study.columns import SCORE_COLUMNS
    from study.importing.read_table import read_preferences
    from study.importing.readers.source import RecordSource
    from study.importing.score_columns.preference_columns import preference_columns

    declared_kinds = read_kinds(kinds)
    scale = parse_scale(preference_scale) if preference_scale else None
    rows = read_preferences(path, kinds=declared_kinds, scale=scale)
    if (side_by_side := preference_columns(RecordSource(path))) is not None:
        click.echo(f"Preferences taken by their names ({side_by_side}).", err=True)
    for line in rows.attrs.get("summary", ()):
        click.echo(line, err=True)
    check_kinds(declared_kinds, list(dict.fromkeys(rows["scorer"])))
    nothing = ScoreTable.from_frame(pd.DataFrame(columns=list(SCORE_COLUMNS)))
    compared = PreferenceTable.from_frame(rows, scale)
    return ReportInput(nothing, compared, Options(**chosen), path.stem)
