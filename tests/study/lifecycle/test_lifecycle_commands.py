"""The commands as a person runs them."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

from study.cli import lifecycle_commands
from study.cli.root import cli
from study.errors import StudyError
from tests.ccrs_command import in_process, program
from tests.study.lifecycle.conftest import CODE, Planted


def run(*words: object, **options: str) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], **options)


def test_from_backup_to_restored(planted_sqlite: Planted, tmp_path: Path) -> None:
    folder = planted_sqlite.study.folder
    done = run("backup", folder, "--out", tmp_path / "b.ccrs-backup")
    assert done.exit_code == 0, done.output
    assert "It was read back." in done.output
    assert "ccrs restore" in done.output
    back = run("restore", tmp_path / "b.ccrs-backup", tmp_path / "back")
    assert back.exit_code == 0, back.output
    assert "If people were erased since the backup was made, erase them again." in back.output
    assert "Next: ccrs status" in back.output


def test_an_archive_is_no_backup_and_opens_as_it_is(
    planted_sqlite: Planted, tmp_path: Path
) -> None:
    packed = tmp_path / "packed.zip"
    assert in_process("archive", planted_sqlite.study.folder, "--out", packed).returncode == 0
    refused = program("restore", packed, tmp_path / "back")
    assert refused.returncode == 2
    assert "it has no manifest.json; an archive of `ccrs archive` is a study" in refused.stderr
    (folder,) = _unpacked(packed, tmp_path / "unpacked")
    assert in_process("status", folder).returncode == 0


def _unpacked(packed: Path, folder: Path) -> list[Path]:
    with ZipFile(packed) as archive:
        archive.extractall(folder)
    return list(folder.iterdir())


def test_erasing_says_what_it_did(planted_sqlite: Planted) -> None:
    folder = planted_sqlite.study.folder
    done = run("erase", folder, CODE, "--yes")
    assert done.exit_code == 0, done.output
    assert "2 of rater_answer" in done.output
    assert "Unfinished and free for others now: 1 response." in done.output
    assert "delete or replace them" in done.output
    again = run("erase", folder, CODE, "--yes")
    assert isinstance(again.exception, StudyError)
    assert run("erase", folder).output.startswith("Rewrote the database file.")


def test_erasing_asks_for_the_code(
    planted_sqlite: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = planted_sqlite.study.folder
    unasked = run("erase", folder, CODE)
    assert unasked.exit_code == 2
    assert "--yes" in unasked.output

    monkeypatch.setattr(lifecycle_commands, "_at_a_terminal", lambda: True)
    other = run("erase", folder, CODE, input="someone\n")
    assert other.exit_code == 2
    assert "Nothing was erased" in other.output
    done = run("erase", folder, CODE, "--sever", input=f"{CODE}\n")
    assert done.exit_code == 0, done.output
    assert "Severed: " in done.output
    assert "severed-" not in done.output


def test_json_is_all_that_is_printed_when_asked_for(
    planted_sqlite: Planted, tmp_path: Path
) -> None:
    folder, out = planted_sqlite.study.folder, tmp_path / "b.ccrs-backup"
    for words in (
        ("backup", folder, "--out", out),
        ("restore", out, tmp_path / "back"),
        ("archive", folder, "--out", tmp_path / "a.zip"),
        ("export", folder, "--rater", CODE, "--out", tmp_path / "r.json"),
        ("erase", folder, CODE, "--yes"),
        ("erase", folder),
    ):
        done = run(*words, "--json")
        assert done.exit_code == 0, done.output
        json.loads(done.output)


def test_the_archive_and_one_raters_data(planted_sqlite: Planted, tmp_path: Path) -> None:
    folder = planted_sqlite.study.folder
    done = run("archive", folder, "--out", tmp_path / "a.zip", "--comments")
    assert "Left out: rows of invitation (2)." in done.output
    assert "It contains comments." in done.output
    assert run("export", folder, "--rater", CODE).exit_code == 2
    exported = run("export", folder, "--rater", CODE, "--out", tmp_path / "r.json")
    assert "2 of rater_answer" in exported.output
