"""What `ccrs doctor` prints, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from study.text import shell_word

if TYPE_CHECKING:
    from analysis.cli.source_contents import SourceContents
    from analysis.doctor.diagnosis import Diagnosis


def say(source: Path, contents: SourceContents, diagnosis: Diagnosis | None, command: str) -> None:
    """Print the columns, what can be computed, and the next command."""
    click.echo(f"{source.name or source}: {contents.form}")
    if contents.columns:
        click.echo("\nColumns")
        width = max(map(len, contents.columns))
        for column, role in contents.columns.items():
            click.echo(f"  {column:{width}}  {role}")
    for scorer, kind in contents.kinds.items():
        click.echo(
            f"  the file does not state the kind of the scorer {scorer}; by its name: {kind}"
        )
    if contents.unclear:
        click.echo(f"\nNot recognized\n  {contents.unclear}")
        click.echo(f"\nNext:   {contents.notes[0][:1].lower()}{contents.notes[0][1:]}")
        click.echo(f"        {command}")
        return
    if contents.refused:
        click.echo(f"\nA new study refuses the file\n{indent(contents.refused, '  ')}")
        click.echo(f"\nNext:   do what these lines name, then ccrs doctor {shell_word(source)}")
        return
    for note in contents.notes:
        click.echo(f"\n{note}")
    if diagnosis is None:
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
        click.echo(
            "\nThe scale is understood from the values; it is used unless --scale declares another."
        )
    click.echo(
        f"\nNext:   {command}" if diagnosis.usable else "\nNext:   bring in scores with values"
    )


def say_json(contents: SourceContents, diagnosis: Diagnosis | None, command: str) -> None:
    """Print the same as one JSON object."""
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
        "refused": contents.refused or None,
        "guessed_kinds": contents.kinds,
        "derived_from": plain(dict(contents.derived_from)),
        "diagnosis": None if diagnosis is None else plain(diagnosis.as_json()),
        "command": None if contents.refused else command,
    }
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1))
