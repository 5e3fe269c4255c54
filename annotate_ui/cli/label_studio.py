"""The commands `ccrs label-studio push|pull|sync`. Only click is imported until one runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotate_ui.cli.label_studio_output import SHOWN, pulled_lines, pushed_lines
from study.cli.options import AS_JSON, STUDY, print_result

if TYPE_CHECKING:
    from annotate_ui.label_studio.client import Server
    from study.study import Study

_SERVER = (
    click.option(
        "--url",
        metavar="URL",
        help="Address of the server, with its path where it has one; label_studio.url in "
        "study.toml unless given.",
    ),
    click.option(
        "--token-file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="File outside the study with the token; the environment's LABEL_STUDIO_API_KEY "
        "unless given.",
    ),
    click.option(
        "--ca",
        type=click.Path(dir_okay=False, exists=True, path_type=Path),
        metavar="FILE",
        help="Certificates of a private authority (PEM) that the server's is checked against.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(1, 3600),
        default=120.0,
        show_default=True,
        metavar="SECONDS",
        help="How long an answer is waited for.",
    ),
)
_PUSHING = (
    click.option(
        "--title",
        metavar="TEXT",
        help="Name of the projects, of which they bear the first 30 characters; the study's unless "
        "given.",
    ),
)
_PULLING = (
    click.option(
        "--rater",
        "raters",
        multiple=True,
        metavar="USER=CODE",
        help="Which rater a user is, by the user's number over there. Others become ls-NUMBER. "
        "Repeatable.",
    ),
)


def _with(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def added(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return added


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
@STUDY
@_with(*_SERVER, *_PUSHING)
@AS_JSON
def push_command(
    folder: Path,
    url: str | None,
    token_file: Path | None,
    ca: Path | None,
    timeout: float,
    title: str | None,
    as_json: bool,
) -> None:
    """Make the projects and tasks for what is assigned to Label Studio; change nothing rated.

    There is a project for each stage, whose tasks hold only that stage's fields. A stage of a
    query is pushed when its earlier stages are rated and pulled.

    \b
    Examples:
      ccrs label-studio push my-study --url http://127.0.0.1:8080
      ccrs label-studio push my-study --token-file ~/.label-studio-token --ca company.pem
    """
    from annotate_ui.label_studio.push import push
    from study.progress import progress_bar

    with _opened(folder, url, token_file, ca, timeout) as (study, server):
        with progress_bar("Sending tasks", hidden=as_json) as advance:
            done = push(study, server, title=title, progress=advance)
        lines = [*pushed_lines(done), f"Next: ccrs label-studio sync {folder}"]
        print_result(done.as_json(), lines, as_json)


@label_studio.command("pull")
@STUDY
@_with(*_SERVER, *_PULLING)
@AS_JSON
def pull_command(
    folder: Path,
    url: str | None,
    token_file: Path | None,
    ca: Path | None,
    timeout: float,
    raters: tuple[str, ...],
    as_json: bool,
) -> None:
    """Bring the ratings of Label Studio into STUDY: new, edited, skipped and deleted ones.

    What can't be a rating is kept aside with its reason and never counts. Running it again
    changes nothing.

    \b
    Examples:
      ccrs label-studio pull my-study --url http://127.0.0.1:8080
      ccrs label-studio pull my-study --rater 5=anna --rater 6=ben
    """
    from annotate_ui.label_studio.pull import pull
    from study.progress import progress_bar

    people = _people(raters)
    with _opened(folder, url, token_file, ca, timeout) as (study, server):
        with progress_bar("Reading ratings", hidden=as_json) as advance:
            done = pull(study, server, raters=people, meets=_meets, progress=advance)
        print_result(done.as_json(), [*pulled_lines(done), f"Next: ccrs report {folder}"], as_json)


@label_studio.command("sync")
@STUDY
@_with(*_SERVER, *_PUSHING, *_PULLING)
@click.option(
    "--interval",
    type=click.FloatRange(1, 86400),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Pause between two rounds.",
)
@click.option("--rounds", type=click.IntRange(1), metavar="N", help="End after N rounds.")
def sync_command(
    folder: Path,
    url: str | None,
    token_file: Path | None,
    ca: Path | None,
    timeout: float,
    title: str | None,
    raters: tuple[str, ...],
    interval: float,
    rounds: int | None,
) -> None:
    """Pull and push again and again, until Ctrl-C. Interrupted anywhere, it goes on when run again.

    \b
    Examples:
      ccrs label-studio sync my-study --url http://127.0.0.1:8080
      ccrs label-studio sync my-study --interval 300
      ccrs label-studio sync my-study --rounds 1
    """
    from annotate_ui.label_studio.client import ServerError
    from annotate_ui.label_studio.sync import Round, sync, sync_once

    people = _people(raters)
    settings = ""

    def told(done: Round | ServerError) -> None:
        nonlocal settings
        settings = _tell_edits(folder, settings)
        if isinstance(done, ServerError):
            click.echo(f"Waiting: {done}", err=True)
            return
        if done.pulled is not None and done.pulled.anything:
            click.echo("\n".join(pulled_lines(done.pulled)))
        if done.pushed.tasks or done.pushed.adopted or done.pushed.gone or done.pushed.missing:
            click.echo("\n".join(pushed_lines(done.pushed)))

    with _opened(folder, url, token_file, ca, timeout) as (study, server):
        settings = study.config_hash
        try:
            sync(
                lambda: sync_once(study, server, raters=people, meets=_meets, title=title),
                interval,
                told,
                rounds=rounds,
            )
        except KeyboardInterrupt:
            click.echo("Stopped. What was pulled and sent is kept.")
        click.echo(f"Next: ccrs report {folder}")


@contextmanager
def _opened(
    folder: Path,
    url: str | None,
    token_file: Path | None,
    ca: Path | None,
    timeout: float,
) -> Iterator[tuple[Study, Server]]:
    from annotate_ui.label_studio.access_token import read_token
    from annotate_ui.label_studio.client import Server
    from study.study import Study

    # Under the constructs as they are now: whoever edits study.toml meanwhile makes new versions.
    with Study.open(folder).pinned() as study:
        place = url or study.config.label_studio.url
        if place is None:
            raise click.UsageError(
                "Name the server with --url, or set label_studio.url in study.toml."
            )
        token = read_token(study.folder, token_file)
        with Server(place, token, ca=ca, timeout=timeout) as server:
            yield study, server


def _people(raters: tuple[str, ...]) -> dict[int, str]:
    found: dict[int, str] = {}
    for pair in raters:
        user, equals, code = pair.partition("=")
        # No number of a user has more digits than a database's keys.
        if not equals or not re.fullmatch(r"[0-9]{1,18}", user) or not code.strip():
            raise click.UsageError(f"--rater {pair}: write the user's number, as in 5=anna.")
        if found.setdefault(int(user), code.strip()) != code.strip():
            raise click.UsageError(f"--rater {pair}: user {user} is {found[int(user)]} already.")
    return found


def _tell_edits(folder: Path, before: str) -> str:
    """Say once that study.toml was edited since; return its hash by now."""
    from study.errors import StudyError
    from study.settings.study_toml import read_config

    try:
        _, now = read_config(folder / "study.toml")
    except StudyError:
        # It is being edited; what runs has read it before.
        return before
    if now != before:
        click.echo(
            "study.toml was edited. What runs goes on as it began: stop it and run it again.",
            err=True,
        )
    return now


def _meets(users: list[int], here: list[str]) -> None:
    """Ask before people become raters of their own who may be raters already."""
    named = ", ".join(str(user) for user in users)
    known = ", ".join([*here[:SHOWN], *(["..."] if len(here) > SHOWN else [])])
    click.echo(
        f"Warning: users {named} become raters of their own. If one of them is a rater of this "
        f"study already ({known}), say so "
        f"first with --rater {users[0]}=CODE: whoever is two raters stays two.",
        err=True,
    )
    if sys.stdin.isatty():
        click.confirm("Go on?", abort=True, err=True)
