"""Personal links of raters: creating, listing and revoking them."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select

from annotate_ui.participants.tokens import new_token, revoke_tokens
from study.assignment.existing_assignments import existing_assignments, further_slots
from study.errors import StudyError, nearest
from study.facts.departures import departures
from study.facts.links import has_ended, is_live_link
from study.facts.scorers import scorer_names
from study.facts.slots import OWN_CHANNEL, is_live, is_open
from study.lifecycle.new_file import new_file
from study.schema import RaterBase, random_id
from study.schema.tables import assignments as assignment_table, invitations, raters
from study.study import Study
from study.text import escape_formula

_NEW = "rater-"
_MOST_NEW = 1000


@dataclass(frozen=True)
class Invited:
    """A rater and their personal link, which cannot be shown again."""

    rater: str
    link: str
    assignments: int
    """Number of the rater's live assignments; 0: they can only take open slots."""


@dataclass(frozen=True)
class RaterLink:
    """The state of a rater's newest link."""

    rater: str
    live: bool
    made: datetime | None
    """UTC; null: the rater never had a link."""
    used: datetime | None
    """When the link was first used; null: not yet."""
    assignments: int
    left: bool = False
    """They withdrew or were removed, and their links ended with that."""
    ends: datetime | None = None
    """UTC; when the link ended or will end; null: not by itself, or they never had one."""

    def as_json(self) -> dict[str, Any]:
        """Return the link as JSON values."""
        made, used, ends = (
            None if at is None else at.isoformat() for at in (self.made, self.used, self.ends)
        )
        return {
            "rater": self.rater,
            "live": self.live,
            "made": made,
            "used": used,
            "assignments": self.assignments,
            "left": self.left,
            "ends": ends,
        }


def invite(
    study: Study,
    codes: Iterable[str] = (),
    *,
    new: int = 0,
    renew: bool = False,
    out: Path | None = None,
    until: datetime | None = None,
) -> list[Invited]:
    """Create a link for each of these raters, and for `new` raters who are added.

    Without codes and without `new`: for every rater who has assignments and no live link.
    `renew` revokes the live links that the named raters have. With `out` the links are written
    to that file (CSV, readable by its owner only) before they become live, so that each live link
    is known to the owner. A link is valid `until` a moment, and so are the sessions that are begun
    with it; None: until it is revoked.

    Raises
    ------
    StudyError
        A rater is unknown or has a live link already, the file cannot be written, or `until` is
        not in the future. No link is created.

    Examples
    --------
    >>> invite(study, ["anna"])[0].link  # doctest: +SKIP
    'http://127.0.0.1:8350/join#vJ7...'
    """
    codes = list(dict.fromkeys(codes))
    check_end(until)
    if renew and not codes:
        raise StudyError("Name the raters whose links are to be renewed; others keep theirs.")
    if not 0 <= new <= _MOST_NEW:
        raise StudyError(f"{new} new raters: create 1 to {_MOST_NEW} at a time.")
    written = False
    try:
        with study.write() as connection:
            lock_raters(connection)
            raters = _raters(connection)
            gone = departures(connection)
            if codes or new:
                chosen = [_known(raters, code, study) for code in codes]
                _refuse_departed(chosen, gone, study)
            else:
                here = [rater for rater in raters.values() if rater.id not in gone]
                chosen = [r for r in here if r.assignments and not r.links]
            _revoke_or_refuse(connection, chosen, renew, study)
            chosen += [_Rater(key, code, 0, 0) for code, key in make_raters(connection, new)]
            invited = [
                Invited(
                    rater.code,
                    make_personal_link(connection, study, rater.id, until),
                    rater.assignments,
                )
                for rater in chosen
            ]
            if out is not None and invited:
                write_links(out, [(person.rater, person.link) for person in invited], study.folder)
                written = True
    except BaseException:
        # Only a file that was written here is removed.
        if written and out is not None:
            out.unlink(missing_ok=True)
        raise
    return invited


def revoke(study: Study, *codes: str) -> dict[str, int]:
    """Revoke the links of these raters; return for each how many were live.

    Sessions that were begun with a link end with it. Ratings stay as they are.

    Raises
    ------
    StudyError
        A rater is unknown. No link is revoked.
    """
    with study.write() as connection:
        raters = _raters(connection)
        chosen = [_known(raters, code, study) for code in dict.fromkeys(codes)]
        return {rater.code: revoke_tokens(connection, rater.id) for rater in chosen}


def list_links(study: Study) -> list[RaterLink]:
    """Return each rater with what is known of their newest link, in order of their codes."""
    with study.read() as connection:
        raters = _raters(connection)
        newest = {
            row.rater_id: row
            for row in connection.execute(select(invitations).order_by(invitations.c.id))
        }
        gone = departures(connection)
    return [
        RaterLink(
            rater.code,
            rater.links > 0,
            newest[rater.id].created_at if rater.id in newest else None,
            newest[rater.id].used_at if rater.id in newest else None,
            rater.assignments,
            rater.id in gone,
            newest[rater.id].revoked_at if rater.id in newest else None,
        )
        for rater in raters.values()
    ]


def open_slots(study: Study) -> int:
    """Return the number of open slots on these pages."""
    waiting = select(func.count()).where(is_open(), assignment_table.c.channel == OWN_CHANNEL)
    with study.read() as connection:
        return int(connection.execute(waiting).scalar_one())


