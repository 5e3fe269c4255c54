"""Rate limits. Each process counts for itself."""

from flask import request, session
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
# Every attempt counts, before its password is hashed: if only those that failed did, guesses that
# are sent at once would all be evaluated before the first of them counts.
log_ins = limiter.limit("5 per minute; 30 per hour", key_func=address)
# From however many addresses: a password of 12 characters withstands centuries of this.
all_log_ins = limiter.limit("100 per hour", key_func=lambda: "owner")
# What the owner asks for that takes seconds.
computations = limiter.limit("20 per minute", key_func=address)
