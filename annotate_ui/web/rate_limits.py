"""How often one may ask. Counts are kept by each process, and end with it."""

from flask import request, session
from flask_limiter import Limiter


def address() -> str:
    """Return the client's address, as the trusted proxies name it."""
    return request.remote_addr or "unknown"


def rater() -> str:
    """Return who is signed in, else the address."""
    signed_in = session.get("rater")
    return address() if signed_in is None else f"rater {signed_in}"


limiter = Limiter(key_func=rater, storage_uri="memory://", default_limits=[])

REFUSED = "/join/refused"
"""Where a link that lets nobody in leads."""

# Counted where a link has failed: whoever has a good one comes in, whatever others try.
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
# What the owner asks for that takes seconds.
computations = limiter.limit("20 per minute", key_func=address)
