"""A report on the terminal: the answers first, then what was written and checked."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from analysis.core.analysis import Analysis
from analysis.core.likely_scales import likely_scales
from analysis.core.understood_scales import SCALE_UNDERSTOOD
from analysis.decisions.preferred_responses import preference_facts
from analysis.decisions.records import CorrectedMeans, UseDecision
from analysis.render.decision_words import corrected_sentence
from analysis.render.document import Document
from analysis.render.opening_of_analysis import openings_of
from analysis.render.output_files import as_json
from analysis.render.terminal_opening import print_opening, print_reading, say
from analysis.render.verdicts import Verdict, on_preferences, verdicts

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


def print_answers(
    analysis: Analysis,
    decisions: Sequence[UseDecision],
    corrected: Sequence[CorrectedMeans],
    *,
    opened: bool = False,
) -> None:
    """The agreement and the answers for each judge, then what else opens a report.

    `opened`: the former were printed before.
    """
    notes, kinds = analysis.options.scorer_notes, analysis.scorer_kinds
    if not opened:
        click.secho(analysis.title, bold=True)
    for name in kinds:
        if name in notes:
            say(f"{name} ({kinds[name]}): {notes[name]}")
    for opening in openings_of(analysis, decisions):
        scorer_decisions = [d for d in decisions if d.scorer == opening.scorer]
        if not opened:
            print_opening(analysis, opening, scorer_decisions)
        means = [c for c in corrected if c.scorer == opening.scorer and c.half_width > 0]
        if means:
            parts = (
                f"{analysis.full_name(c.construct)}: {corrected_sentence(analysis, c)}"
                for c in means
            )
            say(f"Corrected by the ratings: {'; '.join(parts)}.")
    if not opened:
        print_reading(analysis, decisions)
    for verdict in _without_answers(analysis, decisions):
        say(verdict.sentence)
    for warning in analysis.warnings:
        # The first lines say which scale was understood.
        if not (opened and warning.startswith(SCALE_UNDERSTOOD)):
            say(f"Warning: {warning}")


def _without_answers(analysis: Analysis, decisions: Sequence[UseDecision]) -> Iterator[Verdict]:
    """Verdicts on what no judge scored on a scale: people alone, preferences."""
    answered = {(d.construct, d.scorer) for d in decisions}
    compared = {(of.construct, of.scorer) for of in preference_facts(analysis)}
    preferences = [
        verdict
        for verdict in on_preferences(analysis)
        if (verdict.construct, verdict.scorer) not in compared & answered
    ]
    for verdict in verdicts(analysis):
        if verdict in preferences or (verdict.construct, verdict.scorer) not in answered:
            yield verdict


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
        likely = likely_scales(analysis.scores)
        options = " ".join(f"--scale {shlex.quote(text)}" for text in likely)
        click.echo(
            "Next:   declare the scale for bias and ceilings: "
            + (f"{options}, if the values are on it" if likely else "--scale MIN:MAX")
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
        "decisions": plain["decisions"],
        "verdict": plain["verdict"],
        "warnings": plain["warnings"],
        "estimates": len(plain["estimates"]),
        "verification": None if checks is None else list(checks),
    }
    click.echo(json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1))
