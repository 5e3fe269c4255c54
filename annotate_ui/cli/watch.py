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
    "--agreement", is_flag=True, help="How far people agree so far. The look is recorded."
)
@click.option(
    "--judge", metavar="NAME", help="This judge beside people so far. The look is recorded."
)
@click.option(
    "--stopping", is_flag=True, help="How far the stopping rule is. The look is recorded."
)
@click.option("--items", is_flag=True, help="How many raters each response has, of those wanted.")
@click.option("--remove", metavar="RATER", help="End a rater's part; what they finished stays.")
@click.option(
    "--readmit",
    metavar="RATER",
    help="Let a rater in again who left, or past a training that was not passed.",
)
@AS_JSON
def watch(
    folder: Path,
    agreement: bool,
    judge: str | None,
    stopping: bool,
    items: bool,
    remove: str | None,
    readmit: str | None,
    as_json: bool,
) -> None:
    """Show raters' progress in STUDY and what needs action.

    Signals of careless rating flag a rater; they exclude nobody. A look at interim figures is
    recorded, and the report says that there was one.

    \b
    Examples:
      ccrs watch my-study
      ccrs watch my-study --agreement
      ccrs watch my-study --judge my-judge
      ccrs watch my-study --stopping
      ccrs watch my-study --items --json
      ccrs watch my-study --remove anna
      ccrs watch my-study --readmit anna
    """
    from study.study import Study

    asked = [agreement, judge is not None, stopping, items, remove is not None, readmit is not None]
    if sum(asked) > 1:
        raise click.UsageError("Each of these options goes alone.")
    with Study.open(folder) as study:
        if remove is not None:
            _remove(study, remove, as_json)
        elif readmit is not None:
            _readmit(study, readmit, as_json)
        elif agreement or judge is not None or stopping:
            _look(study, "stopping" if stopping else "agreement", judge, as_json)
        else:
            _progress(study, items, as_json)


def _progress(study: Study, items: bool, as_json: bool) -> None:
    from annotate_ui.monitoring.campaign_progress import campaign_progress
    from annotate_ui.monitoring.careless_responding import rater_signals

    signals = rater_signals(study)
    progress = campaign_progress(study, signals)
    if as_json:
        document: Any = progress.as_json()
        document["signals"] = [one.as_json() for one in signals]
        print_result(document["items"] if items else document, [], as_json)
        return
    from annotate_ui.cli.terminal import show_campaign, show_items

    if items:
        show_items(progress)
        return
    show_campaign(progress, signals)
    click.echo(f"Next: ccrs watch {study.folder} --stopping   (is enough rated?)")


def _look(study: Study, kind: Any, judge: str | None, as_json: bool) -> None:
    from analysis.core.errors import AnalysisError
    from annotate_ui.monitoring.interim_analysis import run_interim_analysis
    from study.errors import StudyError

    try:
        found = run_interim_analysis(study, kind if judge is None else "judge", "command", judge)
    except AnalysisError as error:
        raise StudyError(str(error)) from None
    if as_json:
        print_result(found.as_json(), [], as_json)
        return
    from annotate_ui.cli.terminal import show_look, show_stopping

    if found.stopping is None:
        show_look(found)
        return
    show_stopping(found.stopping)
    following = "report" if found.stopping["stop"] else "watch"
    click.echo(f"Next: ccrs {following} {study.folder}")


def _remove(study: Study, code: str, as_json: bool) -> None:
    from annotate_ui.participants.withdrawal import leave, rater_key

    with study.read() as connection:
        rater_id = rater_key(connection, study, code)
    released = leave(study, rater_id, "removed")
    if released is None:
        lines = [f"{code} has left already; nothing was changed."]
    else:
        lines = [
            f"{code} is removed: links and sessions are ended, {released} unfinished assignments "
            "and comparisons go back. What was finished stays and counts.",
            f"Next: ccrs assign {study.folder}   (or ccrs watch {study.folder} --readmit {code})",
        ]
    print_result({"rater": code, "released": released}, lines, as_json)


def _readmit(study: Study, code: str, as_json: bool) -> None:
    from annotate_ui.participants.withdrawal import readmit

    readmit(study, code)
    lines = [
        f"{code} is let in again, and past the training if it was not passed.",
        f"Next: ccrs invite {study.folder} {code} --renew   (the old link may be revoked)",
    ]
    print_result({"rater": code, "readmitted": True}, lines, as_json)
