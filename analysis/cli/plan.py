"""The command `ccrs plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analysis.cli.column_options import NamedColumns, named_columns_options
from analysis.cli.given_options import Facts, check_given
from analysis.cli.report_input import SCALE_FORM, CannotRun, kind_option, say_declared
from analysis.cli.second_file import SecondFile, second_file_options
from study.base.analysis_settings import AnalysisSettings
from study.cli.options import AS_JSON

if TYPE_CHECKING:
    from analysis.cli.pilot import StartingPoint
    from analysis.planning.pilot_answers import Pilot

_LEVEL = AnalysisSettings.__dataclass_fields__["level"].metadata

#: Points between systems by default, on a scale 100 wide.
APART = 5.0
RATERS = "2,3,5,10"


@click.command()
@click.argument(
    "source", type=click.Path(path_type=Path), metavar="[STUDY_OR_SCORES]", required=False
)
@second_file_options
@click.option(
    "--wanted",
    multiple=True,
    metavar="STATISTIC=HALFWIDTH",
    help="Half-width of an interval, in points for bias and corrected means. Repeatable.",
)
@click.option(
    "--claim",
    "claims",
    multiple=True,
    metavar="STATISTIC=EFFECT",
    help="What the report should answer with yes, or show, and the effect that is true: in points "
    "for level, bias and systems, or the margin of "
    "non_inferiority. Repeatable.",
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
    help="Numbers of raters to simulate. Default: 2,3,5,10, or those of a pilot whose queries are "
    "drawn.",
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
    "--n-constructs",
    metavar="N",
    type=click.IntRange(1),
    help="Constructs of the planned report, which corrects claims. Default: the pilot's, else 1.",
)
@click.option(
    "--n-judges",
    metavar="N",
    type=click.IntRange(1),
    help="Judges on each construct of the planned report. Default: the pilot's, else 1.",
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
@named_columns_options
@click.option(
    "--assurance",
    metavar="SHARE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Share of simulated studies that must reach a wanted width or make a claim.",
)
@click.option(
    "--level",
    metavar="SHARE",
    type=click.FloatRange(_LEVEL["gt"], _LEVEL["lt"], min_open=True, max_open=True),
    default=AnalysisSettings.level,
    show_default=True,
    help="Confidence level of the intervals.",
)
@click.option(
    "--runs",
    metavar="N",
    type=click.IntRange(2),
    help="Simulations of each design. Default: 40 for widths, 100 for claims.",
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
    help="Write the curves to this file (.svg or .html), or all designs (.csv or .json).",
)
@AS_JSON
def plan(
    source: Path | None,
    second: SecondFile,
    wanted: tuple[str, ...],
    claims: tuple[str, ...],
    components: str | None,
    queries: str,
    raters: str | None,
    responses: int | None,
    judged: int,
    n_constructs: int | None,
    n_judges: int | None,
    construct: str | None,
    scorer: str | None,
    minutes: float | None,
    scales: tuple[str, ...],
    kinds: tuple[str, ...],
    columns: NamedColumns,
    assurance: float,
    level: float,
    runs: int | None,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compute how many queries and raters a study needs.

    Studies are simulated from a pilot (a study or a table of scores that people have rated), or
    from components that are stated. --claim plans the chance that the report answers yes, or shows
    a difference, --wanted the width of an interval. Without both it is the chance of a yes on more
    queries like those of the pilot, which are drawn from it.

    \b
    Examples:
      ccrs plan my-study
      ccrs plan pilot.csv --claim choose_between_responses=0 --claim report_level=2
      ccrs plan pilot.csv --wanted krippendorff_alpha=0.1 --wanted bias=4
      ccrs plan results.csv --judge llm_score --human human_score --query question --scale 1:5
      ccrs plan --components rater=8,judge=15 --raters 3,5,8 --out plan.html
    """
    from analysis.cli.pilot import starting_point
    from analysis.cli.plan_tables import print_plan
    from analysis.core.errors import AnalysisError
    from analysis.planning.designs import RUNS, PlanSettings
    from analysis.planning.pilot_answers import RUNS as RUNS_OF_PILOT, power_of_pilot
    from analysis.planning.plan_files import as_document, write_plan
    from analysis.planning.planned_answers import ANSWERS
    from analysis.planning.planned_claims import CLAIMS
    from analysis.planning.planned_report import PlannedReport
    from analysis.planning.power import RUNS as RUNS_OF_CLAIMS, power
    from analysis.planning.simulation import plan as planned
    from study.errors import StudyError
    from study.progress_bar import progress_bar

    try:
        start = starting_point(
            source, scales, kinds, columns, construct, scorer, components, minutes, second
        )
        half_widths = _numbered("--wanted", wanted, "HALFWIDTH")
        effects = _numbered("--claim", claims, "EFFECT")
        pilot = _drawn_from(start, bool(half_widths or effects))
        if pilot is None and not half_widths:
            effects = effects or _usual(start, responses or start.per_query)
        check_given(
            Facts(
                start.scores,
                planned={*half_widths, *effects},
                claims=any(name in CLAIMS and CLAIMS[name].family for name in effects),
                pilot=source is not None,
                drawn=pilot is not None,
                levels=bool(half_widths) or any(name not in ANSWERS for name in effects),
            )
        )
        chosen: dict[str, Any] = {
            "queries": _numbers("queries", queries),
            "raters": _numbers("raters", raters or _usual_raters(pilot)),
            "responses_per_query": responses or start.per_query,
            "judged": judged,
            "width": start.width,
            "minutes": start.minutes,
            "level": level,
            "assurance": assurance,
            "seed": seed,
        }
        settings = PlanSettings(**chosen, runs=runs or RUNS)
        settings_of_claims = PlanSettings(**chosen, runs=runs or RUNS_OF_CLAIMS)
        report = PlannedReport(
            n_constructs or start.report.constructs, n_judges or start.report.judges
        )
        widths = claim_power = None
        if half_widths:
            with progress_bar("Simulating widths", hidden=as_json) as advance:
                widths = planned(start.components, half_widths, settings, advance)
        if pilot is not None:
            pilot_settings = PlanSettings(**chosen, runs=runs or RUNS_OF_PILOT)
            with progress_bar("Drawing studies", hidden=as_json) as advance:
                claim_power = power_of_pilot(
                    pilot, pilot.uses, start.components, pilot_settings, start.options, advance
                )
        if effects:
            with progress_bar("Simulating claims", hidden=as_json) as advance:
                claim_power = power(start.components, effects, settings_of_claims, report, advance)
        if out is not None:
            write_plan(widths, claim_power, start.notes, out)
    except (AnalysisError, StudyError) as error:
        raise CannotRun(str(error)) from None
    say_declared(start.declared)
    if as_json:
        import json

        document = as_document(widths, claim_power, start.notes)
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
        return
    print_plan(widths, claim_power, start.notes)
    if out is not None:
        click.echo(f"Written: {out}")


