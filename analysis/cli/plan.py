"""The command `ccrs plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.cli.source import (
    SCALE_FORM,
    AnalysisInput,
    CannotRun,
    from_file,
    from_study,
    kind_option,
)
from study.cli.options import AS_JSON

if TYPE_CHECKING:
    from analysis.planning.components import Components
    from analysis.planning.simulation import StudyPlan


#: Half-widths by default; those in points are for a scale 100 wide.
WANTED = {
    "krippendorff_alpha": 0.1,
    "pearson": 0.1,
    "human_ceiling_difference": 0.1,
    "bias": 5.0,
    "ppi_mean": 3.0,
}


@click.command()
@click.argument(
    "source", type=click.Path(path_type=Path), metavar="[STUDY_OR_SCORES]", required=False
)
@click.option(
    "--wanted",
    multiple=True,
    metavar="STATISTIC=HALFWIDTH",
    help="Half-width of an interval, in points for bias and corrected means. Repeatable.",
)
@click.option(
    "--components",
    metavar="NAME=SD,...",
    help="Standard deviations of query, response, rater, error, judge (and slope), in points.",
)
@click.option(
    "--queries",
    metavar="NUMBERS",
    default="25,50,100,200",
    show_default=True,
    help="Numbers of queries to simulate.",
)
@click.option(
    "--raters",
    metavar="NUMBERS",
    default="2,3,5,10",
    show_default=True,
    help="Numbers of raters to simulate.",
)
@click.option(
    "--responses",
    metavar="N",
    type=click.IntRange(1),
    help="Responses to a query. Default: the pilot's systems, else 4.",
)
@click.option(
    "--judged",
    metavar="N",
    type=click.IntRange(2),
    default=1000,
    show_default=True,
    help="Queries that the judge alone scores, for corrected means.",
)
@click.option(
    "--construct",
    metavar="KEY",
    help="Construct of the pilot. Default: the first that is suitable.",
)
@click.option("--scorer", metavar="NAME", help="Judge or metric of the pilot. Default: the first.")
@click.option(
    "--minutes",
    metavar="MINUTES",
    type=click.FloatRange(0, min_open=True),
    help="A rater's minutes for a response. Default: a study's reading time, else 1.",
)
@click.option(
    "--scale",
    "scales",
    multiple=True,
    metavar=SCALE_FORM,
    help="Scale of a bare table, or, without a pilot, the planned one. Repeatable.",
)
@kind_option
@click.option(
    "--assurance",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Share of simulated studies that must reach a wanted width.",
)
@click.option(
    "--level",
    metavar="SHARE",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(2),
    default=40,
    show_default=True,
    help="Simulations of each design.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the simulations.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the curves to this file: .svg or .html.",
)
@AS_JSON
def plan(
    source: Path | None,
    wanted: tuple[str, ...],
    components: str | None,
    queries: str,
    raters: str,
    responses: int | None,
    judged: int,
    construct: str | None,
    scorer: str | None,
    minutes: float | None,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    assurance: float,
    level: float,
    runs: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compute how many queries and raters a precision needs.

    Studies are simulated from a pilot (a study or a table of scores that people have rated), or
    from components that are stated.

    \b
    Examples:
      ccrs plan my-study
      ccrs plan pilot.csv --wanted krippendorff_alpha=0.1 --wanted bias=4
      ccrs plan --components rater=8,judge=15 --raters 3,5,8 --out plan.html
    """
    from analysis.core.errors import AnalysisError
    from analysis.core.table_declarations import read_scales
    from analysis.planning import components as parts
    from analysis.planning.curve import write_curves
    from analysis.planning.simulation import plan as planned
    from study.errors import StudyError
    from study.progress_bar import progress_bar

    notes: list[str] = []
    width, per_query = 100.0, 4
    try:
        if source is None:
            general = read_scales(scales)[0].general
            width = 100.0 if general is None else general.width
            stated = parts.parse_components(components or "", width)
            notes.append("Components: as stated, else the defaults of `ccrs plan`")
        else:
            if not source.exists():
                raise CannotRun(f"{source} does not exist; name a study's folder or a table")
            inputs = (
                from_study(source, {})
                if source.is_dir()
                else from_file(source, scales, kinds, None, None, {})
            )
            stated, per_query, width, note = pilot_of(inputs, construct, scorer)
            notes.append(note)
            if components:
                stated = overridden(stated, components)
            if source.is_dir() and minutes is None:
                minutes = reading_minutes(source)
                notes.append(
                    f"Hours: {minutes:.2g} minutes of reading a response; deciding comes on top"
                )
        if minutes is None:
            minutes = 1.0
            notes.append("Hours: 1 minute a response is assumed; set it with --minutes")
        with progress_bar("Simulating designs", hidden=as_json) as advance:
            done = planned(
                stated,
                _wanted(wanted, width),
                queries=_numbers("queries", queries),
                raters=_numbers("raters", raters),
                responses_per_query=responses or per_query,
                judged=judged,
                minutes=minutes,
                level=level,
                assurance=assurance,
                runs=runs,
                seed=seed,
                progress=advance,
            )
        if out is not None:
            write_curves(done, out)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    if as_json:
        import json

        click.echo(json.dumps(done.as_json() | {"notes": notes}, ensure_ascii=False, indent=1))
        return
    _say(done, notes)
    if out is not None:
        click.echo(f"Curves: {out}")


