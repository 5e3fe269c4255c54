"""What a file or a study contains, for `ccrs doctor`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import click

from analysis.cli.read_scores import from_file
from analysis.cli.read_study import from_study
from analysis.cli.report_input import CannotRun

if TYPE_CHECKING:
    from analysis.cli.column_options import NamedColumns
    from analysis.cli.second_file import SecondFile
    from analysis.core.tables import ScoreTable
    from study.importing.readers.source import RecordSource
    from study.importing.score_columns.named_columns import Recognized
    from study.importing.score_columns.table_side import TableSide
    from study.importing.tool_exports import ToolExport


class SourceContents(NamedTuple):
    """The contents of a file or a study, before anything is computed."""

    scores: ScoreTable | None
    form: str
    columns: dict[str, str]
    """By column: its content; empty for a study."""
    kinds: dict[str, str]
    """Scorers whose kind the file does not state, with the kind that their names tell."""
    command: str
    """The next command for this source, without scales."""
    derived_from: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Scorers whose scores follow from those of others, with these."""
    unclear: str = ""
    """Why the columns are not recognized."""
    refused: str = ""
    """Why `ccrs import` refuses the file in a new study."""
    notes: tuple[str, ...] = ()
    """Further lines on what was recognized."""


def study_contents(
    folder: Path, scales: tuple[str, ...], kinds: tuple[str, ...], columns: NamedColumns
) -> SourceContents:
    """The contents of a study's folder."""
    if scales or kinds or columns:
        raise CannotRun(
            "--judge, --human, --scale and --kind describe a bare table; a study has them in "
            f"{folder / 'study.toml'}"
        )
    inputs = from_study(folder, {})
    command = f"ccrs report {shlex.quote(str(folder))}"
    return SourceContents(inputs.scores, "study", {}, {}, command, inputs.options.derived_from)


def file_contents(
    path: Path, scales: tuple[str, ...], kinds: tuple[str, ...], named: NamedColumns
) -> SourceContents:
    """The contents of a file, as `ccrs report` or `ccrs import` reads it."""
    from analysis.cli.taken_columns import with_other_side
    from study.importing.readers.source import RecordSource
    from study.importing.score_columns.named_columns import Recognized
    from study.importing.score_columns.recognition import recognized_table
    from study.importing.tool_exports import tool_export

    source = RecordSource(path)
    if named.judge or named.human:
        recognized = Recognized("named columns")
        if not (named.judge and named.human):
            named, recognized = with_other_side(path, named)
        return _with_named(source, named, recognized, scales, kinds)
    export = tool_export(source)
    if export is not None:
        return _export(source, export, scales, kinds)
    described = _described(source)
    if described is not None:
        return described
    recognized = recognized_table(path)
    if recognized.columns is not None:
        chosen = {key: value for key, value in vars(named).items() if value}
        columns = replace(recognized.columns, **chosen)
        return _with_named(source, columns, recognized, scales, kinds)
    return _rows_contents(source, recognized, scales, kinds, named)


def joined_contents(
    first: Path,
    second: SecondFile,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    named: NamedColumns,
) -> SourceContents:
    """The contents of two files with the scores of judges and of people."""
    from analysis.cli.second_file import joined_sides

    joined = joined_sides(first, second, named)
    read = from_file(
        first, scales, kinds, None, None, {}, columns=named, understand=False, second=second
    )
    listed = {
        f"{side.path.name}: {column}": role
        for side in joined.sides
        for column, role in side_columns(side).items()
    }
    # The command starts with `ccrs doctor`, which reads the same.
    words = joined.command.replace("ccrs doctor", "ccrs report", 1)
    form = f"two tables of scores, joined by {joined.on}"
    return SourceContents(read.scores, form, listed, {}, words)


def side_columns(side: TableSide) -> dict[str, str]:
    """What each column of one of two tables has."""
    from study.importing.readers.source import RecordSource, table_source
    from study.importing.score_columns.named_columns import column_of

    if side.columns is None:
        return {**_columns(RecordSource(side.path)), side.on: "response_id"}
    present = table_source(side.path).head.columns
    roles = {column_of(text, present): "value of a judge" for text in side.columns.judge}
    roles |= {column_of(text, present): "value of a rater" for text in side.columns.human}
    roles |= {
        column: role
        for role, column in (
            ("response_id", side.on), ("query", side.columns.query),
            ("system", side.columns.system), ("scorer", side.scorer),
        )
        if column is not None
    }  # fmt: skip
    return {column: roles.get(column, "not read") for column in present}


def _rows_contents(
    source: RecordSource,
    recognized: Recognized,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    named: NamedColumns,
) -> SourceContents:
    """A table without a column for each judge and rater."""
    if recognized.form == "unclear":
        return _unclear(source.path, recognized)
    if recognized.form == "preferences":
        return _preferences(source.path, kinds)
    if recognized.form in ("long", "wide"):
        return _scorers_contents(source, recognized, scales, kinds, named)
    return _to_import(source)


