"""The password of the owner's pages: one for a study, kept as a scrypt hash."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select
from werkzeug.security import check_password_hash, generate_password_hash

from study.errors import StudyError
from study.schema import OwnerPassword, now, table
from study.study import Study

__all__ = ["LEAST", "MOST", "Password", "is_right", "newest_password", "set_password", "where_told"]

LEAST, MOST = 12, 1000
"""Characters of a password. Hashing a longer one would be work for nothing."""


@dataclass(frozen=True)
class Password:
    """The password that holds; its id is known to the sessions begun with it."""

    id: int
    hash: str
    made: datetime


def set_password(study: Study, password: str) -> None:
    """Make this the password of the owner's pages; sessions under an earlier one end.

    Raises
    ------
    StudyError
        The password is too short, too long, or one character over and over.
    """
    if not LEAST <= len(password) <= MOST:
        raise StudyError(
            f"The password has {len(password)} characters; give {LEAST} to {MOST}. A few random "
            "words are long enough, and easy to type."
        )
    if len(set(password)) < 4:
        raise StudyError("The password is a few characters over and over; choose another.")
    if "\x00" in password:
        raise StudyError("The password holds a NUL character; type it anew.")
    try:
        hashed = generate_password_hash(password, method="scrypt")
    except UnicodeEncodeError:
        raise StudyError("The password holds half of a surrogate pair; type it anew.") from None
    with study.write() as connection:
        connection.execute(
            insert(table(OwnerPassword)).values(password_hash=hashed, created_at=now())
        )


def newest_password(connection: Connection) -> Password | None:
    """Return the password that holds; None: the owner's pages do not exist."""
    t = table(OwnerPassword)
    row = connection.execute(select(t).order_by(t.c.id.desc()).limit(1)).one_or_none()
    return None if row is None else Password(row.id, row.password_hash, row.created_at)


def is_right(password: Password, given: str) -> bool:
    """Say whether this is the password, in a time that does not tell how much of it is right."""
    # What can't be the password is hashed all the same: an answer in no time would say so.
    known = given[: MOST + 1].encode("utf-8", "replace").decode("utf-8")
    # To the hash, NUL characters at the end are none at all.
    known = known.replace("\x00", "\ufffd")
    return check_password_hash(password.hash, known)


def where_told(study: Study) -> str:
    """Return the address of the owner's pages, or the command that sets a password for them."""
    with study.read() as connection:
        there = newest_password(connection) is not None
    if not there:
        return f"There are no owner's pages; `ccrs owner-password {study.folder}` opens them."
    return f"The owner's pages: {study.config.rating.base_url.rstrip('/')}/owner"