def _wanted(texts: tuple[str, ...], width: float) -> dict[str, float]:
    from analysis.planning.simulated_study import STATISTICS

    if not texts:
        in_points = {name for name, statistic in STATISTICS.items() if statistic.points}
        return {k: v * width / 100 if k in in_points else v for k, v in WANTED.items()}
    half_widths = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            half_widths[name] = float(number)
        except ValueError:
            raise CannotRun(f"--wanted {text}: write STATISTIC=HALFWIDTH, such as bias=4") from None
    return half_widths


def _numbers(option: str, text: str) -> list[int]:
    try:
        return sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise CannotRun(f"--{option} {text}: write numbers with commas, such as 25,50") from None


def _say(done: StudyPlan, notes: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    from analysis.planning.curve import caption

    console = Console(width=80, highlight=False)
    table = Table(box=None, pad_edge=False)
    for name in ("figure", "± wanted", "raters", "queries", "responses", "ratings", "hours"):
        table.add_column(
            name, justify="left" if name == "figure" else "right", overflow="fold", no_wrap=True
        )
    before = None
    smallest = min(cell.queries for cell in done.cells)
    remarks = []
    for answer in done.answers:
        first = answer.statistic != before
        before = answer.statistic
        cells = [answer.statistic if first else "", f"{answer.wanted:g}" if first else ""]
        cells.append(str(answer.raters))
        if answer.queries is None:
            table.add_row(*cells, "-", "", "", "")
            remarks.append(f"{answer.statistic}: {answer.reason}")
        else:
            hours = f"{answer.hours:,.0f}" if (answer.hours or 0) >= 10 else f"{answer.hours:.1f}"
            few = "≤ " if answer.queries == smallest else ""
            table.add_row(
                *cells,
                f"{few}{answer.queries:,}",
                f"{answer.responses:,}",
                f"{answer.ratings:,}",
                hours,
            )
    console.print(table)
    for line in (*remarks, *notes, caption(done)):
        console.print(line, markup=False, soft_wrap=False)


def pilot_of(
    inputs: AnalysisInput, construct: str | None, scorer: str | None
) -> tuple[Components, int, float, str]:
    """Components of the first construct that gives some, with responses a query and the width."""
    import numpy as np

    from analysis.core.construct_data import construct_data
    from analysis.core.errors import AnalysisError
    from analysis.core.layouts import of_one_layout
    from analysis.planning.components import components_of

    scores, layout_note = of_one_layout(inputs.scores)
    keys = (construct,) if construct else inputs.scores.constructs
    if construct and construct not in inputs.scores.constructs:
        listed = ", ".join(inputs.scores.constructs)
        raise AnalysisError(f"unknown construct {construct!r}; there are {listed}")
    why: list[str] = []
    for key in keys:
        data = construct_data(scores, key)
        if scorer is not None and scorer not in data.scorers:
            listed = ", ".join(data.scorers) or "none"
            why.append(f"{key}: unknown judge or metric {scorer!r}; there are {listed}")
            continue
        judge = scorer or next(iter(data.scorers), None)
        try:
            parts = components_of(
                data.ratings, None if judge is None else data.scorers[judge], data.query
            )
        except AnalysisError as error:
            why.append(f"{key}: {error}")
            continue
        rated = data.query[np.isfinite(data.ratings).any(axis=1)]
        per_query = max(1, round(rated.size / max(1, len(set(rated.tolist())))))
        scale = inputs.scores.scale(key)
        width = float(np.nanmax(data.ratings) - np.nanmin(data.ratings))
        width = width if scale is None else scale.width
        note = f"Components: from {inputs.name}, {key}{f' and {judge}' if judge else ''}"
        note = note if layout_note is None else f"{note}. {layout_note}"
        return parts, per_query, width, note
    raise AnalysisError("\n".join(["no construct is suitable as pilot", *why]))


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
