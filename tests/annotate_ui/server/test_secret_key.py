"""The secret: outside the study, readable by its owner only, and one however many processes ask."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from annotate_ui.server.secret_key import LENGTH, secret_key, secret_place
from study import StudyError

RACE = (
    "import sys, time; from pathlib import Path; "
    "from annotate_ui.server.secret_key import secret_key; "
    "time.sleep(max(0, float(sys.argv[2]) - time.time())); "
    "print(secret_key(Path(sys.argv[1])).hex())"
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a state folder that the tests have for themselves."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "study"
    made.mkdir()
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_secret_is_made_once_and_closed_to_others(folder: Path, state: Path) -> None:
    before = os.umask(0)
    try:
        secret = secret_key(folder)
    finally:
        os.umask(before)
    assert len(secret) == LENGTH
    assert secret_key(folder) == secret
    place = secret_place(folder)
    assert place.parent == state / "ccrs-study" / "secrets"
    assert mode(place) == 0o600
    assert mode(place.parent) == 0o700
    assert list(place.parent.iterdir()) == [place], "no draft is left behind"
    assert list(folder.iterdir()) == []


def test_each_study_has_its_own_however_it_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "other").mkdir()
    assert secret_key(tmp_path / "link") == secret_key(folder)
    assert secret_key(tmp_path / "other" / ".." / "study") == secret_key(folder)
    assert secret_key(tmp_path / "other") != secret_key(folder)


def test_processes_at_once_get_one_secret(folder: Path, state: Path) -> None:
    import time

    start = time.time() + 2
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(folder), str(start)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    secrets = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 8
    assert len(secrets) == 1
    assert len(list((state / "ccrs-study" / "secrets").iterdir())) == 1


def test_threads_without_a_secret_take_the_first_one_created(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = secret_key(folder)
    # As if it had not been there yet when this one looked.
    monkeypatch.setattr(os.path, "lexists", lambda _: False)
    assert secret_key(folder) == first
    assert len(list(secret_place(folder).parent.iterdir())) == 1


@pytest.mark.parametrize("loose", [0o640, 0o604, 0o660, 0o644])
def test_a_secret_that_others_can_read_is_refused(folder: Path, loose: int) -> None:
    secret_key(folder)
    secret_place(folder).chmod(loose)
    with pytest.raises(StudyError, match=rf"mode {loose:04o}.*chmod 600"):
        secret_key(folder)


def test_a_folder_that_others_can_enter_is_refused(folder: Path) -> None:
    secret_key(folder)
    secret_place(folder).parent.chmod(0o755)
    with pytest.raises(StudyError, match="chmod 700"):
        secret_key(folder)


def test_a_symbolic_link_is_refused_wherever_it_leads(folder: Path, tmp_path: Path) -> None:
    place = secret_place(folder)
    secret_key(folder)
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StudyError, match="symbolic link"):
        secret_key(folder)
    (tmp_path / "elsewhere").unlink()
    with pytest.raises(StudyError, match="symbolic link"):
        secret_key(folder)
    assert not (tmp_path / "elsewhere").exists(), "no file was created behind it"


def test_a_linked_folder_of_secrets_is_refused(folder: Path, state: Path, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o700)
    (state / "ccrs-study").mkdir(parents=True)
    (state / "ccrs-study" / "secrets").symlink_to(tmp_path / "open")
    with pytest.raises(StudyError, match="is not a folder, or a symbolic link"):
        secret_key(folder)


@pytest.mark.parametrize("size", [0, LENGTH - 1, LENGTH + 1])
def test_a_secret_of_another_size_is_refused(folder: Path, size: int) -> None:
    secret_key(folder)
    secret_place(folder).write_bytes(b"x" * size)
    with pytest.raises(StudyError, match=f"{size} bytes instead of 32"):
        secret_key(folder)


def test_a_pipe_in_its_place_is_refused_and_not_waited_for(folder: Path) -> None:
    secret_key(folder)
    secret_place(folder).unlink()
    os.mkfifo(secret_place(folder), 0o600)
    with pytest.raises(StudyError, match="is not a file"):
        secret_key(folder)


@pytest.mark.parametrize("inside", [".", "state"])
def test_no_secret_goes_into_the_studys_folder(
    folder: Path, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / inside))
    with pytest.raises(StudyError, match=r"inside the study's folder.*--secret-file"):
        secret_key(folder)
    with pytest.raises(StudyError, match="inside the study's folder"):
        secret_key(folder, folder / "secret")
    assert list(folder.iterdir()) == []


def test_a_relative_state_folder_is_ignored_as_its_standard_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert secret_place(folder).parent == tmp_path / "home/.local/state/ccrs-study/secrets"


def test_a_named_file_is_held_to_the_same(folder: Path, tmp_path: Path) -> None:
    named = tmp_path / "secret"
    secret = secret_key(folder, named)
    assert secret_key(folder, named) == secret == named.read_bytes()
    assert mode(named) == 0o600
    named.chmod(0o644)
    with pytest.raises(StudyError, match="mode 0644"):
        secret_key(folder, named)
    with pytest.raises(StudyError, match="can't be created"):
        secret_key(folder, tmp_path / "absent" / "secret")
    with pytest.raises(StudyError, match="is not a file"):
        secret_key(folder, tmp_path)


def test_a_secret_of_another_user_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret_key(folder)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(StudyError, match="belongs to another user"):
        secret_key(folder)