def _unclear(path: Path, recognized: Recognized) -> SourceContents:
    from analysis.cli.other_file import with_other_file
    from analysis.cli.taken_columns import how_to_declare

    command = f"ccrs report {shlex.quote(str(path))} {recognized.example.options()}"
    note = how_to_declare(command)
    sides = [side for side in ("judge", "human") if recognized.reasons(side)]
    elsewhere = len(sides) == 1 or bool(recognized.candidates and not sides)
    elsewhere = elsewhere and not recognized.reasons("texts")
    if not (recognized.can_be_completed or elsewhere):
        command, note = "ccrs doctor FILE", "With the table in its new form"
    elif not recognized.can_be_completed:
        command = with_other_file(path).replace("ccrs doctor", "ccrs report", 1)
        note = "Give the file with the other scores too"
    return SourceContents(
        None, "table whose columns are not recognized", cells_in_words(path, recognized), {},
        command, unclear=recognized.unclear, notes=(note,),
    )  # fmt: skip


def _preferences(path: Path, kinds: tuple[str, ...]) -> SourceContents:
    from study.importing.formats import preferences
    from study.importing.readers.column_layout import layout_of
    from study.importing.readers.source import RecordSource
    from study.importing.score_columns.preference_columns import preference_columns

    source = RecordSource(path)
    present = source.head.columns
    layout = layout_of(present, preferences.FIELDS, lambda _: False, families=False)
    listed = _by_field(layout.columns, present)
    if (side_by_side := preference_columns(source)) is not None:
        words = {"judge": "preference of a judge", "human": "preference of a rater"}
        listed |= {column: words[kind] for column, kind in side_by_side.scorers.items()}
        if side_by_side.query is not None:
            listed[side_by_side.query] = "query_id"
    reach = _reach_of_preferences(path, kinds)
    command = f"ccrs report {shlex.quote(str(path))} --preference-scale=-{reach:g}:{reach:g}"
    command += "".join(f" --kind {shlex.quote(kind)}" for kind in kinds)
    note = (
        "With a table of scores too: ccrs report SCORES --preferences "
        f"{shlex.quote(str(path))} --preference-scale=-{reach:g}:{reach:g}"
    )
    return SourceContents(None, "preferences", listed, {}, command, notes=(note,))


def _scorers_contents(
    source: RecordSource,
    recognized: Recognized,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    named: NamedColumns,
) -> SourceContents:
    """A table that names its scorers, in rows or as SCORER:CONSTRUCT."""
    from analysis.cli.taken_columns import check_kinds_known, kinds_in_words
    from analysis.core.table_declarations import read_kinds

    declared = read_kinds(kinds)
    check_kinds_known(recognized, declared, source.path)
    guessed = {name: kind for name, kind in recognized.kinds.items() if name not in declared}
    columns = named if named else None
    scores = from_file(
        source.path, scales, kinds, None, None, {}, columns=columns, understand=False
    ).scores
    command = f"ccrs report {shlex.quote(str(source.path))}{_values(named)}"
    form = f"{recognized.form} table of scores"
    notes = tuple(kinds_in_words(replace(recognized, kinds={}), (), source.path))
    return SourceContents(scores, form, _columns(source), guessed, command, notes=notes)


def _to_import(source: RecordSource) -> SourceContents:
    from study.importing.importers import importer_for
    from study.settings.constructs import CCRS

    constructs = tuple(construct.key for construct in CCRS)
    importer, _ = importer_for(source, constructs, None)
    return _imported(source, importer.name, _columns(source))


def _described(source: RecordSource) -> SourceContents | None:
    """The contents of a file whose importer describes more than its columns."""
    from study.importing.importers import FormatOptions, importers
    from study.settings.constructs import CCRS

    constructs = tuple(construct.key for construct in CCRS)
    for importer in importers()[0]:
        if importer.describe is not None and importer.matches(source.head, constructs):
            options = FormatOptions(
                constructs=constructs,
                names={construct.key: construct.name for construct in CCRS},
                scales={construct.key: construct.scale for construct in CCRS},
            )
            description = importer.describe(source, options)
            return _imported(source, importer.name, description.contents, description.options)
    return None


#: Parts of a printed command that a user replaces.
_TO_REPLACE = re.compile(r"=(CONSTRUCT|NUMBER|LOW:HIGH)\b|\bQUERY=")


def _imported(
    source: RecordSource, form: str, columns: dict[str, str], options: tuple[str, ...] = ()
) -> SourceContents:
    """A file to import into a study: the command, and whether a new study takes the file."""
    # A name such as -r.csv would be taken for an option.
    path = f"./{source.path}" if str(source.path).startswith("-") else str(source.path)
    words = [shlex.quote(path), *options]
    command = " ".join(["ccrs init my-study && ccrs import my-study", *words])
    refused = "" if _TO_REPLACE.search(command) else _refusal(words)
    return SourceContents(None, form, columns, {}, command, refused=refused)


