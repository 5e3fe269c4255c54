"""A clock that tests set: every time that is stored or compared is read from it."""

from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from study.schema import base


class Clock:
    """The present moment, until it is set forward or back."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def forward(self, **parts: float) -> None:
        """Let time pass; less than nothing sets the clock back."""
        self.at += timedelta(**parts)


def fake_clock(patch: pytest.MonkeyPatch) -> Clock:
    """Return a clock that is the study's from now on."""
    clock = Clock()

    class Faked(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return clock.at.astimezone(tz)

    patch.setattr(base, "datetime", Faked)
    return clock
