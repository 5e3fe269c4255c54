"""Fixtures of the judge's tests."""

import pytest

from study import Study
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.small_studies import Scripted, fill, register


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    """Return a fresh scripted engine, registered as `scripted`."""
    return register(monkeypatch)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> ScriptedEncoder:
    """Return the encoder that a run gets whatever it names."""
    made = ScriptedEncoder()
    monkeypatch.setattr("judge.running.unprompted_metrics.load_encoder", lambda _: made)
    return made


@pytest.fixture
def campaign(study: Study) -> Study:
    """Return a study of three queries with four systems each."""
    fill(study)
    return study