def more_slots(study: Study) -> str:
    """Return the command that creates open slots where there are none."""
    with study.read() as connection:
        return further_slots(study.folder, existing_assignments(connection, study.config))


@dataclass(frozen=True)
class _Rater:
    id: int
    code: str
    assignments: int
    links: int
    """Live ones."""


def _raters(connection: Connection) -> dict[str, _Rater]:
    """Return every rater by code."""
    rows = connection.execute(
        select(assignment_table.c.rater_id, func.count())
        .where(assignment_table.c.channel == OWN_CHANNEL, is_live())
        .group_by(assignment_table.c.rater_id)
    )
    assignments = {rater: int(number) for rater, number in rows}
    rows = connection.execute(
        select(invitations.c.rater_id, func.count())
        .where(is_live_link())
        .group_by(invitations.c.rater_id)
    )
    links = {rater: int(number) for rater, number in rows}
    everybody = connection.execute(select(raters.c.id, raters.c.code)).all()
    return {
        row.code: _Rater(row.id, row.code, assignments.get(row.id, 0), links.get(row.id, 0))
        for row in sorted(everybody, key=lambda row: _by_number(row.code))
    }


def _by_number(code: str) -> tuple[str, int, str]:
    """Return a key that puts rater-2 before rater-10."""
    name = code.rstrip("0123456789")
    return name, int(code[len(name) :] or 0), code


def _known(raters: dict[str, _Rater], code: str, study: Study) -> _Rater:
    if code in raters:
        return raters[code]
    if not raters:
        raise StudyError(
            f"{code!r} is not a rater of {study.folder}, which has none yet. Assign responses to "
            f"raters with `ccrs assign {study.folder}`, or create raters with --new N."
        )
    hint = nearest(code, raters) or f"`ccrs invite {study.folder} --list` shows the raters."
    raise StudyError(f"{code!r} is not a rater of {study.folder}. {hint}")


def _refuse_departed(chosen: Iterable[_Rater], gone: Mapping[int, str], study: Study) -> None:
    having_left = [rater.code for rater in chosen if rater.id in gone]
    if having_left:
        raise StudyError(
            f"{', '.join(map(repr, having_left))} left the study; readmit them first with "
            f"`ccrs invite {study.folder} --readmit {having_left[0]}`."
        )


def _revoke_or_refuse(
    connection: Connection, chosen: Iterable[_Rater], renew: bool, study: Study
) -> None:
    having = [rater for rater in chosen if rater.links]
    if having and not renew:
        names = ", ".join(repr(rater.code) for rater in having)
        raise StudyError(
            f"{names}: there is a live link already, and it can't be shown again. --renew makes "
            "another and ends the old one at once; "
            f"`ccrs invite {study.folder} --list` shows who has a link."
        )
    for rater in having:
        revoke_tokens(connection, rater.id)


def make_raters(
    connection: Connection, count: int, attributes: Mapping[str, Any] | None = None
) -> list[tuple[str, int]]:
    """Add raters rater-1, rater-2, ..., continuing after the highest existing number.

    The caller has called `lock_raters`. Return their codes and database keys.
    """
    # Imported scorers with such a name are other people.
    taken = scorer_names(connection)
    numbers = [code.removeprefix(_NEW) for code in taken if code.startswith(_NEW)]
    highest = max((int(n) for n in numbers if n.isascii() and n.isdecimal()), default=0)
    made = []
    for number in range(highest + 1, highest + 1 + count):
        noun = RaterBase.model_validate(
            {"code": f"{_NEW}{number}", "attributes": dict(attributes or {})}
        )
        row = (
            insert(raters).values(**noun.model_dump(), public_id=random_id()).returning(raters.c.id)
        )
        made.append((noun.code, int(connection.execute(row).scalar_one())))
    return made


def check_end(until: datetime | None) -> None:
    """Refuse an end of a link that is reached already.

    Raises
    ------
    StudyError
        The moment is not in the future.
    """
    if has_ended(until):
        assert until is not None  # noqa: S101
        raise StudyError(
            f"A link that ends on {until:%Y-%m-%d %H:%M} UTC, which is past, lets nobody in; give "
            "a later moment."
        )


def make_personal_link(
    connection: Connection, study: Study, rater_id: int, until: datetime | None = None
) -> str:
    """Return a new link that lets this rater in from now on, until a moment if there is one."""
    return personal_link(study, new_token(connection, rater_id, until=until))


def personal_link(study: Study, token: str) -> str:
    """Return the personal link with this token."""
    # The fragment of an address reaches no server, no proxy's log and no Referer header.
    return f"{study.config.rating.base_url.rstrip('/')}/join#{token}"


def lock_raters(connection: Connection) -> None:
    """Serialize adding and inviting raters until the transaction ends."""
    # SQLite has a single writer anyway. Saving ratings does not take this lock.
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE rater IN SHARE ROW EXCLUSIVE MODE")


def write_links(path: Path, links: Iterable[tuple[str, str]], study_folder: Path) -> None:
    """Write raters and links as CSV to a new file that only its owner can read.

    Raises
    ------
    StudyError
        The file exists, cannot be written, or is inside the study's folder.
    """
    with new_file(path, study_folder) as part, part.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["rater", "link"])
        rows.writerows([escape_formula(rater), link] for rater, link in links)
