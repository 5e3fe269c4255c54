"""What a plan starts from: the components of a pilot, and the time of reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.cli.column_options import NamedColumns
from analysis.cli.read_scores import from_file
from analysis.cli.read_study import from_study
from analysis.cli.report_input import CannotRun, NoScores, ReportInput
from analysis.cli.second_file import NO_SECOND, SecondFile

if TYPE_CHECKING:
    from analysis.core.options import Options
    from analysis.core.tables import ScoreTable
    from analysis.planning.components import Components
    from analysis.planning.pilot_answers import Pilot
    from analysis.planning.planned_report import PlannedReport

_OF_ONE_QUERY = (
    "People rated responses to 1 query: what is not stated in --components is of that query alone, "
    "and how queries differ is not known from it"
)
_WITHOUT_PILOT = "Without a pilot, state the components: ccrs plan --components rater=8,judge=15"


@dataclass(frozen=True)
class StartingPoint:
    """What is simulated, with notes on where it is from."""

    components: Components
    per_query: int
    """Responses to a query."""
    width: float
    """Of the scale, in points."""
    minutes: float
    """A rater's working time for a response."""
    report: PlannedReport
    """As many constructs and judges as the pilot has."""
    notes: tuple[str, ...]
    pilot: Pilot | None = None
    """What studies are drawn from, where the pilot has a judge."""
    options: Options | None = None
    """Of the pilot's report."""
    problem: str | None = None
    """Why the pilot gives no components, so that its queries alone can be drawn."""
    scores: ScoreTable | None = None
    """The pilot's, if there is one."""
    declared: str = ""
    """For `say_declared`."""


def starting_point(
    source: Path | None,
    scales: Sequence[str],
    kinds: Sequence[str],
    columns: NamedColumns,
    construct: str | None,
    scorer: str | None,
    components: str | None,
    minutes: float | None,
    second: SecondFile = NO_SECOND,
) -> StartingPoint:
    """What the arguments of the command state: a pilot, components, or both."""
    from analysis.core.table_declarations import read_scales
    from analysis.planning.components import parse_components
    from analysis.planning.pilot_answers import Pilot
    from analysis.planning.planned_report import PlannedReport

    width, per_query, report, scores, declared = 100.0, 4, PlannedReport(), None, ""
    pilot = options = problem = None
    if source is None:
        general = read_scales(scales)[0].general
        width = 100.0 if general is None else general.width
        parts = parse_components(components or "", width)
        notes = ["Components: as stated, else the defaults of `ccrs plan`"]
    else:
        if not source.exists():
            raise CannotRun(f"{source} does not exist; name a study's folder or a table")
        if (columns or scales or kinds) and source.is_dir():
            raise CannotRun(
                "--judge, --human, --scale and --kind describe a bare table; a study has them in "
                f"{source / 'study.toml'}"
            )
        try:
            inputs = (
                from_study(source, {})
                if source.is_dir()
                else from_file(
                    source, scales, kinds, None, None, {}, columns=columns, second=second
                )
            )
        except NoScores as error:
            raise CannotRun(f"{error.message}. {_WITHOUT_PILOT}") from None
        found = pilot_of(inputs, construct, scorer)
        per_query, width, problem, options = (
            found.per_query,
            found.width,
            found.problem,
            inputs.options,
        )
        parts = found.components or parse_components(components or "", width)
        problem = None if components else problem
        if found.judge is not None:
            drawn = Pilot.of(inputs.scores, found.construct, found.judge)
            pilot = drawn if len(drawn.places) > 1 else None
        report, scores, declared = report_on(inputs), inputs.scores, inputs.declared
        notes = [found.note]
        if components:
            parts = overridden(parts, components)
        if source.is_dir() and minutes is None:
            minutes = reading_minutes(source)
            notes.append(
                f"Hours: {minutes:.2g} minutes of reading a response; deciding comes on top"
            )
    if minutes is None:
        minutes = 1.0
        notes.append("Hours: 1 minute a response is assumed; set it with --minutes")
    return StartingPoint(
        parts,
        per_query,
        width,
        minutes,
        report,
        tuple(notes),
        pilot,
        options,
        problem,
        scores,
        declared,
    )


