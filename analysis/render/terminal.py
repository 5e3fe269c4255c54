"""A report on the terminal: the verdict first, then what was written and checked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from analysis.core.analysis import Analysis
from analysis.render.document import Document
from analysis.render.output_files import as_json
from analysis.render.verdict_notes import reading
from analysis.render.verdicts import Verdict

Checks = Sequence[Mapping[str, Any]]


@contextmanager
def working(step: str) -> Iterator[None]:
    """Show on a terminal's standard error that a longer step is running."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(step):
        yield


def print_verdicts(analysis: Analysis, verdicts: Sequence[Verdict]) -> None:
    """The verdict on standard output: formatted for a terminal, or a sentence per line."""
    notes = analysis.options.scorer_notes
    kinds = analysis.scorer_kinds
    remarks = [f"{name} ({kinds[name]}): {notes[name]}" for name in kinds if name in notes]
    brackets = reading(analysis) if any("[" in verdict.sentence for verdict in verdicts) else ""
    if not sys.stdout.isatty():
        click.echo(analysis.title)
        for remark in remarks:
            click.echo(remark)
        for verdict in verdicts:
            click.echo(verdict.sentence)
            for note in verdict.notes:
                click.echo(f"    {note}")
        if brackets:
            click.echo(brackets)
        for warning in analysis.warnings:
            click.echo(f"Warning: {warning}")
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(width=min(80, Console().width), highlight=False)
    console.print(Text(analysis.title, style="bold"))
    for remark in remarks:
        console.print(Text(remark, style="yellow"))
    for verdict in verdicts:
        sentence = Text(verdict.sentence)
        sentence.stylize("bold cyan", 0, len(verdict.construct))
        console.print()
        console.print(sentence)
        for note in verdict.notes:
            console.print(Padding(Text(note, style="dim"), (0, 0, 0, 4)))
    if brackets:
        console.print()
        console.print(Text(brackets, style="dim"))
    for warning in analysis.warnings:
        console.print()
        console.print(Text(f"Warning: {warning}", style="yellow"))


def print_further_notes(printed: Sequence[Verdict], verdicts: Sequence[Verdict]) -> None:
    """Notes that the whole analysis adds to verdicts that are already printed."""
    known = {(v.construct, v.scorer, note) for v in printed for note in v.notes}
    for verdict in verdicts:
        name = ", ".join(filter(None, (verdict.construct, verdict.scorer)))
        for note in verdict.notes:
            if (verdict.construct, verdict.scorer, note) not in known:
                click.echo()
                click.echo(f"{name}: {note}")


def print_written(page: Path, analysis: Analysis, checks: Checks | None) -> None:
    """Where the report is, how its checks went, and the next step."""
    click.echo()
    click.echo(f"Report: {page}, with report.json and tables/ in the same folder")
    click.echo(f"        {len(analysis.estimates):,} figures, undefined ones with their reason")
    if checks is not None and not checks:
        click.echo("Checks: no figure of this report can be computed by another library")
    elif checks is not None:
        done = [check for check in checks if check["agrees"] is not None]
        agreeing = sum(1 for check in done if check["agrees"])
        click.echo(
            f"Checks: {agreeing} of {len(done)} figures equal those of krippendorff, pingouin and "
            f"scipy; {len(checks) - len(done)} could not be checked"
        )
        for check in done:
            if not check["agrees"]:
                click.echo(
                    f"        DIFFERS: {check['statistic']} on {check['construct']}: "
                    f"{check['ours']} here, {check['theirs']} in {check['library']}; please report"
                )
    undeclared = [key for key in analysis.scores.constructs if analysis.scores.scale(key) is None]
    if undeclared:
        click.echo(
            "Next:   declare the scale for bias and ceilings, for example with --scale 0:100"
        )
    else:
        click.echo(f"Next:   open {page} in a browser")


def print_json(page: Path, content: Document, checks: Checks | None) -> None:
    """A summary for programs; everything else is in the report.json that it names."""
    plain = as_json(content)
    summary = {
        "report": str(page),
        "json": str(page.with_name("report.json")),
        "title": plain["title"],
        "scorers": plain["scorers"],
        "verdict": plain["verdict"],
        "warnings": plain["warnings"],
        "estimates": len(plain["estimates"]),
        "verification": None if checks is None else list(checks),
    }
    click.echo(json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1))
