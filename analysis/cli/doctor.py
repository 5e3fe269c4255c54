"""The command `ccrs doctor`: what a file or a study is, and what can be done with it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from analysis.cli.source import CannotRun, from_file, from_study, kind_option, scale_option

if TYPE_CHECKING:
    from analysis.core.tables import ScoreTable
    from analysis.doctor.diagnosis import Diagnosis
    from study.importing.readers.source import RecordSource

#: Words in a scorer's name that speak for a kind; anybody else is taken for a person.
_HINTS = {
    "judge": ("judge", "gpt", "llm", "llama", "claude", "gemini", "mistral", "qwen", "model"),
    "metric": ("em", "f1", "bleu", "rouge", "bertscore", "exact_match", "metric"),
    "adjudicated": ("adjudicated", "gold", "consensus"),
}


class Patient(NamedTuple):
    """What was found before anything was computed."""

    scores: ScoreTable | None
    form: str
    columns: dict[str, str]
    """Column to what it holds; empty for a study."""
    kinds: dict[str, str]
    """Scorers whose kind the file does not say, with a guess."""
    command: str
    """The command that takes this source further, without scales and kinds."""
    derived_from: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Scorers whose scores follow from those of others, with these."""


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE")
@scale_option
@kind_option
@click.option("--json", "as_json", is_flag=True, help="Print the findings for programs.")
def doctor(source: Path, scales: tuple[str, ...], kinds: tuple[str, ...], as_json: bool) -> None:
    """Show what a file contains and what can be computed.

    FILE is a table of scores or preferences, long or wide; responses or results to import; or the
    folder of a study. Nothing is changed or written. Exit status: 0 something can be done, 1
    nothing, 2 the file can't be read.

    \b
    ccrs doctor scores.csv
    ccrs doctor ratings.xlsx.csv --kind anna=human --kind gpt=judge
    ccrs doctor my-study
    """
    from analysis.core.errors import AnalysisError
    from analysis.doctor.diagnosis import diagnose
    from study.errors import StudyError

    if not source.exists():
        raise CannotRun(f"{source} does not exist; name a table of scores or a study's folder")
    try:
        patient = _study(source, scales, kinds) if source.is_dir() else _file(source, scales, kinds)
        found = None if patient.scores is None else diagnose(patient.scores)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    command = _command(patient, scales, kinds, found)
    if as_json:
        _say_json(patient, found, command)
    else:
        _say(source, patient, found, command)
    if found is not None and not found.usable:
        raise click.exceptions.Exit(1)


def _study(folder: Path, scales: tuple[str, ...], kinds: tuple[str, ...]) -> Patient:
    if scales or kinds:
        raise CannotRun(
            f"--scale and --kind describe a bare table; a study has them in {folder / 'study.toml'}"
        )
    found = from_study(folder, {})
    command = f"ccrs report {shlex.quote(str(folder))}"
    return Patient(found.scores, "study", {}, {}, command, found.options.derived_from)


def _file(path: Path, scales: tuple[str, ...], kinds: tuple[str, ...]) -> Patient:
    from analysis.core.table_declarations import read_kinds
    from study.importing.importers import importer_for
    from study.importing.readers.source import RecordSource
    from study.settings.constructs import CCRS

    source = RecordSource(path)
    name = shlex.quote(str(path))
    known = tuple(construct.key for construct in CCRS)
    columns = _columns(source)
    held = set(columns.values())
    if "response_a" in held or "response_b" in held:
        reach = _reach_of_preferences(path, kinds)
        command = f"ccrs report SCORES --preferences {name} --preference-scale=-{reach:g}:{reach:g}"
        return Patient(None, "preferences", columns, {}, command)
    if not held & {"value", "value of a scorer and construct"}:
        importer, _ = importer_for(source, known, None)
        return Patient(
            None, importer.name, columns, {},
            f"ccrs init my-study && ccrs import my-study {name}",
        )  # fmt: skip
    given = read_kinds(kinds)
    guessed = {who: _guess(who) for who in _without_kind(source, columns) if who not in given}
    all_kinds = (*kinds, *(f"{who}={kind}" for who, kind in guessed.items()))
    scores = from_file(path, scales, all_kinds, None, None, {}).scores
    form = "long" if "value" in held else "wide"
    return Patient(scores, f"{form} table of scores", columns, guessed, f"ccrs report {name}")


