"""The command `ccrs doctor`: what a file or a study contains, and what can be computed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from analysis.cli.analysis_input import CannotRun, kind_option, scale_option
from analysis.cli.column_options import NamedColumns, column_of, named_columns_options
from analysis.cli.read_scores import from_file
from analysis.cli.read_study import from_study
from study.cli.options import AS_JSON

if TYPE_CHECKING:
    from analysis.core.tables import ScoreTable
    from analysis.doctor.diagnosis import Diagnosis
    from study.importing.readers.source import RecordSource
    from study.importing.tool_exports import ToolExport

#: Words in a scorer's name that suggest a kind; other scorers are assumed to be people.
_HINTS = {
    "judge": ("judge", "gpt", "llm", "llama", "claude", "gemini", "mistral", "qwen", "model"),
    "metric": ("em", "f1", "bleu", "rouge", "bertscore", "exact_match", "metric"),
    "adjudicated": ("adjudicated", "gold", "consensus"),
}


class SourceContents(NamedTuple):
    """The contents of a file or a study, before anything is computed."""

    scores: ScoreTable | None
    form: str
    columns: dict[str, str]
    """By column: its content; empty for a study."""
    kinds: dict[str, str]
    """Scorers whose kind the file does not state, with a guess."""
    command: str
    """The next command for this source, without scales and kinds."""
    derived_from: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Scorers whose scores follow from those of others, with these."""
    unclear: str = ""
    """Why the columns are not recognized."""


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="STUDY_OR_FILE")
@named_columns_options
@scale_option
@kind_option
@AS_JSON
def doctor(
    source: Path,
    columns: NamedColumns,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what a file or study contains and what can be computed.

    STUDY_OR_FILE is a study's folder, or a file: a table of scores or preferences, long, wide or
    with a column for each judge and rater, or responses or results to import. Nothing is changed
    or written. Exit status: 0 something can be computed, 1 nothing, 2 the file can't be read.

    \b
    Examples:
      ccrs doctor scores.csv
      ccrs doctor ratings.csv --kind anna=human --kind gpt=judge
      ccrs doctor my-study
    """
    from analysis.core.errors import AnalysisError
    from analysis.doctor.diagnosis import diagnose
    from study.errors import StudyError

    if not source.exists():
        raise CannotRun(f"{source} does not exist; name a table of scores or a study's folder")
    try:
        contents = (
            _study(source, scales, kinds, columns)
            if source.is_dir()
            else _file(source, scales, kinds, columns)
        )
        diagnosis = None if contents.scores is None else diagnose(contents.scores)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    command = _command(contents, scales, kinds, diagnosis)
    if as_json:
        _say_json(contents, diagnosis, command)
    else:
        _say(source, contents, diagnosis, command)
    if contents.unclear or (diagnosis is not None and not diagnosis.usable):
        raise click.exceptions.Exit(1)


def _study(
    folder: Path, scales: tuple[str, ...], kinds: tuple[str, ...], columns: NamedColumns
) -> SourceContents:
    if scales or kinds or columns:
        raise CannotRun(
            "--judge, --human, --scale and --kind describe a bare table; a study has them in "
            f"{folder / 'study.toml'}"
        )
    inputs = from_study(folder, {})
    command = f"ccrs report {shlex.quote(str(folder))}"
    return SourceContents(inputs.scores, "study", {}, {}, command, inputs.options.derived_from)


def _file(
    path: Path, scales: tuple[str, ...], kinds: tuple[str, ...], named: NamedColumns
) -> SourceContents:
    from analysis.cli.column_recognition import UnclearColumnsError, recognized_columns
    from study.importing.readers.source import RecordSource
    from study.importing.tool_exports import tool_export

    source = RecordSource(path)
    name = shlex.quote(str(path))
    if named.judge or named.human:
        return _with_named(source, named, scales, kinds)
    export = tool_export(source.head)
    if export is not None:
        return _export(source, export, scales, kinds)
    described = _described(source)
    if described is not None:
        return described
    try:
        recognized = recognized_columns(path)
    except UnclearColumnsError as error:
        command = f"ccrs report {name} {error.example.options()}"
        form = "table whose columns are not recognized"
        return SourceContents(
            None, form, _cells_in_words(source), {}, command, unclear=error.problem
        )
    if recognized is not None:
        chosen = {key: value for key, value in vars(named).items() if value}
        return _with_named(source, replace(recognized, **chosen), scales, kinds)
    return _other_file(source, scales, kinds)


def _other_file(
    source: RecordSource, scales: tuple[str, ...], kinds: tuple[str, ...]
) -> SourceContents:
    """A table in one of the project's own layouts, or a file to be imported."""
    from analysis.core.table_declarations import read_kinds
    from study.importing.importers import importer_for
    from study.settings.constructs import CCRS

    path, name = source.path, shlex.quote(str(source.path))
    constructs = tuple(construct.key for construct in CCRS)
    columns = _columns(source)
    roles = set(columns.values())
    if "response_a" in roles or "response_b" in roles:
        reach = _reach_of_preferences(path, kinds)
        command = f"ccrs report SCORES --preferences {name} --preference-scale=-{reach:g}:{reach:g}"
        return SourceContents(None, "preferences", columns, {}, command)
    if not roles & {"value", "value of a scorer and construct"}:
        importer, _ = importer_for(source, constructs, None)
        return SourceContents(
            None, importer.name, columns, {},
            f"ccrs init my-study && ccrs import my-study {name}",
        )  # fmt: skip
    declared = read_kinds(kinds)
    guessed = {
        scorer: _guess(scorer)
        for scorer in _without_kind(source, columns)
        if scorer not in declared
    }
    all_kinds = (*kinds, *(f"{scorer}={kind}" for scorer, kind in guessed.items()))
    scores = from_file(path, scales, all_kinds, None, None, {}).scores
    form = "long" if "value" in roles else "wide"
    return SourceContents(
        scores, f"{form} table of scores", columns, guessed, f"ccrs report {name}"
    )


def _described(source: RecordSource) -> SourceContents | None:
    """The contents of a file whose importer describes more than its columns."""
    from study.importing.importers import FormatOptions, importers
    from study.settings.constructs import CCRS

    constructs = tuple(construct.key for construct in CCRS)
    for importer in importers()[0]:
        if importer.describe is not None and importer.matches(source.head, constructs):
            options = FormatOptions(
                constructs=constructs, names={construct.key: construct.name for construct in CCRS}
            )
            description = importer.describe(source, options)
            words = ("ccrs init my-study && ccrs import my-study", shlex.quote(str(source.path)))
            command = " ".join([*words, *description.options])
            return SourceContents(None, importer.name, description.contents, {}, command)
    return None


def _export(
    source: RecordSource, export: ToolExport, scales: tuple[str, ...], kinds: tuple[str, ...]
) -> SourceContents:
    """An export of another tool, which a report reads where it has people's scores."""
    from study.importing.readers.column_layout import layout_of

    present, name = source.head.columns, shlex.quote(str(source.path))
    layout = layout_of(present, export.module.FIELDS, lambda _: False, families=False)
    fields = {column: field for field, column in layout.columns.items()}
    listed = {column: fields.get(column, "not read") for column in present}
    scores, command = None, f"ccrs init my-study && ccrs import my-study {name}"
    if export.has_ratings:
        scores = from_file(source.path, scales, kinds, None, None, {}).scores
        command = f"ccrs report {name}"
    return SourceContents(scores, export.name, listed, {}, command)


def _with_named(
    source: RecordSource, named: NamedColumns, scales: tuple[str, ...], kinds: tuple[str, ...]
) -> SourceContents:
    """A table with a column for each judge and rater."""
    scores = from_file(source.path, scales, kinds, None, None, {}, columns=named, propose=False)
    present = source.head.columns
    roles = {column_of(text, present): "value of a judge" for text in named.judge}
    roles |= {column_of(text, present): "value of a rater" for text in named.human}
    roles |= {
        column: role
        for role in ("id", "query", "system", "construct")
        if (column := getattr(named, role)) is not None
    }
    listed = {column: roles.get(column, "not read") for column in present}
    form = "table with a column for each judge and rater"
    command = f"ccrs report {shlex.quote(str(source.path))} {named.options()}"
    return SourceContents(scores.scores, form, listed, {}, command)


def _cells_in_words(source: RecordSource) -> dict[str, str]:
    """What each column contains, as far as its first rows show."""
    from analysis.cli.column_contents import contents_of

    return {column: str(content) for column, content in contents_of(source).items()}


def _columns(source: RecordSource) -> dict[str, str]:
    """Each column with its content."""
    from study.importing.formats import preferences, responses, scores, scores_wide
    from study.importing.read_table import wide_constructs
    from study.importing.readers.column_layout import folded, layout_of

    names = source.head.columns
    lower_names = folded(names)
    if lower_names & {"response_a", "response_b"}:
        fields = preferences.FIELDS
    elif responses.matches(source.head):
        fields = responses.FIELDS
    else:
        fields = scores.fields_of_table(names).fields
    layout = layout_of(names, fields, lambda _: False, families=fields is responses.FIELDS)
    roles = {column: field.removesuffix("_key") for field, column in layout.columns.items()}
    if fields not in (preferences.FIELDS, responses.FIELDS) and not set(roles.values()) & {
        "construct",
        "value",
    }:
        constructs = wide_constructs(source)
        for column in names:
            if scores_wide.measured(column, constructs) is not None:
                roles[column] = "value of a scorer and construct"
    return {
        column: roles.get(column, "text or passages" if column in layout.passages else "not read")
        for column in names
    }


def _without_kind(source: RecordSource, columns: dict[str, str]) -> list[str]:
    """Scorers whose kind no row states, in order of appearance."""
    from study.importing.readers.input_file import Record

    by_role = {role: column for column, role in columns.items()}
    with_kind: dict[str, bool] = {}
    for column, role in columns.items():
        name, colon, _ = column.rpartition(":")
        if role.startswith("value of") and colon:
            with_kind[name.strip()] = False
    scorer, kind = by_role.get("scorer"), by_role.get("scorer_kind")
    for record in source.peeked() if scorer is not None else ():
        if scorer is not None and isinstance(record, Record):
            name = str(record.cells.get(scorer) or "").strip()
            stated = bool(kind and str(record.cells.get(kind) or "").strip())
            if name:
                with_kind[name] = with_kind.get(name, False) or stated
    return [name for name, stated in with_kind.items() if not stated]


def _guess(scorer: str) -> str:
    name = scorer.casefold()
    for kind, hints in _HINTS.items():
        if name in hints or any(len(hint) > 2 and hint in name for hint in hints):
            return kind
    return "human"


def _reach_of_preferences(path: Path, kinds: tuple[str, ...]) -> float:
    """Return the largest preference in either direction, at least 1."""
    from analysis.core.table_declarations import read_kinds
    from study.importing.read_table import read_preferences

    values = read_preferences(path, kinds=read_kinds(kinds))["value"].abs()
    return float(max(1.0, values.max())) if values.notna().any() else 1.0


def _command(
    contents: SourceContents,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    diagnosis: Diagnosis | None,
) -> str:
    words = [contents.command]
    if diagnosis is not None:
        declared = (*scales, *diagnosis.scales)
        all_kinds = (*kinds, *(f"{scorer}={kind}" for scorer, kind in contents.kinds.items()))
        words += [f"--scale {shlex.quote(scale)}" for scale in declared]
        words += [f"--kind {shlex.quote(kind)}" for kind in all_kinds]
    return " ".join(words)


def _say(source: Path, contents: SourceContents, diagnosis: Diagnosis | None, command: str) -> None:
    click.echo(f"{source.name or source}: {contents.form}")
    if contents.columns:
        click.echo("\nColumns")
        width = max(map(len, contents.columns))
        for column, role in contents.columns.items():
            click.echo(f"  {column:{width}}  {role}")
    for scorer, kind in contents.kinds.items():
        click.echo(
            f"  the file does not state the kind of the scorer {scorer}; assumed here: {kind}"
        )
    if contents.unclear:
        click.echo(f"\nNot recognized\n  {contents.unclear}")
        click.echo("\nNext:   name the columns of each judge and each rater, for example")
        click.echo(f"        {command}")
    elif diagnosis is None:
        click.echo(f"\nNext:   {command}")
    else:
        _say_diagnosis(contents, diagnosis, command)


def _say_diagnosis(contents: SourceContents, diagnosis: Diagnosis, command: str) -> None:
    from analysis.render.formatting import counted, listed

    click.echo(
        f"\nContains\n  {counted(diagnosis.responses, 'response')}, "
        f"{counted(diagnosis.queries, 'query', 'queries')}, "
        f"{counted(diagnosis.systems, 'system')}, {counted(diagnosis.raters, 'rater')}"
    )
    for values in diagnosis.scored:
        scale = (
            "pass or fail (1 or 0)" if values.passes_or_fails
            else f"declared {values.declared}" if values.declared
            else f"looks like {values.looks_like}" if values.looks_like
            else "no usual scale" if values.n else "no values"
        )  # fmt: skip
        ends = (
            f"{values.low + 0:g} to {values.high + 0:g}, {values.distinct} distinct; "
            if values.n
            else ""
        )
        missing = f", {values.missing:,} missing" if values.missing else ""
        whose = f"{values.construct}, {values.scorer} ({values.kind})"
        click.echo(f"  {whose}: {values.n:,} values{missing}; {ends}{scale}")
    for scorer, others in contents.derived_from.items():
        click.echo(f"  {scorer} follows from the scores of {listed(others)}")
    click.echo("\nCan be computed")
    for finding in diagnosis.findings:
        if finding.possible:
            remark = f" ({finding.remark})" if finding.remark else ""
            click.echo(f"  {finding.subject}{remark}")
    if not diagnosis.usable:
        click.echo("  no statistic")
    blocked = [finding for finding in diagnosis.findings if not finding.possible]
    if blocked:
        click.echo("\nCan't be computed, and why")
        for finding in blocked:
            click.echo(f"  {finding.subject}: {finding.why}")
    if diagnosis.scales:
        click.echo("\nThe scale is a guess from the values; it is used only once you declare it.")
    click.echo(
        f"\nNext:   {command}" if diagnosis.usable else "\nNext:   bring in scores with values"
    )


def _say_json(contents: SourceContents, diagnosis: Diagnosis | None, command: str) -> None:
    import json
    import math

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [plain(entry) for entry in value]
        return None if isinstance(value, float) and math.isnan(value) else value

    content = {
        "form": contents.form,
        "columns": contents.columns,
        "not_recognized": contents.unclear or None,
        "guessed_kinds": contents.kinds,
        "derived_from": plain(dict(contents.derived_from)),
        "diagnosis": None if diagnosis is None else plain(diagnosis.as_json()),
        "command": command,
    }
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1))