def _refusal(words: list[str]) -> str:
    """Why `ccrs import STUDY` with these words refuses a file; empty where a study takes it."""
    from study.cli.commands import import_
    from study.errors import StudyError
    from study.study import Study

    # With --json the import asks for no constructs on a terminal.
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        Study.create(folder).close()
        given = shlex.split(" ".join([shlex.quote(folder), *words, "--json"]))
        try:
            import_.main(given, standalone_mode=False)
        except (StudyError, click.ClickException) as error:
            return str(error)
    return ""


def _export(
    source: RecordSource, export: ToolExport, scales: tuple[str, ...], kinds: tuple[str, ...]
) -> SourceContents:
    """An export of another tool, which a report reads where it has people's scores."""
    from study.importing.readers.column_layout import layout_of

    present, name = source.head.columns, shlex.quote(str(source.path))
    layout = layout_of(present, export.module.FIELDS, lambda _: False, families=False)
    columns = _by_field(layout.columns, present)
    if not export.has_ratings:
        return _imported(source, export.name, columns)
    scores = from_file(source.path, scales, kinds, None, None, {}, understand=False).scores
    return SourceContents(scores, export.name, columns, {}, f"ccrs report {name}")


def _with_named(
    source: RecordSource,
    named: NamedColumns,
    recognized: Recognized,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
) -> SourceContents:
    """A table with a column for each judge and rater."""
    from study.importing.readers.source import table_source
    from study.importing.score_columns.named_columns import IDENTIFYING, column_of

    scores = from_file(source.path, scales, kinds, None, None, {}, columns=named, understand=False)
    present = table_source(source.path).head.columns
    roles: dict[str, str] = {}
    for role, whose, texts in (
        ("judge", "a judge", named.judge),
        ("human", "a rater", named.human),
    ):
        reasons = recognized.reasons(role)
        for text in texts:
            column = column_of(text, present)
            reason = f" ({reasons[column]})" if column in reasons else ""
            roles[column] = f"value of {whose}{reason}"
    roles |= {column: role for role in IDENTIFYING if (column := getattr(named, role)) is not None}
    listed = {column: roles.get(column, _left_out(column, recognized)) for column in present}
    form = "table with a column for each judge and rater"
    command = f"ccrs report {shlex.quote(str(source.path))} {named.options()}{_values(named)}"
    return SourceContents(scores.scores, form, listed, {}, command)


def _values(named: NamedColumns) -> str:
    return "".join(f" --values {shlex.quote(text)}" for text in named.values)


def _left_out(column: str, recognized: Recognized) -> str:
    """Why a column is not read, unless it names the raters of rows."""
    if column in recognized.reasons("rater"):
        return "rater of each row"
    if column in recognized.candidates:
        return "not read: nothing says whose scores they are; add --judge or --human if they are"
    reason = recognized.reasons("no score").get(column)
    return f"not read: no scores ({reason})" if reason else "not read"


def cells_in_words(path: Path, recognized: Recognized) -> dict[str, str]:
    """What each column contains, as far as its first rows show, and what its name tells."""
    from study.importing.readers.source import table_source
    from study.importing.score_columns.contents import contents_of

    source = table_source(path)
    contents = contents_of(source.peeked(), source.head.columns)
    told = {item.column: f"; {item.role} ({item.reason})" for item in recognized.evidence}
    return {column: f"{content}{told.get(column, '')}" for column, content in contents.items()}


def _columns(source: RecordSource) -> dict[str, str]:
    """Each column of a file in one of the project's own layouts with its content."""
    from study.importing.formats import responses, scores, scores_wide
    from study.importing.formats.response_columns import fields_of
    from study.importing.read_table import wide_constructs
    from study.importing.readers.column_layout import layout_of

    names = source.head.columns
    is_responses = responses.matches(source.head)
    fields = fields_of(source.head) if is_responses else scores.fields_of_table(names).fields
    layout = layout_of(names, fields, lambda _: False, families=is_responses)
    roles = {column: field.removesuffix("_key") for field, column in layout.columns.items()}
    if not is_responses and not set(roles.values()) & {"construct", "value"}:
        constructs = wide_constructs(source)
        for column in names:
            if scores_wide.measured(column, constructs) is not None:
                roles[column] = "value of a scorer and construct"
    return {
        column: roles.get(column, "text or passages" if column in layout.passages else "not read")
        for column in names
    }


def _by_field(columns: Mapping[str, str], present: tuple[str, ...]) -> dict[str, str]:
    fields = {column: field.removesuffix("_key") for field, column in columns.items()}
    return {column: fields.get(column, "not read") for column in present}


def _reach_of_preferences(path: Path, kinds: tuple[str, ...]) -> float:
    """Return the largest preference in either direction, at least 1."""
    from analysis.core.table_declarations import read_kinds
    from study.importing.read_table import read_preferences

    values = read_preferences(path, kinds=read_kinds(kinds))["value"].abs()
    return float(max(1.0, values.max())) if values.notna().any() else 1.0
