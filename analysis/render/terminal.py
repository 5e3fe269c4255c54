"""A report on the terminal: the answers first, then what was written and checked."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from analysis.core.analysis import Analysis
from analysis.core.likely_scales import likely_scales
from analysis.decisions.records import Answer, CorrectedMeans, Use, UseDecision
from analysis.render.decision_words import (
    ANSWER_WORDS,
    USE_WORDS,
    answers_reading,
    corrected_sentence,
    sentence,
    settled_by,
)
from analysis.render.document import Document
from analysis.render.output_files import as_json
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


#: Headings of the columns of answers, in the order of the uses.
_COLUMNS: dict[Use, str] = {
    "rank_systems": "rank systems",
    "choose_between_responses": "choose response",
    "report_level": "report level",
    "replace_rater": "replace rater",
}
_COLORS: dict[Answer, str] = {
    "yes": "green", "with_care": "yellow", "no": "red", "undecided": "bright_black",
}  # fmt: skip

_WIDTH = 80


def print_answers(
    analysis: Analysis, decisions: Sequence[UseDecision], corrected: Sequence[CorrectedMeans]
) -> None:
    """For what each judge can be used: a table of answers, then what decides for the whole."""
    notes, kinds = analysis.options.scorer_notes, analysis.scorer_kinds
    click.secho(analysis.title, bold=True)
    for name in kinds:
        if name in notes:
            _say(f"{name} ({kinds[name]}): {notes[name]}")
    for scorer in dict.fromkeys(d.scorer for d in decisions):
        of_scorer = [d for d in decisions if d.scorer == scorer]
        click.echo()
        click.echo(f"Can {scorer} be used to ...")
        _table(analysis, of_scorer)
        click.echo()
        for decision in of_scorer:
            if decision.construct is None:
                answer = ANSWER_WORDS[decision.answer]
                _say(f"{USE_WORDS[decision.use]}: {answer}. {sentence(analysis, decision)}")
                # What is missing is what is needed first.
                settle = settled_by(decision) if decision.missing is None else None
                if settle:
                    _say(f"{settle[0].upper()}{settle[1:]}.", indent="    ")
        means = [c for c in corrected if c.scorer == scorer and not math.isnan(c.half_width)]
        if means:
            parts = (
                f"{analysis.scores.full_name(c.construct)}: {corrected_sentence(analysis, c)}"
                for c in means
            )
            _say(f"Corrected by the ratings: {'; '.join(parts)}.")
    if decisions:
        click.echo()
        _say(answers_reading(analysis, decisions))
    for verdict in _without_answers(analysis, decisions):
        _say(verdict.sentence)
    for warning in analysis.warnings:
        _say(f"Warning: {warning}")


def _table(analysis: Analysis, decisions: Sequence[UseDecision]) -> None:
    """A row for each construct, the judge as a whole last."""
    constructs = list(dict.fromkeys(d.construct for d in decisions if d.construct))
    rows: list[str | None] = [*constructs, None] if len(constructs) > 1 else [*constructs]
    names = {
        key: "all (the weakest)" if key is None else analysis.scores.full_name(key) for key in rows
    }
    room = max(map(len, names.values()))
    heads, last = "  ".join(_COLUMNS.values()), list(_COLUMNS.values())[-1]
    click.echo(f"  {'':{room}}  {heads}")
    for key in rows:
        cells = []
        for use, head in _COLUMNS.items():
            answer = next(d.answer for d in decisions if (d.construct, d.use) == (key, use))
            blank = " " * (len(head) - len(ANSWER_WORDS[answer]) if head != last else 0)
            cells.append(click.style(ANSWER_WORDS[answer], fg=_COLORS[answer]) + blank)
        click.echo(f"  {names[key]:{room}}  {'  '.join(cells)}")


def _without_answers(analysis: Analysis, decisions: Sequence[UseDecision]) -> Iterator[Verdict]:
    """Verdicts on what no judge scored on a scale: people alone, preferences."""
    answered = {(d.construct, d.scorer) for d in decisions}
    preferences = on_preferences(analysis)
    for verdict in verdicts(analysis):
        if verdict in preferences or (verdict.construct, verdict.scorer) not in answered:
            yield verdict


def _say(text: str, indent: str = "") -> None:
    """A paragraph; broken into lines on a terminal only, so that programs find it on one."""
    if sys.stdout.isatty():
        text = click.wrap_text(text, _WIDTH, indent, f"{indent}    ")
    else:
        text = f"{indent}{text}"
    click.echo(text)


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
