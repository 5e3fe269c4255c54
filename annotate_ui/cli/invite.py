"""The command `ccrs invite`. Only click is imported until it runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from annotate_ui.cli.link_end import UNTIL, in_time
from study.cli.options import AS_JSON, STUDY, print_result
from study.cli.unused_options import Given, unused_if
from study.text import shell_word

if TYPE_CHECKING:
    from annotate_ui.participants.invitation import Invited, RaterLink
    from study.study import Study


_NO_LINKS = ("listing", "revoked", "removed", "readmitted", "rejected", "restored")


def _creates_no_link(given: Given) -> bool:
    return any(given[name] for name in _NO_LINKS)


@click.command()
@STUDY
@click.argument("raters", nargs=-1, metavar="[RATER]...")
@click.option(
    "--new",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Create N raters with links, for open slots: rater-1, rater-2, ...",
)
@click.option("--renew", is_flag=True, help="Replace the live links of the named raters.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write raters and links as CSV to a new file that only you can read.",
)
@UNTIL
@click.option(
    "--list", "listing", is_flag=True, help="Show all raters, their links and when each was used."
)
@click.option(
    "--revoke",
    "revoked",
    multiple=True,
    metavar="RATER",
    help="Revoke a rater's links and end the sessions. Repeatable.",
)
@click.option(
    "--remove",
    "removed",
    multiple=True,
    metavar="RATER",
    help="End a rater's part: links end, unfinished work is released, finished work stays. "
    "Repeatable.",
)
@click.option(
    "--readmit",
    "readmitted",
    multiple=True,
    metavar="RATER",
    help="Readmit a rater who left, was removed or did not pass the training. Repeatable.",
)
@click.option(
    "--reject",
    "rejected",
    metavar="RATER",
    help="Reject a rater's ratings and end their part: values are kept and enter no figure, slots "
    "are released, decided comparisons still count. --item limits it to one response.",
)
@click.option(
    "--restore", "restored", metavar="RATER", help="Take a rejection back; --item as of --reject."
)
@click.option(
    "--item",
    metavar="RESPONSE",
    help="Id of the response whose rating is rejected or restored; the rater goes on.",
)
@AS_JSON
@unused_if(
    "item",
    lambda given: not (given["rejected"] or given["restored"]),
    "nothing is rejected",
    "give --reject or --restore",
)
@unused_if("new", _creates_no_link, "no link is created")
@unused_if("renew", _creates_no_link, "no link is created")
@unused_if("out", _creates_no_link, "no link is created")
@unused_if("until", _creates_no_link, "no link is created")
def invite(
    folder: Path,
    raters: tuple[str, ...],
    new: int | None,
    renew: bool,
    out: Path | None,
    until: datetime | None,
    listing: bool,
    revoked: tuple[str, ...],
    removed: tuple[str, ...],
    readmitted: tuple[str, ...],
    rejected: str | None,
    restored: str | None,
    item: str | None,
    as_json: bool,
) -> None:
    """Create a link to the rating pages for each RATER.

    Without names: for every rater who has assignments and no live link. A link is shown once;
    the database stores only a hash of it. Anyone who has a link can rate as that rater.

    \b
    Examples:
      ccrs invite my-study
      ccrs invite my-study anna ben --out links.csv
      ccrs invite my-study --new 10
      ccrs invite my-study anna --renew --until 2027-06-30
      ccrs invite my-study --list
      ccrs invite my-study --revoke anna
      ccrs invite my-study --remove anna
      ccrs invite my-study --readmit anna
      ccrs invite my-study --reject anna
      ccrs invite my-study --restore anna
    """
    from study.study import Study

    creates_links = bool(raters or new or renew or out or until)
    actions = (listing, revoked, removed, readmitted, rejected, restored, creates_links)
    if sum(map(bool, actions)) > 1:
        raise click.UsageError(
            "--list, --revoke, --remove, --readmit, --reject and --restore can't be combined with "
            "each other or with creating links."
        )
    if renew and not raters:
        raise click.UsageError("--renew needs the names of raters.")
    with Study.open(folder) as study:
        if listing:
            _list(study, as_json)
        elif revoked:
            _revoke(study, revoked, as_json)
        elif removed:
            _remove(study, removed, as_json)
        elif readmitted:
            _readmit(study, readmitted, as_json)
        elif rejected or restored:
            _reject_or_restore(study, rejected, restored or "", item, as_json)
        else:
            _invite(study, raters, new or 0, renew, out, until, as_json)


def _invite(
    study: Study,
    raters: tuple[str, ...],
    new: int,
    renew: bool,
    out: Path | None,
    until: datetime | None,
    as_json: bool,
) -> None:
    from annotate_ui.participants.invitation import invite as make_links, list_links

    invited = make_links(study, raters, new=new, renew=renew, out=out, until=until)
    idle = _idle(study, invited)
    assigned = any(link.assignments for link in list_links(study))
    warnings = _warnings(study, invited, idle)
    rows = [{"rater": link.rater, "assignments": link.assignments} for link in invited]
    lines = []
    if out is not None and invited:
        links = "1 link is" if len(invited) == 1 else f"{len(invited)} links are"
        lines.append(f"{links} in {out}, which only you can read.")
    else:
        rows = [{**row, "link": link.link} for row, link in zip(rows, invited, strict=True)]
        width = max((len(link.rater) for link in invited), default=0)
        lines += [f"{link.rater:<{width}}  {link.link}" for link in invited]
        if invited:
            lines.append(
                "These links are not shown again. Anyone who has a link can rate with "
                f"it{in_time(until)}."
            )
        else:
            lines.append(
                "No link was created: every rater with assignments has a live one."
                if assigned
                else "No link was created: nothing is assigned to a rater yet."
            )
    lines += [f"Warning: {warning}" for warning in warnings]
    assign_first = not assigned if not invited else len(idle) == len(invited)
    lines.append(f"Next: ccrs {'assign' if assign_first else 'serve'} {shell_word(study.folder)}")
    file = None if out is None or not invited else str(out)
    print_result({"links": rows, "file": file, "warnings": warnings}, lines, as_json)


def _idle(study: Study, invited: list[Invited]) -> list[str]:
    """Return the invited raters who have nothing to rate."""
    from annotate_ui.participants.invitation import open_slots

    idle = [link.rater for link in invited if not link.assignments]
    return [] if idle and open_slots(study) else idle


def _warnings(study: Study, invited: list[Invited], idle: list[str]) -> list[str]:
    from annotate_ui.server.sockets import is_local

    warnings = []
    if idle:
        names = ", ".join(idle[:5]) + (f" and {len(idle) - 5} more" if len(idle) > 5 else "")
        warnings.append(
            f"Nothing is assigned to {names}, and there are no open slots; see "
            f"`ccrs assign {shell_word(study.folder)}`."
        )
    base_url = study.config.rating.base_url
    if invited and is_local(base_url):
        warnings.append(
            f"These links open on this computer only ({base_url}). For others, set rating.base_url "
            "in study.toml and invite with --renew."
        )
    return warnings


def _revoke(study: Study, raters: tuple[str, ...], as_json: bool) -> None:
    from annotate_ui.participants.invitation import revoke

    done = revoke(study, *raters)
    lines = [
        f"{rater}: the link is revoked, and its sessions have ended."
        if links
        else f"{rater}: had no live link; nothing was changed."
        for rater, links in done.items()
    ]
    rows = [{"rater": rater, "revoked": links} for rater, links in done.items()]
    print_result(rows, [*lines, f"Next: ccrs invite {shell_word(study.folder)} --list"], as_json)


def _remove(study: Study, raters: tuple[str, ...], as_json: bool) -> None:
    from annotate_ui.participants.withdrawal import leave, rater_key

    with study.read() as connection:
        # All are looked up first, so that a misspelled code removes no rater.
        keys = {code: rater_key(connection, study, code) for code in raters}
    done = {code: leave(study, key, "removed") for code, key in keys.items()}
    lines = [
        f"{code}: removed; finished work stays, {released} unfinished assignments were released."
        if released is not None
        else f"{code}: has left already; nothing was changed."
        for code, released in done.items()
    ]
    rows = [{"rater": code, "released": released} for code, released in done.items()]
    print_result(rows, [*lines, f"Next: ccrs invite {shell_word(study.folder)} --list"], as_json)


def _readmit(study: Study, raters: tuple[str, ...], as_json: bool) -> None:
    from annotate_ui.participants.withdrawal import rater_key, readmit

    with study.read() as connection:
        for code in raters:
            rater_key(connection, study, code)
    codes = list(dict.fromkeys(raters))
    for code in codes:
        readmit(study, code)
    lines = [
        f"{code}: is readmitted, and passes the training if it was not passed." for code in codes
    ]
    lines.append(f"Next: ccrs invite {shell_word(study.folder)} {' '.join(codes)}")
    print_result([{"rater": code} for code in codes], lines, as_json)


def _list(study: Study, as_json: bool) -> None:
    from annotate_ui.participants.invitation import list_links

    links = list_links(study)
    if links and not as_json:
        _print(links)
        return
    lines = ["The study has no rater yet.", f"Next: ccrs assign {shell_word(study.folder)}"]
    print_result([link.as_json() for link in links], lines, as_json)


def _print(links: list[RaterLink]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = Table("rater", "link", "created (UTC)", "first used", box=None, pad_edge=False)
    rows.add_column("assignments", justify="right")
    for link in links:
        ended = "left" if link.left else "ended" if link.made else "none"
        state = f"live{in_time(link.ends)}" if link.live else ended
        made, used = (
            "" if at is None else at.strftime("%Y-%m-%d %H:%M") for at in (link.made, link.used)
        )
        never = "not yet" if link.live and not used else used
        cells = (link.rater, state, made, never, str(link.assignments))
        rows.add_row(*(Text(cell) for cell in cells))
    Console(soft_wrap=True).print(rows)


def _reject_or_restore(
    study: Study, rejected: str | None, restored: str, item: str | None, as_json: bool
) -> None:
    from annotate_ui.participants.rejection import assignment_of, reject, restore
    from annotate_ui.participants.withdrawal import rater_key
    from study.text import counted

    code = restored if rejected is None else rejected
    with study.read() as connection:
        rater = rater_key(connection, study, code)
        one = None if item is None else assignment_of(connection, rater, item)
    done = (restore if rejected is None else reject)(study, rater, one)
    values, slots = counted(done.values, "value"), counted(done.slots, "slot")
    folder = shell_word(study.folder)
    item_option = "" if item is None else f" --item {shell_word(item)}"
    if rejected is None:
        lines = [f"{code}: {values} restored; {slots} of theirs again."]
        lines.append(f"Next: ccrs invite {folder} {shell_word(code)}   (if their link has ended)")
    else:
        lines = [f"{code}: {values} rejected, kept and in no figure; {slots} released for others."]
        lines.append(f"Undo: ccrs invite {folder} --restore {shell_word(code)}{item_option}")
    print_result({"rater": code, "values": done.values, "slots": done.slots}, lines, as_json)
