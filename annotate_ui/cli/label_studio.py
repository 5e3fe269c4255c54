"""The commands `ccrs label-studio push|pull|sync|follow`. Only click is imported until one runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

import click

from annotate_ui.cli.label_studio_output import (
    SHOWN,
    followed_lines,
    pulled_lines,
    pushed_lines,
    stated_lines,
)
from annotate_ui.cli.label_studio_server import ServerPlace, reaches_server
from study.cli.export_options import ExportNames, reads_export
from study.cli.options import AS_JSON, print_result, progress
from study.cli.unused_options import Given, unused_if
from study.text import shell_word

_TITLE = click.option(
    "--title",
    metavar="TEXT",
    help="Name of the projects, shortened to 30 characters. Default: the study's name.",
)
_RATER = click.option(
    "--rater",
    "raters",
    multiple=True,
    metavar="USER=CODE",
    help="The rater that a user is, by the user's number in Label Studio. Other users become "
    "ls-NUMBER. Repeatable.",
)

#: Seconds between two rounds.
PAUSE = 60.0

# Not an error: the same command can be repeated until everything is sent.
_NO_TITLE = "--title had no effect: no project was created."

_OF_A_PROJECT = "it is stored with the project that it is for", "name that with --project"


def _names_no_project(given: Given) -> bool:
    return given["number"] is None


@click.group()
def label_studio() -> None:
    """Rate in Label Studio instead of on the rating pages.

    \b
    Examples:
      ccrs assign my-study --open --per-item 2 --channel label_studio
      ccrs label-studio push my-study --url http://127.0.0.1:8080
      ccrs label-studio sync my-study --url http://127.0.0.1:8080
    """


@label_studio.command("push")
@reaches_server
@_TITLE
@click.option(
    "--items",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Instead, create projects of the responses of a CSV file with the columns construct and "
    "response_id, such as tables/largest-disagreements.csv of a report. Its other columns become "
    "fields of the tasks, by which the Data Manager filters and sorts.",
)
@AS_JSON
def push_command(place: ServerPlace, title: str | None, items: Path | None, as_json: bool) -> None:
    """Create projects and tasks of STUDY in Label Studio.

    Slots that are assigned to Label Studio get tasks; rated tasks stay as they are. There is a
    project for each stage, whose tasks contain only the fields of that stage. A stage of a query is
    pushed once its earlier stages are rated and pulled.

    \b
    Examples:
      ccrs label-studio push my-study --url http://127.0.0.1:8080
      ccrs label-studio push my-study --token-file ~/.label-studio-token
      ccrs label-studio push my-study --items largest-disagreements.csv
    """
    from annotate_ui.label_studio.push import push, push_stated

    with place.opened() as (study, server):
        if items is not None:
            stated = push_stated(study, server, items, title=title)
            follow = [shell_word(place.folder), *place.needed_options(study, server)]
            result = {"server": server.url, "projects": [asdict(project) for project in stated]}
            lines = stated_lines(stated, " ".join(follow))
            if title is not None and not any(project.is_new for project in stated):
                lines.insert(0, _NO_TITLE)
            print_result(result, lines, as_json)
            return
        with progress("Sending tasks", hidden=as_json) as advance:
            done = push(study, server, title=title, progress=advance)
        lines = pushed_lines(done)
        if title is not None and not any(project.is_new for project in done.projects):
            lines.append(_NO_TITLE)
        again = place.needed_options(study, server)
        next_step = " ".join(["ccrs label-studio sync", shell_word(place.folder), *again])
        print_result(done.as_json(), [*lines, f"Next: {next_step}"], as_json)


@label_studio.command("pull")
@reaches_server
@_RATER
@AS_JSON
def pull_command(place: ServerPlace, raters: tuple[str, ...], as_json: bool) -> None:
    """Store the ratings of Label Studio in STUDY.

    New, edited, skipped and deleted ratings are recorded. Values that cannot be ratings are
    rejected: stored with their reason, and never counted. Repeating the command changes nothing.

    \b
    Examples:
      ccrs label-studio pull my-study --url http://127.0.0.1:8080
      ccrs label-studio pull my-study --rater 5=anna --rater 6=ben
    """
    from annotate_ui.label_studio.pull import pull

    people = _codes(raters)
    with place.opened() as (study, server):
        with progress("Reading ratings", hidden=as_json) as advance:
            done = pull(
                study,
                server,
                raters=people,
                confirm_new_raters=_confirm_new_raters,
                progress=advance,
            )
        lines = [*pulled_lines(done), f"Next: ccrs report {shell_word(place.folder)}"]
        print_result(done.as_json(), lines, as_json)


@label_studio.command("sync")
@reaches_server
@_TITLE
@_RATER
@click.option("--rounds", type=click.IntRange(1), metavar="N", help="End after N rounds.")
def sync_command(
    place: ServerPlace,
    title: str | None,
    raters: tuple[str, ...],
    rounds: int | None,
) -> None:
    """Pull and push for STUDY every minute, until Ctrl-C.

    An interrupted command can be repeated at any time.

    \b
    Examples:
      ccrs label-studio sync my-study --url http://127.0.0.1:8080
      ccrs label-studio sync my-study --rounds 1
    """
    from annotate_ui.label_studio.projects import stored_projects
    from annotate_ui.label_studio.pull import pull
    from annotate_ui.label_studio.push import push

    people = _codes(raters)
    with place.opened() as (study, server):
        settings = study.config_hash

        def round_once() -> list[str]:
            """Pull, then push: the ratings that were pulled open the next stage of their query."""
            nonlocal settings
            shown = []
            with study.read() as connection:
                projects = stored_projects(connection)
            if projects:
                pulled = pull(study, server, raters=people, confirm_new_raters=_confirm_new_raters)
                shown += pulled_lines(pulled) if pulled.stored_anything else []
            pushed = push(study, server, title=title)
            if pushed.tasks or pushed.deleted or pushed.missing_projects:
                shown += pushed_lines(pushed)
            settings = _report_edits(place.folder, settings)
            return shown

        _repeat(round_once, rounds=rounds)
        click.echo(f"Next: ccrs report {shell_word(place.folder)}")


@label_studio.command("follow")
@reaches_server
@click.option(
    "--project",
    "number",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="A project to follow, by the number in its address. Default: those that are followed.",
)
@reads_export
@click.option("--watch", is_flag=True, help="Pull every minute, until Ctrl-C.")
@AS_JSON
@unused_if("controls", _names_no_project, *_OF_A_PROJECT)
@unused_if("ranges", _names_no_project, *_OF_A_PROJECT)
@unused_if("values", _names_no_project, *_OF_A_PROJECT)
@unused_if("columns", _names_no_project, *_OF_A_PROJECT)
@unused_if("annotations", _names_no_project, *_OF_A_PROJECT)
def follow_command(
    place: ServerPlace,
    number: int | None,
    names: ExportNames,
    watch: bool,
    as_json: bool,
) -> None:
    """Import projects into STUDY that were made in Label Studio, as they grow.

    A project is read as `ccrs import` reads its export, and its answers replace those that it
    brought before: edited values are changed, and those of deleted annotations go. Options are
    stored with the project and needed only once.

    \b
    Examples:
      ccrs label-studio follow my-study --project 12 --control quality=AC --scale quality=1:5
      ccrs label-studio follow my-study --project 13 --control better=AC --column model=system
      ccrs label-studio follow my-study --watch
    """
    from annotate_ui.label_studio.follow import FollowOptions, follow
    from annotate_ui.label_studio.results import Followed
    from study.errors import InputError

    named = names.read()
    people = named.pop("raters")
    left_out = tuple(int(user) for user, code in people.items() if not code)
    options = FollowOptions(**named, users_left_out=left_out)
    if number is None and left_out:
        raise click.UsageError("Name the project that --rater USER= is for with --project.")
    codes = {int(user): code for user, code in people.items() if code}
    with place.opened() as (study, server):

        def pull_followed(*project: Any) -> Followed:
            return follow(
                study, server, *project, raters=codes, confirm_new_raters=_confirm_new_raters
            )

        done = pull_followed(number, options)
        next_step = [] if watch else [f"Next: ccrs report {shell_word(place.folder)}"]
        print_result(done.as_json(), [*followed_lines(done), *next_step], as_json)
        if watch:

            def round_once() -> list[str]:
                done = pull_followed()
                return followed_lines(done) if done.stored_anything else []

            _repeat(round_once, waits_for=(InputError,))


def _repeat(
    run_round: Callable[[], list[str]],
    *,
    rounds: int | None = None,
    waits_for: tuple[type[Exception], ...] = (),
) -> None:
    """Run rounds at an interval until interrupted, or so many, and print the lines about each.

    A server that cannot be reached is reported and tried again in the next round, and so are errors
    of the kinds `waits_for`.
    """
    from annotate_ui.label_studio.client import ServerError
    from study.errors import StudyError

    try:
        for done in count(1):
            try:
                shown = run_round()
            except StudyError as error:
                is_temporary = isinstance(error, ServerError) and error.is_temporary
                if not (is_temporary or isinstance(error, waits_for)):
                    raise
                click.echo(f"Waiting: {error}", err=True)
            else:
                if shown:
                    click.echo("\n".join(shown))
            if done == rounds:
                return
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        click.echo("Stopped. Everything that was pulled and sent is stored.")


def _codes(raters: tuple[str, ...]) -> dict[int, str]:
    from study.cli import import_options

    people = import_options.unique_by_name("--rater", raters, import_options.user)
    for user, code in people.items():
        if not code:
            raise click.UsageError(f"--rater {user}=: write the rater's code, as in 5=anna.")
    return {int(user): code for user, code in people.items()}


def _report_edits(folder: Path, before: str) -> str:
    """Report once that study.toml was edited; return its current hash."""
    from study.errors import StudyError
    from study.settings.study_toml import read_config

    try:
        _, now = read_config(folder / "study.toml")
    except StudyError:
        # It is being edited.
        return before
    if now != before:
        click.echo(
            "study.toml was edited. This command still uses its earlier version: restart it.",
            err=True,
        )
    return now


def _confirm_new_raters(users: list[int], codes: list[str]) -> None:
    """Ask before users become new raters who may already be raters of the study."""
    named = ", ".join(str(user) for user in users)
    listed = ", ".join([*codes[:SHOWN], *(["..."] if len(codes) > SHOWN else [])])
    click.echo(
        f"Warning: users {named} become new raters. If one of them is already a rater of this "
        f"study ({listed}), name the rater with --rater {users[0]}=CODE: two raters cannot be "
        "merged later.",
        err=True,
    )
    if sys.stdin.isatty():
        click.confirm("Continue?", abort=True, err=True)