def _drawn_from(start: StartingPoint, named: bool) -> Pilot | None:
    """The pilot whose queries are drawn, where no width and no claim is named."""
    pilot = None if named else start.pilot
    if pilot is None and start.problem is not None:
        raise CannotRun(start.problem)
    return pilot


def _usual(start: StartingPoint, responses: int) -> dict[str, float]:
    """Answers that most studies are for, about the judge of the components, without a bias."""
    from analysis.planning.claim import judge_tau_b, rater_tau_b

    parts = start.components
    order = round(judge_tau_b(parts, responses) - rater_tau_b(parts, responses), 2)
    if responses == 1:
        return {"order_responses": order, "report_level": 0.0}
    apart = APART * start.width / 100
    return {"choose_between_responses": order, "rank_systems": apart, "report_level": 0.0}


def _usual_raters(pilot: Pilot | None) -> str:
    """Numbers of raters to simulate, where the user names none."""
    return RATERS if pilot is None else str(len(pilot.raters))


def _numbered(option: str, texts: tuple[str, ...], number: str) -> dict[str, float]:
    """The numbers by statistic of texts such as bias=4."""
    numbers = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name in numbers:
            raise CannotRun(f"{option} {text}: {name} is named twice")
        try:
            numbers[name] = float(value)
        except ValueError:
            form = f"{option} {text}: write STATISTIC={number}, such as bias=4"
            raise CannotRun(form) from None
    return numbers


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise CannotRun(f"--{option} {text}: write numbers with commas, such as 25,50") from None
