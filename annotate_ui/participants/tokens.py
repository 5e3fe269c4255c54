"""The tokens of personal links.

A token is 256 random bits, shown once. The database stores its SHA-256, from which a token of
this length cannot be guessed.
"""

import secrets
from datetime import datetime
from hashlib import sha256

from sqlalchemy import Connection, insert, select, update

from study.facts.links import is_live_link
from study.schema import now
from study.schema.tables import invitations


def new_token(
    connection: Connection, rater_id: int, token: str | None = None, until: datetime | None = None
) -> str:
    """Store and return a token for a rater: the given one, or a random one.

    It lets nobody in from `until` on.
    """
    token = token or secrets.token_urlsafe(32)
    connection.execute(
        insert(invitations).values(
            rater_id=rater_id,
            token_hash=hash_token(token),
            created_at=now(),
            revoked_at=until,
        )
    )
    return token


def rater_of_token(connection: Connection, token: str) -> tuple[int, int] | None:
    """Return the ids of rater and invitation behind a token; None: it is unknown or has ended."""
    row = connection.execute(
        select(invitations.c.rater_id, invitations.c.id).where(
            invitations.c.token_hash == hash_token(token), is_live_link()
        )
    ).first()
    return None if row is None else (row.rater_id, row.id)


def was_made(connection: Connection, token: str) -> bool:
    """Whether a token was ever created, revoked or not."""
    made = select(invitations.c.id).where(invitations.c.token_hash == hash_token(token))
    return connection.execute(made).first() is not None


def mark_used(connection: Connection, invitation_id: int) -> None:
    """Record the first use of an invitation."""
    connection.execute(
        update(invitations)
        .where(invitations.c.id == invitation_id, invitations.c.used_at.is_(None))
        .values(used_at=now())
    )


def revoke_tokens(connection: Connection, rater_id: int) -> int:
    """Revoke all tokens of a rater; return how many were live."""
    done = connection.execute(
        update(invitations)
        .where(invitations.c.rater_id == rater_id, is_live_link())
        .values(revoked_at=now())
    )
    return int(done.rowcount)


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a token, under which it is stored."""
    # Visitors may send anything; lone surrogates must not raise an error.
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
