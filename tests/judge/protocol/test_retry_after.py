from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from judge.protocol.chat_completion import asked_wait, spent_quota


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "Sat, 21 Nov 2026 07:00:00 +999999"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"}, 62.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "9s"}, None),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "4"}, 4),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "later"}, None),
    ],
)
def test_what_a_server_asks(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers) == seconds


def test_moments_are_waited_for() -> None:
    later = datetime.now(UTC) + timedelta(seconds=30)
    assert asked_wait({"retry-after": format_datetime(later, usegmt=True)}) == pytest.approx(
        30, abs=2
    )
    past = datetime.now(UTC) - timedelta(seconds=30)
    assert asked_wait({"retry-after": format_datetime(past, usegmt=True)}) == 0
    for form in (later.isoformat(), str(later.timestamp())):
        headers = {"anthropic-ratelimit-requests-remaining": "0"}
        headers["anthropic-ratelimit-requests-reset"] = form
        assert spent_quota(headers) == pytest.approx(30, abs=2)
