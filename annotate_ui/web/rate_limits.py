"""Rate limits. Each process counts for itself."""

from flask import Response, request, session
from flask_limiter import Limiter


def address() -> str:
    """Return the client's address, as the trusted proxies name it."""
    return request.remote_addr or "unknown"


def rater() -> str:
    """Return the rater who is signed in, else the address."""
    signed_in = session.get("rater")
    return address() if signed_in is None else f"rater {signed_in}"


limiter = Limiter(key_func=rater, storage_uri="memory://", default_limits=[])

REFUSED = "/join/refused"
"""The page to which an invalid link leads."""

# Only failed links count: a valid one works, whatever others at the address try.
failed_links = limiter.limit(
    "10 per minute; 100 per hour",
    key_func=address,
)
# Several times what the quickest rater needs.
saves = limiter.limit("300 per minute")
openings = limiter.limit("120 per minute")
unfoldings = limiter.limit("1000 per minute")
# A class behind one address may enrol at once.
enrolments = limiter.limit("30 per minute; 300 per hour", key_func=address)


def _wrong_password(response: Response) -> bool:
    return response.status_code == FORBIDDEN


FORBIDDEN = 403
"""The answer to a wrong password."""
# Only wrong passwords count, but once the limit is reached a right one is refused as well: else
# the limit would not slow down a search.
log_ins = limiter.limit("5 per minute; 30 per hour", key_func=address, deduct_when=_wrong_password)
# From however many addresses: a password of 12 characters withstands centuries of this.
all_log_ins = limiter.limit("100 per hour", key_func=lambda: "owner", deduct_when=_wrong_password)
# What the owner asks for that takes seconds.
computations = limiter.limit("20 per minute", key_func=address)
