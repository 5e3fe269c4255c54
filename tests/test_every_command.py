"""Every command does its work when it is started as a person starts it, by the console script."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_cases import CASES, INPUT, commands, make_folder
from tests.judge.stub.process import running_stub

SCRIPT = Path(sys.executable).with_name("ccrs")
#: Commands that need a server of Label Studio are started in
#: tests/annotate_ui/label_studio/real/test_commands.py, those that last until Ctrl-C below.
ELSEWHERE = {name for name in CASES if name.startswith("label-studio ")} | {"serve"}
#: Commands of which the data set lies beside the project.
NEEDS_DATA = {"fetch"}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with running_stub() as started:
        yield started.base_url


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, endpoint: str) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_folder(folder, endpoint)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder, of which a command may change everything."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Path(shutil.copytree(made, tmp_path / "work"))


def test_every_command_has_a_case() -> None:
    assert sorted(CASES) == sorted(commands())
    assert all(words.startswith(f"{name} ") or words == name for name, words in CASES.items())


@pytest.mark.parametrize("name", sorted(CASES.keys() - ELSEWHERE - NEEDS_DATA))
def test_the_command_does_its_work(name: str, folder: Path, endpoint: str) -> None:
    started(name, folder, stub=endpoint)


def test_a_data_set_is_fetched_from_a_folder(folder: Path, shared_data: Path) -> None:
    started("fetch", folder, data=str(shared_data))


def started(name: str, folder: Path, **places: str) -> None:
    """Run the case of a command; nothing goes wrong, and it says what it did."""
    done = subprocess.run(
        [SCRIPT, *CASES[name].format(**places).split()],
        cwd=folder,
        input=INPUT.get(name, ""),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout.strip()


def test_the_rating_pages_are_served_until_the_end(folder: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [SCRIPT, *CASES["serve"].split()],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Stop with"):
                break
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert any("http://" in line for line in lines), lines
    assert "Traceback" not in output + errors
