"""What stands behind a link's token.

A token is 256 random bits, shown once. The database keeps its SHA-256, which is of no use to
whoever reads it: so many bits can't be guessed from their hash.
"""

import secrets
from hashlib import sha256

from sqlalchemy import Connection, insert, select, update

from study.schema import Invitation, now, table


def new_token(connection: Connection, rater_id: int, token: str | None = None) -> str:
    """Return a new token that lets a rater in from now on: this one, or a random one."""
    token = token or secrets.token_urlsafe(32)
    connection.execute(
        insert(table(Invitation)).values(
            rater_id=rater_id, token_hash=hash_token(token), created_at=now()
        )
    )
    return token


def rater_of_token(connection: Connection, token: str) -> tuple[int, int] | None:
    """Return the ids of rater and invitation behind a token; None if it lets nobody in."""
    t = table(Invitation)
    row = connection.execute(
        select(t.c.rater_id, t.c.id).where(
            t.c.token_hash == hash_token(token), t.c.revoked_at.is_(None)
        )
    ).first()
    return None if row is None else (row.rater_id, row.id)


def was_made(connection: Connection, token: str) -> bool:
    """Say whether a token ever let somebody in, revoked or not."""
    t = table(Invitation)
    made = select(t.c.id).where(t.c.token_hash == hash_token(token))
    return connection.execute(made).first() is not None


def mark_used(connection: Connection, invitation_id: int) -> None:
    """Note when an invitation was first used."""
    t = table(Invitation)
    connection.execute(
        update(t).where(t.c.id == invitation_id, t.c.used_at.is_(None)).values(used_at=now())
    )


def revoke_tokens(connection: Connection, rater_id: int) -> int:
    """Let none of a rater's tokens in any more; return how many did until now."""
    t = table(Invitation)
    done = connection.execute(
        update(t).where(t.c.rater_id == rater_id, t.c.revoked_at.is_(None)).values(revoked_at=now())
    )
    return int(done.rowcount)


def hash_token(token: str) -> bytes:
    """Return the SHA-256 of a token, under which it is stored."""
    # Whatever a stranger sends is hashed; half a surrogate pair is no reason to fail.
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
