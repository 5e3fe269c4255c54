"""The command `ccrs watch`. Only click is imported until it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from study.cli.options import AS_JSON, STUDY, print_result

if TYPE_CHECKING:
    from study.study import Study


@click.command()
@STUDY
@click.option(
    "--agreement", is_flag=True, help="Show how far people agree so far (an interim analysis)."
)
@click.option(
    "--judge",
    metavar="NAME",
    help="Show how far this judge agrees with people so far (an interim analysis).",
)
@click.option(
    "--stopping", is_flag=True, help="Show the state of the stopping rule (an interim analysis)."
)
@click.option(
    "--items", is_flag=True, help="Show for each response how many of its raters have finished it."
)
@AS_JSON
def watch(
    folder: Path, agreement: bool, judge: str | None, stopping: bool, items: bool, as_json: bool
) -> None:
    """Show raters' progress in STUDY and what needs action.

    Signals of careless responding flag a rater and exclude no ratings. Interim analyses are
    recorded, and the report states that there were some.

    \b
    Examples:
      ccrs watch my-study
      ccrs watch my-study --agreement
      ccrs watch my-study --judge my-judge
      ccrs watch my-study --stopping
      ccrs watch my-study --items --json
    """
    from study.study import Study

    if agreement + (judge is not None) + stopping + items > 1:
        raise click.UsageError("Use only one of --agreement, --judge, --stopping and --items.")
    with Study.open(folder) as study:
        if agreement or judge is not None or stopping:
            _interim_analysis(study, "stopping" if stopping else "agreement", judge, as_json)
        else:
            _progress(study, items, as_json)


def _progress(study: Study, items: bool, as_json: bool) -> None:
    from annotate_ui.monitoring.campaign_progress import campaign_progress
    from annotate_ui.monitoring.careless_responding import rater_signals

    signals = rater_signals(study)
    progress = campaign_progress(study, signals)
    if as_json:
        document: Any = progress.as_json()
        document["signals"] = [rater.as_json() for rater in signals]
        print_result(document["items"] if items else document, [], as_json)
        return
    from annotate_ui.cli.terminal import show_campaign, show_items

    if items:
        show_items(progress)
        return
    show_campaign(progress, signals)
    if study.config.stopping.half_width is None:
        click.echo(f"Next: ccrs watch {study.folder} --agreement   (do people agree so far?)")
    else:
        click.echo(f"Next: ccrs watch {study.folder} --stopping   (is enough rated?)")


def _interim_analysis(study: Study, kind: Any, judge: str | None, as_json: bool) -> None:
    from analysis.core.errors import AnalysisError
    from annotate_ui.monitoring.interim_analysis import run_interim_analysis
    from study.errors import StudyError

    try:
        result = run_interim_analysis(study, kind if judge is None else "judge", "command", judge)
    except AnalysisError as error:
        raise StudyError(str(error)) from None
    if as_json:
        print_result(result.as_json(), [], as_json)
        return
    from annotate_ui.cli.terminal import show_agreement, show_stopping

    if result.stopping is None:
        show_agreement(result)
        return
    show_stopping(result.stopping)
    following = "report" if result.stopping["stop"] else "watch"
    click.echo(f"Next: ccrs {following} {study.folder}")
