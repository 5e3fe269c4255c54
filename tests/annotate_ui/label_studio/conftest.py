"""The server that the tests of the bridge speak to, unless they need the real one."""

from pathlib import Path
from typing import Any

import pytest

from tests.annotate_ui.label_studio.fake_server import StandIn


@pytest.fixture
def server() -> Any:
    """Return a server in memory."""
    return StandIn()


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what the erasure of a rater remembers outside of the study in the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
