"""Fixtures of the judge's tests."""

import pytest

from judge.engines.engine import Engine, load_engine
from study import Study
from tests.judge.small_studies import Scripted, fill


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    """Return a fresh scripted engine, registered as `scripted`."""
    fresh = type("Fresh", (Scripted,), {"asked": []})

    def load(name: str) -> type[Engine]:
        return fresh if name == "scripted" else load_engine(name)

    for module in ("engines.engine", "running.session", "running.probe_run", "running.pair_run"):
        monkeypatch.setattr(f"judge.{module}.load_engine", load)
    return fresh


@pytest.fixture
def campaign(study: Study) -> Study:
    """Return a study of three queries with four systems each."""
    fill(study)
    return study