class FoundPilot(NamedTuple):
    """The construct and the judge that a plan starts from."""

    construct: str
    judge: str | None
    components: Components | None
    per_query: int
    """Responses to a query."""
    width: float
    """Of the scale."""
    note: str
    problem: str | None = None
    """Why there are no components."""


def pilot_of(inputs: ReportInput, construct: str | None, scorer: str | None) -> FoundPilot:
    """The first construct that gives components; else the first whose queries can be drawn."""
    import numpy as np

    from analysis.core.construct_data import construct_data
    from analysis.core.errors import AnalysisError
    from analysis.core.layouts import select_layout
    from analysis.planning.components import components_of

    scores, layout_note = select_layout(inputs.scores)
    keys = (construct,) if construct else inputs.scores.constructs
    if construct and construct not in inputs.scores.constructs:
        listed = ", ".join(inputs.scores.constructs)
        raise AnalysisError(f"unknown construct {construct!r}; there are {listed}")
    why: list[str] = []
    drawable: list[FoundPilot] = []
    alone: list[FoundPilot] = []
    for key in keys:
        data = construct_data(scores, key)
        if scorer is not None and scorer not in data.scorers:
            listed = ", ".join(data.scorers) or "none"
            why.append(f"{key}: unknown judge or metric {scorer!r}; there are {listed}")
            continue
        judge = scorer or next(iter(data.scorers), None)
        given, problem = None, None
        try:
            judge_values = None if judge is None else data.scorers[judge]
            given = components_of(data.ratings, judge_values, data.query)
        except AnalysisError as error:
            problem = f"{key}: {error}"
            why.append(problem)
        rated = data.query[np.isfinite(data.ratings).any(axis=1)]
        queries = len(set(rated.tolist()))
        if not queries or (given is None and judge is None):
            continue
        if queries == 1:
            why.append(f"{key}: people rated responses to 1 query; a pilot needs at least 2")
            if given is None:
                continue
        scale = inputs.scores.scale(key)
        width = float(np.nanmax(data.ratings) - np.nanmin(data.ratings))
        note = f"Pilot: {inputs.name}, {key}{f' and {judge}' if judge else ''}"
        found = FoundPilot(
            key,
            judge,
            given,
            max(1, round(rated.size / queries)),
            width if scale is None else scale.width,
            note if layout_note is None else f"{note}. {layout_note}",
            problem,
        )
        if queries == 1:
            alone.append(found._replace(note=f"{note}. {_OF_ONE_QUERY}"))
        elif given is not None:
            return found
        else:
            drawable.append(found)
    unsuitable = "\n".join(["no construct is suitable as pilot", *why, _WITHOUT_PILOT])
    if drawable or alone:
        return (drawable or alone)[0]._replace(problem=unsuitable)
    raise AnalysisError(unsuitable)


def report_on(inputs: ReportInput) -> PlannedReport:
    """Numbers of constructs that people rated, and of judges, or else metrics, that scored them."""
    from analysis.planning.planned_report import PlannedReport

    frame = inputs.scores.frame
    rated = frame.loc[frame["scorer_kind"] == "human", "construct"].unique()
    frame = frame[frame["construct"].isin(rated)]
    judges = frame[frame["scorer_kind"] == "judge"]
    scored = judges if len(judges) else frame[frame["scorer_kind"] == "metric"]
    return PlannedReport(max(1, len(rated)), max(1, scored["scorer"].nunique()))


def overridden(pilot: Components, text: str) -> Components:
    """The pilot's components, with stated ones in their place."""
    from dataclasses import replace

    from analysis.planning.components import parse_components

    stated = parse_components(text)
    names = [part.partition("=")[0].strip() for part in text.split(",") if part.strip()]
    return replace(pilot, **{name: getattr(stated, name) for name in names})


def reading_minutes(folder: Path) -> float:
    """Minutes to read a response of a study; 1 where it has no texts."""
    from study import Study
    from study.assignment.reading_time import words_a_response

    with Study.open(folder) as study:
        config = study.config
        with study.read() as connection:
            words = words_a_response(connection, config.constructs)
    return words / config.rating.words_per_minute if words else 1.0
