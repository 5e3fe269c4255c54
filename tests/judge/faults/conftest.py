"""Fixtures of the tests of judging: an endpoint that fails on request, a study to judge."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from study import Study
from tests.judge.faults.faulty_run import copied, make_study
from tests.judge.stub.process import Stub, running_stub


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.engines.openai.endpoint.FIRST_WAIT", 0.02)


@pytest.fixture(scope="session")
def _running_stub() -> Iterator[Stub]:
    with running_stub() as started:
        yield started


@pytest.fixture
def stub(_running_stub: Stub) -> Stub:
    """Return a healthy endpoint with an empty log."""
    _running_stub.behave()
    _running_stub.forget()
    return _running_stub


@pytest.fixture(scope="session")
def _small_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "study"
    make_study(folder)
    return folder


@pytest.fixture
def small_study(_small_study: Path, tmp_path: Path) -> Iterator[Study]:
    """Return a study of `tests.judge.faults.faulty_run.WHOLE` judgments to be made."""
    with copied(_small_study, tmp_path / "study") as opened:
        yield opened
