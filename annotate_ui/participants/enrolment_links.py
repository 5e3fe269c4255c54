"""Enrolment links: creating, renewing, closing, and counting who joined."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, insert, select, update

from annotate_ui.participants.consent import declined
from annotate_ui.participants.free_slots import free_by_link
from annotate_ui.participants.invitation import check_end, lock_raters
from annotate_ui.participants.recruiter_ids import checked_form, form_of, with_form
from annotate_ui.participants.tokens import hash_token
from study.errors import StudyError, nearest
from study.facts.departures import departures
from study.facts.links import has_ended
from study.facts.ratings import finished_assignments
from study.schema import EnrolmentLink, EnrolmentLinkBase, now
from study.schema.tables import assignments, enrolment_links, enrolments
from study.settings.rating import LANGUAGE_TAG
from study.settings.study_toml import StudyConfig
from study.study import Study

MOST_RATERS = 100_000


@dataclass(frozen=True)
class LinkState:
    """An enrolment link and how many raters joined by it."""

    name: str
    quota: int
    joined: int
    """All raters who joined by it."""
    counted: int
    """Those who count: without raters who declined or left before finishing a response."""
    queries_each: int | None
    languages: tuple[str, ...]
    id_form: str | None
    """What a recruiter's id must look like; None: any, and none is needed."""
    made: datetime
    ends: datetime | None
    """When it was closed, or ends by itself."""
    free_slots: int | None
    """Slots that its raters can still take; None: none was ever created for them."""

    @property
    def closed(self) -> bool:
        """Whether it was closed or has ended."""
        return has_ended(self.ends)

    @property
    def open(self) -> bool:
        """Whether raters can still join by it."""
        return not self.closed and self.counted < self.quota

    @property
    def admits(self) -> bool:
        """Whether raters can still join, and find work that is left."""
        return self.open and self.free_slots != 0

    def as_json(self) -> dict[str, Any]:
        """Return the link as JSON values."""
        return {
            "name": self.name,
            "quota": self.quota,
            "joined": self.joined,
            "counted": self.counted,
            "queries_each": self.queries_each,
            "languages": list(self.languages),
            "id_form": self.id_form,
            "made": self.made.isoformat(),
            "ends": None if self.ends is None else self.ends.isoformat(),
            "closed": self.closed,
            "open": self.open,
            "free_slots": self.free_slots,
        }


def make_link(
    study: Study,
    name: str,
    quota: int,
    queries_each: int | None = None,
    languages: Iterable[str] = (),
    until: datetime | None = None,
    id_form: str | None = None,
) -> tuple[EnrolmentLink, str]:
    """Create a link by which up to `quota` people may join; return it with its address.

    Parameters
    ----------
    study
        The study that they join.
    name
        The owner's name for the link; raters do not see it.
    quota
        Raters who may join. Raters who leave without a finished response do not count.
    queries_each
        Queries that each of them is handed at most; None: as many as there are.
    languages
        Languages of the queries that they are given; none: all.
    until
        Nobody can join from this moment on; None: until it is closed.
    id_form
        A regular expression that the whole of a recruiter's id must match, in any case, or the
        name of a recruiter (`recruiter_ids.FORMS`); None: people may join without an id.

    Raises
    ------
    StudyError
        The name exists already, the name, a number, a language or the form of ids is not valid, or
        `until` is not in the future.
    """
    check_end(until)
    codes = _languages(languages)
    form = None if id_form is None else checked_form(id_form)
    try:
        noun = EnrolmentLinkBase.model_validate(
            {
                "name": name,
                "quota": quota,
                "queries_each": queries_each,
                "attributes": with_form({"languages": codes} if codes else {}, form),
            }
        )
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        problem = fault["msg"].removeprefix("Value error, ")
        raise StudyError(f"Enrolment link: {fault['loc'][0]}: {problem}.") from None
    if quota > MOST_RATERS:
        raise StudyError(f"Enrolment link: a quota of {quota}; the maximum is {MOST_RATERS}.")
    token = secrets.token_urlsafe(32)
    with study.write() as connection:
        lock_raters(connection)
        if (
            connection.execute(
                select(enrolment_links.c.id).where(enrolment_links.c.name == noun.name)
            ).first()
            is not None
        ):
            raise StudyError(
                f"{study.folder} has an enrolment link {noun.name!r} already. Choose another "
                f"name, or make a new address for it with --renew {noun.name}."
            )
        values = noun.model_dump() | {
            "token_hash": hash_token(token), "created_at": now(), "closed_at": until,
        }  # fmt: skip
        key = connection.execute(
            insert(enrolment_links).values(**values).returning(enrolment_links.c.id)
        ).scalar_one()
    return EnrolmentLink(id=key, **values), _address(study, token)


