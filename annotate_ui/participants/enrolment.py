"""Joining by an enrolment link: visitors become raters until the quota is met."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, insert, select

from annotate_ui.participants.enrolment_links import (
    LinkState,
    close_link,
    link_behind,
    link_state,
    list_links,
    make_link,
    renew_link,
    state_of,
)
from annotate_ui.participants.invitation import lock_raters, make_raters, personal_link
from annotate_ui.participants.recruiter_ids import (
    form_of,
    has_form,
    is_same_id,
    normalized_id,
    rater_attributes,
)
from annotate_ui.participants.tokens import mark_used, new_token, rater_of_token, was_made
from annotate_ui.participation import paused
from study.errors import StudyError
from study.facts.links import has_ended
from study.schema import now
from study.schema.tables import enrolments
from study.study import Study

__all__ = [
    "Enrolled",
    "EnrolmentRefusedError",
    "LinkState",
    "checked_id",
    "close_link",
    "enrol",
    "joined_by",
    "link_state",
    "list_links",
    "make_link",
    "renew_link",
]

Refused = Literal["unknown", "closed", "paused", "full", "joined", "no_id", "bad_id"]


class EnrolmentRefusedError(StudyError):
    """The enrolment was refused; `reason` identifies why."""

    def __init__(self, reason: Refused, message: str) -> None:
        super().__init__(message)
        self.reason: Refused = reason


@dataclass(frozen=True)
class Enrolled:
    """A rater who joined, with the invitation of the session and the personal link."""

    rater_id: int
    invitation_id: int
    personal_link: str
    """It cannot be shown again."""


def joined_by(connection: Connection, token: str, rater_id: int) -> tuple[bool, str | None]:
    """Whether a rater joined by the link behind a token, and under which external id."""
    link = link_behind(connection, token)
    if link is None:
        return False, None
    row = connection.execute(
        select(enrolments.c.external_id).where(
            enrolments.c.rater_id == rater_id, enrolments.c.link_id == link.id
        )
    ).one_or_none()
    return (False, None) if row is None else (True, row.external_id)


def enrol(
    study: Study,
    token: str,
    external_id: str | None = None,
    *,
    personal_token: str | None = None,
) -> Enrolled:
    """Add a rater who joins by the token of an enrolment link.

    Parameters
    ----------
    study
        The study that they join.
    token
        The last part of the link's address.
    external_id
        The recruiter's id of the person, see `recruiter_ids`. It gives no access: an id that has
        joined already, in other letters or not, is refused.
    personal_token
        The secret of the personal link, 256 random bits; default: a new one. A second request
        with the same secret returns the same rater, so that a form that is sent twice adds one
        rater.

    Raises
    ------
    EnrolmentRefusedError
        The link is unknown or closed, the campaign is paused, the quota is met, no open slot is
        left, or the id has joined already, is not valid, or has not the form that the link asks
        for.
    """
    external_id = checked_id(external_id)
    with study.write() as connection:
        # One at a time, so that the counts stay correct until the rater is stored.
        lock_raters(connection)
        link = link_behind(connection, token)
        if link is None:
            raise EnrolmentRefusedError("unknown", "No enrolment link has this token.")
        if personal_token is not None and was_made(connection, personal_token):
            return _enrolled(connection, study, personal_token)
        if has_ended(link.closed_at):
            raise EnrolmentRefusedError("closed", f"The enrolment link {link.name!r} is closed.")
        if paused(connection) is not None:
            raise EnrolmentRefusedError("paused", "The campaign is paused; no one can join now.")
        _check_form(external_id, form_of(link.attributes))
        if external_id is not None and _has_joined(connection, external_id):
            raise EnrolmentRefusedError("joined", "This id has joined the study already.")
        state = state_of(connection, study.config, link)
        if not state.open:
            raise EnrolmentRefusedError("full", f"The quota of {link.name!r} is met.")
        if not state.admits:
            raise EnrolmentRefusedError(
                "full", f"No open slot is left for raters who join by {link.name!r}."
            )
        ((_, rater_id),) = make_raters(connection, 1, rater_attributes(link.attributes))
        connection.execute(
            insert(enrolments).values(
                link_id=link.id, rater_id=rater_id, external_id=external_id, created_at=now()
            )
        )
        made = new_token(connection, rater_id, personal_token)
        enrolled = _enrolled(connection, study, made)
        # Enrolling starts a session at once.
        mark_used(connection, enrolled.invitation_id)
        return enrolled


def _has_joined(connection: Connection, external_id: str) -> bool:
    """Return whether an id has joined by any link: a person who is recruited twice is one rater."""
    known = select(enrolments.c.external_id).where(enrolments.c.external_id.is_not(None))
    return any(is_same_id(id_, external_id) for id_ in connection.execute(known).scalars())


def _check_form(external_id: str | None, form: str | None) -> None:
    """Refuse an id without the form that a link asks for, with EnrolmentRefusedError."""
    if not has_form(external_id, form):
        found = "no id" if external_id is None else f"the id {external_id!r}"
        raise EnrolmentRefusedError(
            "no_id" if external_id is None else "bad_id",
            f"The enrolment link asks for an id like {form}; {found} came with it.",
        )


def _enrolled(connection: Connection, study: Study, personal_token: str) -> Enrolled:
    rater = rater_of_token(connection, personal_token)
    if rater is None:
        raise EnrolmentRefusedError("joined", "The personal link of this rater was revoked.")
    return Enrolled(*rater, personal_link(study, personal_token))


def checked_id(external_id: str | None) -> str | None:
    """Return an external id in the form in which it is stored; None for an empty one.

    Raises
    ------
    EnrolmentRefusedError
        It is too long, can't be stored, or is a placeholder that a recruiter did not fill in.
    """
    try:
        return normalized_id(external_id)
    except ValueError as error:
        raise EnrolmentRefusedError("bad_id", str(error)) from None
