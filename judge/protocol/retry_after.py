"""How long a server asks to wait: Retry-After, and what its quota headers say."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a refusal asks to wait; None where it does not say."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after")
    if after is not None:
        seconds = _number(after)
        return seconds if seconds is not None else _until(after)
    return spent_quota(headers)


def spent_quota(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until a quota that is used up is there again; None: none is used up."""
    waits = []
    for name, remaining in headers.items():
        lower = name.lower()
        if "ratelimit" not in lower or "remaining" not in lower or _number(remaining) != 0:
            continue
        reset = headers.get(lower.replace("remaining", "reset"))
        wait = None if reset is None else _duration(reset)
        if wait is not None:
            waits.append(wait)
    return max(waits, default=None)


def _duration(text: str) -> float | None:
    """Return the seconds that "6m0s", "120ms", "1.5", or a moment in time stand for."""
    seconds = _number(text)
    if seconds is not None:
        # Some servers give a moment as seconds since 1970.
        now = datetime.now(UTC).timestamp()
        return max(0.0, seconds - now) if seconds > 1e9 else seconds
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text.strip():
        return sum(float(number) * _UNIT[unit] for number, unit in parts)
    return _until(text)


def _until(text: str) -> float | None:
    try:
        moment = _moment(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def _moment(text: str) -> datetime:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return datetime.fromisoformat(text)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < 1e12 else None