def renew_link(study: Study, name: str, until: datetime | None = None) -> str:
    """Replace the address of a link and return the new one. A closed link opens again.

    Raises
    ------
    StudyError
        The link does not exist, or `until` is not in the future.
    """
    check_end(until)
    token = secrets.token_urlsafe(32)
    with study.write() as connection:
        key = _named(connection, study, name).id
        connection.execute(
            update(enrolment_links)
            .where(enrolment_links.c.id == key)
            .values(token_hash=hash_token(token), closed_at=until)
        )
    return _address(study, token)


def close_link(study: Study, name: str) -> bool:
    """Close a link to new raters; return whether it was open.

    Raters who joined by it can continue.

    Raises
    ------
    StudyError
        The link does not exist.
    """
    with study.write() as connection:
        lock_raters(connection)
        link = _named(connection, study, name)
        if has_ended(link.closed_at):
            return False
        connection.execute(
            update(enrolment_links).where(enrolment_links.c.id == link.id).values(closed_at=now())
        )
        return True


def list_links(study: Study) -> list[LinkState]:
    """Return every enrolment link with how many joined by it, oldest first."""
    with study.read() as connection:
        links = connection.execute(select(enrolment_links).order_by(enrolment_links.c.id)).all()
        return [state_of(connection, study.config, link) for link in links]


def link_state(connection: Connection, config: StudyConfig, token: str) -> LinkState | None:
    """Return the link behind a token, open or not; None: it does not exist."""
    link = link_behind(connection, token)
    return None if link is None else state_of(connection, config, link)


def link_behind(connection: Connection, token: str) -> Row[Any] | None:
    """Return the stored link behind a token; None: it does not exist."""
    return connection.execute(
        select(enrolment_links).where(enrolment_links.c.token_hash == hash_token(token))
    ).one_or_none()


def state_of(connection: Connection, config: StudyConfig, link: Row[Any]) -> LinkState:
    """Return a stored link with how many raters joined by it."""
    joined = set(
        connection.execute(
            select(enrolments.c.rater_id).where(enrolments.c.link_id == link.id)
        ).scalars()
    )
    gone = set(departures(connection, joined)) | declined(connection, joined)
    finishers = set()
    if gone:
        theirs = assignments.c.rater_id.in_(gone) & (assignments.c.purpose != "training")
        done = finished_assignments(connection, config, theirs)
        rows = connection.execute(select(assignments.c.id, assignments.c.rater_id).where(theirs))
        finishers = {row.rater_id for row in rows if row.id in done}
    return LinkState(
        name=link.name,
        quota=link.quota,
        joined=len(joined),
        counted=len(joined - (gone - finishers)),
        queries_each=link.queries_each,
        languages=tuple(link.attributes.get("languages", ())),
        id_form=form_of(link.attributes),
        made=link.created_at,
        ends=link.closed_at,
        free_slots=free_by_link(connection)[link.id],
    )


def _named(connection: Connection, study: Study, name: str) -> Row[Any]:
    links = {row.name: row for row in connection.execute(select(enrolment_links))}
    if name in links:
        return links[name]
    hint = nearest(name, links) or f"`ccrs enrol {study.folder} --list` shows them."
    raise StudyError(f"{name!r} is not an enrolment link of {study.folder}. {hint}")


def _languages(languages: Iterable[str]) -> list[str]:
    codes = [code.strip() for code in languages]
    for code in codes:
        if not re.fullmatch(LANGUAGE_TAG, code):
            raise StudyError(
                f"{code!r} is not a language code. Use codes as in HTML, such as --languages de,en."
            )
    return list(dict.fromkeys(codes))


def _address(study: Study, token: str) -> str:
    return f"{study.config.rating.base_url.rstrip('/')}/enrol/{token}"
