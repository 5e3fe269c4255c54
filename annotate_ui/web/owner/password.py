"""The password of the owner's pages: one for a study, stored as a scrypt hash."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select
from werkzeug.security import check_password_hash, generate_password_hash

from study.errors import StudyError
from study.schema import now
from study.schema.tables import owner_passwords
from study.study import Study

__all__ = [
    "LEAST",
    "MOST",
    "Password",
    "is_right",
    "newest_password",
    "owner_pages_line",
    "set_password",
]

LEAST, MOST = 12, 1000
"""Characters of a password. Hashing a longer one would be work for nothing."""


@dataclass(frozen=True)
class Password:
    """The current password; sessions store the id of the password they began under."""

    id: int
    hash: str
    created_at: datetime


def set_password(study: Study, password: str) -> None:
    """Make this the password of the owner's pages; sessions under an earlier one end.

    Raises
    ------
    StudyError
        The password is too short, too long, or a few characters repeated.
    """
    if not LEAST <= len(password) <= MOST:
        raise StudyError(
            f"The password has {len(password)} characters; give {LEAST} to {MOST}. A few random "
            "words are long enough, and easy to type."
        )
    if len(set(password)) < 4:
        raise StudyError("The password repeats a few characters; choose another.")
    if "\x00" in password:
        raise StudyError("The password contains a NUL character; type it again.")
    try:
        hashed = generate_password_hash(password, method="scrypt")
    except UnicodeEncodeError:
        raise StudyError("The password contains half of a surrogate pair; type it again.") from None
    with study.write() as connection:
        connection.execute(insert(owner_passwords).values(password_hash=hashed, created_at=now()))


def newest_password(connection: Connection) -> Password | None:
    """Return the current password; without one the owner's pages do not exist."""
    row = connection.execute(
        select(owner_passwords).order_by(owner_passwords.c.id.desc()).limit(1)
    ).one_or_none()
    return None if row is None else Password(row.id, row.password_hash, row.created_at)


def is_right(password: Password, entered: str) -> bool:
    """Return whether this is the password, in a time that does not depend on the text entered."""
    # A text that can't be the password is hashed all the same, so that it takes as long.
    text = entered[: MOST + 1].encode("utf-8", "replace").decode("utf-8")
    # The hash ignores NUL characters at the end.
    text = text.replace("\x00", "\ufffd")
    return check_password_hash(password.hash, text)


def owner_pages_line(study: Study) -> str:
    """Return the address of the owner's pages, or the command that sets a password for them."""
    with study.read() as connection:
        has_password = newest_password(connection) is not None
    if not has_password:
        return f"The owner's pages need a password: `ccrs owner-password {study.folder}` sets it."
    return f"The owner's pages: {study.config.rating.base_url.rstrip('/')}/owner"
