"""The owner's session: who signed in when, under which password.

It lies in the same signed cookie as a rater's session, and the two exclude each other: to begin
one ends the other.
"""

import time
from typing import Any

from flask import session
from flask_wtf.csrf import generate_csrf

IDLE = 30 * 60
"""Seconds without a page until a session ends."""
LONGEST = 12 * 60 * 60
"""Seconds from signing in until a session ends in any case."""
_KEY = "owner"
# The cookie is not set anew with every page.
_NOTED_EVERY = 60
# A clock that is set back by more has no say in how long a session lasts.
_BACK = 60


def begin(password_id: int) -> None:
    """Begin a session under a password; a rater's session in the same browser ends."""
    session.clear()
    moment = _moment()
    # Gone with the browser, at the latest.
    session.permanent = False
    session[_KEY] = {"password": password_id, "began": moment, "seen": moment}
    generate_csrf()


def holds(password_id: int) -> bool:
    """Say whether there is a session under this password that is not over."""
    found = _found()
    if found is None or "rater" in session:
        return False
    moment = _moment()
    return (
        found["password"] == password_id
        and -_BACK <= moment - found["began"] <= LONGEST
        and -_BACK <= moment - found["seen"] <= IDLE
    )


def go_on() -> None:
    """Note that the owner is there."""
    found = _found()
    moment = _moment()
    if found is not None and moment - found["seen"] >= _NOTED_EVERY:
        session[_KEY] = {**found, "seen": moment}


def end() -> bool:
    """End the owner's session; say whether there was one."""
    if _found() is None:
        return False
    session.clear()
    return True


def _found() -> dict[str, int] | None:
    found: Any = session.get(_KEY)
    names = {"password", "began", "seen"}
    if not isinstance(found, dict) or found.keys() != names:
        return None
    return found if all(isinstance(one, int) for one in found.values()) else None


def _moment() -> int:
    return int(time.time())
