"""The server that the tests of the bridge speak to, unless they need the real one."""

from typing import Any

import pytest

from tests.annotate_ui.label_studio.fake_server import StandIn, stand_in_for_sdk


@pytest.fixture
def server() -> Any:
    """Return a server in memory."""
    return StandIn()


@pytest.fixture(autouse=True)
def _sdk_or_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_sdk(monkeypatch)
