"""Fixtures of the judge's tests."""

import pytest

from study import Study
from tests.judge.small_studies import Scripted, fill, register


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    """Return a fresh scripted engine, registered as `scripted`."""
    return register(monkeypatch)


@pytest.fixture
def campaign(study: Study) -> Study:
    """Return a study of three queries with four systems each."""
    fill(study)
    return study
