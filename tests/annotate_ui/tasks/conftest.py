"""What the tests of the work share."""

import pytest

from tests.annotate_ui.faked_clock import Clock, fake_clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a clock that the test sets."""
    return fake_clock(monkeypatch)
