"""Fixtures of the judge's tests."""

import pytest

from study import Study
from tests.judge.small_studies import Scripted, fill


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    """Return a fresh scripted engine that every run takes."""
    fresh = type("Fresh", (Scripted,), {"asked": []})
    for module in ("judge.running.runner", "judge.running.probe_run"):
        monkeypatch.setattr(f"{module}.load_engine", {"openai": fresh}.__getitem__)
    return fresh


@pytest.fixture
def campaign(study: Study) -> Study:
    """Return a study of three queries with four systems each."""
    fill(study)
    return study
