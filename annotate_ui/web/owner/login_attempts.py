"""How often a password may be tried: by address, and by all together."""

from limits import parse_many
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from annotate_ui.web.rate_limits import address

# Counts are kept by each process, and end with it.
_BY_ADDRESS = parse_many("5 per minute; 30 per hour")
# From however many addresses: a password of 12 characters withstands centuries of this.
_BY_ALL = parse_many("100 per hour")
_limits = FixedWindowRateLimiter(MemoryStorage())


def may_try() -> bool:
    """Say whether another attempt is taken, right or wrong, from this address."""
    return all(_limits.test(limit, "owner", address()) for limit in _BY_ADDRESS) and all(
        _limits.test(limit, "owner") for limit in _BY_ALL
    )


def failed() -> None:
    """Count an attempt that failed."""
    for limit in _BY_ADDRESS:
        _limits.hit(limit, "owner", address())
    for limit in _BY_ALL:
        _limits.hit(limit, "owner")


def forget() -> None:
    """Begin to count anew."""
    _limits.storage.reset()
