"""The command `ccrs enrol`. Only click is imported until it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from study.cli.options import AS_JSON, STUDY, print_result

if TYPE_CHECKING:
    from annotate_ui.participants.enrolment import LinkState
    from study.study import Study


@click.command()
@STUDY
@click.argument("name", required=False)
@click.option(
    "--quota",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Raters who may join by the link; who leaves without a finished response is not counted.",
)
@click.option(
    "--queries",
    type=click.IntRange(1),
    metavar="K",
    help="Queries that each of them is handed at most; as many as there are unless given.",
)
@click.option(
    "--languages",
    metavar="CODES",
    help="Languages of the queries that they are given, as in de,en; all unless given.",
)
@click.option("--list", "listing", is_flag=True, help="Show the links and how many joined by each.")
@click.option("--close", "closed", metavar="NAME", help="Let nobody join by this link any more.")
@click.option(
    "--renew",
    "renewed",
    metavar="NAME",
    help="Make a new address for this link; the old one ends, and a closed link opens again.",
)
@AS_JSON
def enrol(
    folder: Path,
    name: str | None,
    quota: int | None,
    queries: int | None,
    languages: str | None,
    listing: bool,
    closed: str | None,
    renewed: str | None,
    as_json: bool,
) -> None:
    """Create one link by which raters join STUDY, up to a quota.

    NAME is what you call the link; nobody else sees it. Its address is shown once: the database
    keeps only a hash of it. Recruiters add the participant's id to it, as in
    ?PROLIFIC_PID={{%PROLIFIC_PID%}}; external_id, workerId and participant are understood, too.

    \b
    Examples:
      ccrs enrol my-study spring --quota 30
      ccrs enrol my-study spring-de --quota 30 --queries 12 --languages de,en
      ccrs enrol my-study --list
      ccrs enrol my-study --close spring
      ccrs enrol my-study --renew spring
    """
    from study.study import Study

    making = name is not None
    if listing + (closed is not None) + (renewed is not None) + making != 1:
        raise click.UsageError("Give the NAME of a new link, or one of --list, --close, --renew.")
    if making != (quota is not None):
        raise click.UsageError("NAME and --quota go together: how many may join by the link?")
    if not making and (queries is not None or languages is not None):
        raise click.UsageError("--queries and --languages are for a new link.")
    with Study.open(folder) as study:
        if listing:
            _list(study, as_json)
        elif closed is not None:
            _close(study, closed, as_json)
        elif renewed is not None:
            _renew(study, renewed, as_json)
        else:
            _make(study, str(name), quota or 0, queries, languages, as_json)


def _make(
    study: Study,
    name: str,
    quota: int,
    queries: int | None,
    languages: str | None,
    as_json: bool,
) -> None:
    from annotate_ui.participants.enrolment import make_link

    codes = [] if languages is None else languages.split(",")
    link, url = make_link(study, name, quota, queries, codes)
    bounds = "queries without a bound" if queries is None else f"{queries} queries each at most"
    spoken = ", ".join(link.attributes.get("languages", ())) or "all languages"
    lines = [url, f"{link.name}: {_people(quota)} may join; {bounds}; {spoken}."]
    data = {
        "name": link.name,
        "quota": quota,
        "queries_each": queries,
        "languages": link.attributes.get("languages", []),
    }
    _show(study, url, data, lines, as_json)


def _renew(study: Study, name: str, as_json: bool) -> None:
    from annotate_ui.participants.enrolment import renew_link

    url = renew_link(study, name)
    lines = [url, f"{name}: the address of before has ended; who joined by it goes on."]
    _show(study, url, {"name": name}, lines, as_json)


def _show(study: Study, url: str, data: dict[str, object], lines: list[str], as_json: bool) -> None:
    """Print an address that is shown once, with what the owner must know of it."""
    from annotate_ui.participants.invitation import open_slots

    slots = open_slots(study)
    lines.append("This address is not shown again. Whoever has it can join.")
    warnings = []
    if not slots:
        warnings.append(
            "No slot is open, so whoever joins has nothing to rate; `ccrs assign` makes slots "
            "with --open."
        )
    warnings += _on_this_computer(study)
    lines += [f"Warning: {warning}" for warning in warnings]
    following = f"serve {study.folder}" if slots else f"assign {study.folder} --open"
    lines.append(f"Next: ccrs {following}")
    print_result({**data, "link": url, "open_slots": slots, "warnings": warnings}, lines, as_json)


def _on_this_computer(study: Study) -> list[str]:
    from urllib.parse import urlsplit

    from annotate_ui.server.sockets import is_loopback

    base = study.config.rating.base_url
    if not is_loopback(urlsplit(base).hostname or ""):
        return []
    return [
        f"This link opens on this computer only ({base}). For others, set rating.base_url in "
        "study.toml and make a new address with --renew."
    ]


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count} people"


def _close(study: Study, name: str, as_json: bool) -> None:
    from annotate_ui.participants.enrolment import close_link

    was_open = close_link(study, name)
    line = (
        f"{name} is closed; who joined by it goes on."
        if was_open
        else f"{name} was closed already; nothing was changed."
    )
    lines = [line, f"Next: ccrs enrol {study.folder} --list"]
    print_result({"name": name, "closed": was_open}, lines, as_json)


def _list(study: Study, as_json: bool) -> None:
    from annotate_ui.participants.enrolment import list_links

    found = list_links(study)
    if found and not as_json:
        _print(found)
        return
    lines = [
        "The study has no enrolment link yet.",
        f"Next: ccrs enrol {study.folder} NAME --quota N",
    ]
    print_result([link.as_json() for link in found], lines, as_json)


def _print(found: list[LinkState]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = Table("link", "state", "made (UTC)", box=None, pad_edge=False)
    for heading in ("joined", "counted", "quota", "queries each"):
        rows.add_column(heading, justify="right")
    rows.add_column("languages")
    for link in found:
        state = "open" if link.open else "full" if link.closed is None else "closed"
        queries = "all" if link.queries_each is None else str(link.queries_each)
        cells = (link.name, state, link.made.strftime("%Y-%m-%d %H:%M"), str(link.joined))
        more = (str(link.counted), str(link.quota), queries, ", ".join(link.languages) or "all")
        rows.add_row(*(Text(cell) for cell in (*cells, *more)))
    Console(soft_wrap=True).print(rows)
