"""The command `ccrs pause`. Only click is imported until it runs."""

from pathlib import Path

import click

from study.cli.options import AS_JSON, STUDY, print_result
from study.cli.unused_options import unused_if
from study.text import shell_word


@click.command()
@STUDY
@click.option("--message", metavar="TEXT", help="Message to raters while the campaign is paused.")
@click.option("--resume", "resuming", is_flag=True, help="Resume the campaign.")
@AS_JSON
@unused_if("message", lambda given: given["resuming"], "it is shown while a campaign is paused")
def pause(folder: Path, message: str | None, resuming: bool, as_json: bool) -> None:
    """Pause or resume the rating of STUDY.

    While it is paused, nothing new is opened for raters; open pages can be saved. A running server
    needs no restart.

    \b
    Examples:
      ccrs pause my-study --message "Back on Monday."
      ccrs pause my-study --resume
    """
    from annotate_ui.participation import pause as pause_study, resume
    from study.study import Study

    with Study.open(folder) as study:
        if resuming:
            resume(study)
            lines = ["The campaign is resumed.", f"Next: ccrs watch {shell_word(folder)}"]
        else:
            pause_study(study, message or "")
            lines = [
                "The campaign is paused: nothing new is opened; open pages can be saved.",
                f"Next: ccrs pause {shell_word(folder)} --resume",
            ]
    print_result({"paused": not resuming, "message": None if resuming else message}, lines, as_json)