def _columns(source: RecordSource) -> dict[str, str]:
    """Each column with what it holds."""
    from study.importing.formats import preferences, responses, scores, scores_wide
    from study.importing.read_table import wide_constructs
    from study.importing.readers.column_layout import folded, layout_of

    names = source.head.columns
    there = folded(names)
    if there & {"response_a", "response_b"}:
        fields = preferences.FIELDS
    elif responses.matches(source.head):
        fields = responses.FIELDS
    else:
        fields = scores.FIELDS
    layout = layout_of(names, fields, lambda _: False, families=fields is responses.FIELDS)
    held = {column: field.removesuffix("_key") for field, column in layout.columns.items()}
    if fields is scores.FIELDS and not set(held.values()) & {"construct", "value"}:
        constructs = wide_constructs(source)
        for column in names:
            if scores_wide.measured(column, constructs) is not None:
                held[column] = "value of a scorer and construct"
    return {
        column: held.get(column, "text or passages" if column in layout.passages else "not read")
        for column in names
    }


def _without_kind(source: RecordSource, columns: dict[str, str]) -> list[str]:
    """Scorers whose kind no row says, in order of appearance."""
    from study.importing.readers.input_file import Record

    by_role = {role: column for column, role in columns.items()}
    found: dict[str, bool] = {}
    for column, role in columns.items():
        who, colon, _ = column.rpartition(":")
        if role.startswith("value of") and colon:
            found[who.strip()] = False
    scorer, kind = by_role.get("scorer"), by_role.get("scorer_kind")
    for record in source.peeked() if scorer is not None else ():
        if scorer is not None and isinstance(record, Record):
            who = str(record.cells.get(scorer) or "").strip()
            said = bool(kind and str(record.cells.get(kind) or "").strip())
            if who:
                found[who] = found.get(who, False) or said
    return [who for who, said in found.items() if not said]


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
    patient: Patient, scales: tuple[str, ...], kinds: tuple[str, ...], found: Diagnosis | None
) -> str:
    words = [patient.command]
    if found is not None:
        declared = (*scales, *found.scales)
        said = (*kinds, *(f"{who}={kind}" for who, kind in patient.kinds.items()))
        words += [f"--scale {shlex.quote(scale)}" for scale in declared]
        words += [f"--kind {shlex.quote(kind)}" for kind in said]
    return " ".join(words)


def _say(source: Path, patient: Patient, found: Diagnosis | None, command: str) -> None:
    from analysis.render.formatting import counted, listed

    click.echo(f"{source.name or source}: {patient.form}")
    if patient.columns:
        click.echo("\nColumns")
        width = max(map(len, patient.columns))
        for column, role in patient.columns.items():
            click.echo(f"  {column:{width}}  {role}")
    for who, kind in patient.kinds.items():
        click.echo(f"  the file does not say what kind of scorer {who} is; taken for {kind} here")
    if found is None:
        click.echo(f"\nNext:   {command}")
        return
    click.echo(
        f"\nHolds\n  {counted(found.responses, 'response')}, "
        f"{counted(found.queries, 'query', 'queries')}, {counted(found.systems, 'system')}, "
        f"{counted(found.raters, 'rater')}"
    )
    for one in found.scored:
        scale = (
            f"declared {one.declared}" if one.declared
            else f"looks like {one.looks_like}" if one.looks_like
            else "no usual scale" if one.n else "no values"
        )  # fmt: skip
        ends = f"{one.low + 0:g} to {one.high + 0:g}, {one.distinct} distinct; " if one.n else ""
        missing = f", {one.missing:,} missing" if one.missing else ""
        whose = f"{one.construct}, {one.scorer} ({one.kind})"
        click.echo(f"  {whose}: {one.n:,} values{missing}; {ends}{scale}")
    for who, others in patient.derived_from.items():
        click.echo(f"  {who} follows from the scores of {listed(others)}")
    click.echo("\nCan be computed")
    for finding in found.findings:
        if finding.possible:
            remark = f" ({finding.remark})" if finding.remark else ""
            click.echo(f"  {finding.what}{remark}")
    if not found.usable:
        click.echo("  nothing")
    blocked = [finding for finding in found.findings if not finding.possible]
    if blocked:
        click.echo("\nCan't be computed, and why")
        for finding in blocked:
            click.echo(f"  {finding.what}: {finding.why}")
    if found.scales:
        click.echo("\nThe scale is a guess from the values; it is used only once you declare it.")
    click.echo(f"\nNext:   {command}" if found.usable else "\nNext:   bring in scores with values")


def _say_json(patient: Patient, found: Diagnosis | None, command: str) -> None:
    import json
    import math

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [plain(entry) for entry in value]
        return None if isinstance(value, float) and math.isnan(value) else value

    content = {
        "form": patient.form,
        "columns": patient.columns,
        "guessed_kinds": patient.kinds,
        "derived_from": plain(dict(patient.derived_from)),
        "diagnosis": None if found is None else plain(found.as_json()),
        "command": command,
    }
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1))
