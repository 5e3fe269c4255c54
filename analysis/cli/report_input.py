"""What a command analyzes, and the options and errors that all such commands have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from analysis.core.analysis import LabeledTexts
    from analysis.core.context import Context
    from analysis.core.mark_table import MarkTable
    from analysis.core.options import Options
    from analysis.core.probe_table import ProbeTable
    from analysis.core.tables import PreferenceTable, ScoreTable
    from study.settings.scorer_sections import CombinedSpec


SCALE_FORM = "[[SCORER:]CONSTRUCT=]MIN:MAX[:STEP[:LEVEL]]"

scale_option = click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar=SCALE_FORM,
    help="Scale of a table's constructs; of one construct; or of one scorer there. Repeatable.",
)

kind_option = click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="SCORER=KIND",
    help="human, adjudicated, judge or metric, where the table does not state it. Repeatable.",
)


Place = tuple[str, str, str]


class ReportInput(NamedTuple):
    """The inputs of a report."""

    scores: ScoreTable
    preferences: PreferenceTable | None
    options: Options
    name: str
    judge_runs: Sequence[dict[str, Any]] = ()
    """The conditions of the judges' runs, from a study."""
    probes: ProbeTable | None = None
    """Answers of judges to altered prompts, if there are any."""
    marks: MarkTable | None = None
    """Marks of people on sentences, if there are any."""
    reasons: Callable[[Sequence[Place]], dict[Place, str]] = lambda _: {}
    """Returns judges' rationales of some scores (scorer, response, construct)."""
    labeled_texts: Callable[[Context], LabeledTexts] | None = None
    """Returns what metrics in steps and people said on texts of responses, from a study."""
    declared: str = ""
    """What `say_declared` prints when the input has been accepted."""


def say_declared(line: str) -> None:
    """Print the line with the command that declares what was recognized, if there is one.

    A command calls it when it can no longer refuse the table: the printed command does the same.
    """
    if line:
        click.echo(line, err=True)


class CannotRun(click.ClickException):
    """Bad input or usage; the command did nothing."""

    exit_code = 2


class NoScores(CannotRun):
    """The study has no scores yet."""


def derived_from(
    scores: ScoreTable, combined: Mapping[str, CombinedSpec] | None = None
) -> dict[str, tuple[str, ...]]:
    """Scorers that follow from others: juries, composites, and means of a judge's distributions."""
    from study.columns import EXPECTED

    names = scores.scorer_kinds
    expected = {
        name: (of,)
        for name in names
        if name.endswith(EXPECTED) and (of := name.removesuffix(EXPECTED)) in names
    }
    return expected | {
        name: tuple(dict.fromkeys(member.scorer for member in spec.members))
        for name, spec in (combined or {}).items()
        if name in names
    }


def cuts_somebody(key: str, scores: ScoreTable) -> bool:
    """Whether a declared cut is of people, or of a scorer that has scores already."""
    return any(
        key in {name, *(f"{name}:{construct}" for construct in scores.constructs)}
        for name in ("human", *scores.scorer_kinds)
    )
