"""The command `ccrs pause`. Only click is imported until it runs."""

from pathlib import Path

import click

from study.cli.options import AS_JSON, STUDY, print_result


@click.command()
@STUDY
@click.option("--message", metavar="TEXT", help="What raters are told meanwhile.")
@click.option("--resume", "taking_up", is_flag=True, help="Take the campaign up again.")
@AS_JSON
def pause(folder: Path, message: str | None, taking_up: bool, as_json: bool) -> None:
    """Pause or resume the rating of STUDY.

    While it is paused nothing new is opened for raters; what they have open can be saved. A
    server that runs needs no restart.

    \b
    Examples:
      ccrs pause my-study --message "Back on Monday."
      ccrs pause my-study --resume
    """
    from annotate_ui.participation import pause as pause_study, resume
    from study.study import Study

    if taking_up and message is not None:
        raise click.UsageError("--message is for raters who wait; it does not go with --resume.")
    with Study.open(folder) as study:
        if taking_up:
            resume(study)
            lines = ["The campaign goes on.", f"Next: ccrs watch {folder}"]
        else:
            pause_study(study, message or "")
            lines = [
                "The campaign is paused: nothing new is opened; what is open can be saved.",
                f"Next: ccrs pause {folder} --resume",
            ]
    print_result(
        {"paused": not taking_up, "message": None if taking_up else message}, lines, as_json
    )
