"""The command `ccrs enrol`. Only click is imported until it runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from annotate_ui.cli.link_end import UNTIL, in_time
from study.cli.options import AS_JSON, STUDY, print_result
from study.cli.unused_options import unused_if
from study.text import shell_word

if TYPE_CHECKING:
    from annotate_ui.participants.enrolment import LinkState
    from study.study import Study


_OF_NEW_LINKS = "it is for a new link", "name a new link"


@click.command()
@STUDY
@click.argument("name", required=False)
@click.option(
    "--quota",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Number of raters who may join by the link. Raters who leave without a finished response "
    "are not counted.",
)
@click.option(
    "--queries",
    type=click.IntRange(1),
    metavar="K",
    help="Maximum number of queries for each of them; by default no limit.",
)
@click.option(
    "--languages",
    metavar="CODES",
    help="Languages of their queries, as in de,en; by default all.",
)
@click.option(
    "--require-id",
    metavar="PATTERN",
    help="Nobody can join without a recruiter's id that matches this regular expression as a "
    "whole, in any case; prolific is the pattern of Prolific's ids.",
)
@UNTIL
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="Show the links and the number of raters who joined by each.",
)
@click.option(
    "--close", "closed", metavar="NAME", help="Close this link: no more raters can join by it."
)
@click.option(
    "--renew",
    "renewed",
    metavar="NAME",
    help="Create a new address for this link; the old one ends, and a closed link opens again.",
)
@AS_JSON
@unused_if("quota", lambda given: given["name"] is None, *_OF_NEW_LINKS)
@unused_if("queries", lambda given: given["name"] is None, *_OF_NEW_LINKS)
@unused_if("languages", lambda given: given["name"] is None, *_OF_NEW_LINKS)
@unused_if("require_id", lambda given: given["name"] is None, *_OF_NEW_LINKS)
@unused_if(
    "until",
    lambda given: given["name"] is None and not given["renewed"],
    "no address is created",
    "name a new link or --renew one",
)
def enrol(
    folder: Path,
    name: str | None,
    quota: int | None,
    queries: int | None,
    languages: str | None,
    require_id: str | None,
    until: datetime | None,
    listing: bool,
    closed: str | None,
    renewed: str | None,
    as_json: bool,
) -> None:
    """Create one link by which raters join STUDY, up to a quota.

    NAME is your name for the link; raters do not see it. Its address is shown once: the database
    stores only a hash of it. Recruiters add the participant's id to it, as in
    ?PROLIFIC_PID={{%PROLIFIC_PID%}}; external_id, workerId and participant are accepted, too.

    \b
    Examples:
      ccrs enrol my-study spring --quota 30
      ccrs enrol my-study spring-de --quota 30 --queries 12 --languages de,en
      ccrs enrol my-study summer --quota 30 --until 2027-06-30
      ccrs enrol my-study prolific --quota 30 --require-id prolific
      ccrs enrol my-study --list
      ccrs enrol my-study --close spring
      ccrs enrol my-study --renew spring
    """
    from study.study import Study

    is_new = name is not None
    if listing + (closed is not None) + (renewed is not None) + is_new != 1:
        raise click.UsageError("Give the NAME of a new link, or one of --list, --close, --renew.")
    if is_new and quota is None:
        raise click.UsageError("Give both NAME and --quota, the number of raters who may join.")
    with Study.open(folder) as study:
        if listing:
            _list(study, as_json)
        elif closed is not None:
            _close(study, closed, as_json)
        elif renewed is not None:
            _renew(study, renewed, until, as_json)
        else:
            _create(study, str(name), quota or 0, queries, languages, require_id, until, as_json)


def _create(
    study: Study,
    name: str,
    quota: int,
    queries: int | None,
    languages: str | None,
    require_id: str | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    from annotate_ui.participants.enrolment import make_link
    from annotate_ui.participants.recruiter_ids import form_of

    codes = [] if languages is None else languages.split(",")
    link, url = make_link(study, name, quota, queries, codes, until, require_id)
    people = "1 person" if quota == 1 else f"{quota} people"
    limit = "queries without a limit" if queries is None else f"at most {queries} queries each"
    named = ", ".join(link.attributes.get("languages", ())) or "all languages"
    form = form_of(link.attributes)
    ids = "" if form is None else f"; with an id like {form}"
    lines = [url, f"{link.name}: {people} may join{in_time(until)}; {limit}; {named}{ids}."]
    data = {
        "name": link.name,
        "quota": quota,
        "queries_each": queries,
        "languages": link.attributes.get("languages", []),
        "id_form": form,
        "until": None if until is None else until.isoformat(),
    }
    _show(study, url, data, lines, as_json)


def _renew(study: Study, name: str, until: datetime | None, as_json: bool) -> None:
    from annotate_ui.participants.enrolment import renew_link

    url = renew_link(study, name, until)
    lines = [url, f"{name}: the old address has ended; raters who joined by it continue."]
    _show(study, url, {"name": name}, lines, as_json)


def _show(study: Study, url: str, data: dict[str, object], lines: list[str], as_json: bool) -> None:
    """Print an address that is shown once, with warnings and the next command."""
    from annotate_ui.participants.enrolment import list_links
    from annotate_ui.participants.invitation import more_slots
    from annotate_ui.server.sockets import is_local

    slots = next(link.free_slots for link in list_links(study) if link.name == data["name"]) or 0
    lines.append("This address is not shown again. Anyone who has it can join.")
    warnings = []
    following = f"ccrs serve {shell_word(study.folder)}"
    if not slots:
        following = more_slots(study)
        warnings.append(
            "There are no open slots for this link, so raters who join have nothing to rate; "
            f"`{following}` creates slots."
        )
    base_url = study.config.rating.base_url
    if is_local(base_url):
        warnings.append(
            f"This link opens on this computer only ({base_url}). For others, set rating.base_url "
            "in study.toml and create a new address with --renew."
        )
    lines += [f"Warning: {warning}" for warning in warnings]
    lines.append(f"Next: {following}")
    print_result({**data, "link": url, "open_slots": slots, "warnings": warnings}, lines, as_json)


def _close(study: Study, name: str, as_json: bool) -> None:
    from annotate_ui.participants.enrolment import close_link

    was_open = close_link(study, name)
    line = (
        f"{name} is closed; raters who joined by it continue."
        if was_open
        else f"{name} was closed already; nothing was changed."
    )
    lines = [line, f"Next: ccrs enrol {shell_word(study.folder)} --list"]
    print_result({"name": name, "closed": was_open}, lines, as_json)


def _list(study: Study, as_json: bool) -> None:
    from annotate_ui.participants.enrolment import list_links

    links = list_links(study)
    if links and not as_json:
        _print(links)
        return
    lines = [
        "The study has no enrolment link yet.",
        f"Next: ccrs enrol {shell_word(study.folder)} NAME --quota N",
    ]
    print_result([link.as_json() for link in links], lines, as_json)


def _print(links: list[LinkState]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = Table("link", "state", "created (UTC)", box=None, pad_edge=False)
    for heading in ("joined", "counted", "slots\nleft", "queries\neach"):
        rows.add_column(heading, justify="right")
    rows.add_column("languages")
    asks = any(link.id_form for link in links)
    if asks:
        rows.add_column("id", no_wrap=True)
    for link in links:
        state = f"open{in_time(link.ends)}" if link.open else "closed" if link.closed else "full"
        queries = "all" if link.queries_each is None else str(link.queries_each)
        cells = [link.name, state, link.made.strftime("%Y-%m-%d %H:%M"), str(link.joined)]
        slots = "" if link.free_slots is None else str(link.free_slots)
        cells += [f"{link.counted}/{link.quota}", slots, queries]
        cells.append(", ".join(link.languages) or "all")
        cells += [link.id_form or "any"] if asks else []
        rows.add_row(*(Text(cell) for cell in cells))
    Console(soft_wrap=True).print(rows)
