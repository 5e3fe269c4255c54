"""Tokens are not stored; erased raters are not pulled again; a deposit names no server."""

import sys
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from annotate_ui.cli.label_studio_server import VARIABLE, read_token
from annotate_ui.label_studio.client import Server, address
from annotate_ui.label_studio.users import Raters
from study import Study
from study.errors import StudyError
from study.lifecycle.archive import archive
from study.lifecycle.erase import erase
from study.lifecycle.rater_export import export_rater
from study.schema.tables import external_projects, external_raters, rejected_values

SERVER = "https://xserverx.example.org/ls"


@pytest.fixture
def pulled(study: Study) -> Study:
    """Return a study with a pulled value of user 5 that cannot be a rating."""
    with study.write() as connection:
        rater = Raters(connection, SERVER, "x").rater_of(5)
        project = {
            "server": SERVER,
            "external_id": "1",
            "instance": "x",
            "stage": 1,
            "fields": [],
            "controls": {},
            "overlap": 1,
            "config_hash": "x",
        }
        connection.execute(insert(external_projects).values(**project))
        aside = {"project_id": 1, "digest": "d", "value": '"xvaluex"', "reason": "no number"}
        connection.execute(insert(rejected_values).values(**aside, rater_id=rater))
    return study


@pytest.mark.parametrize("sever", [False, True], ids=["removed", "severed"])
def test_an_erased_rater_stays_erased_at_the_next_pull(pulled: Study, sever: bool) -> None:
    erase(pulled, "ls-5", sever=sever)
    with pulled.write() as connection:
        people = Raters(connection, SERVER, "x")
        assert people.rater_of(5) is None
        assert people.new == {}
        assert connection.execute(select(rejected_values)).all() == []
        (row,) = connection.execute(select(external_raters)).all()
    assert (row.external_id, row.rater_id) == ("5", None)
    assert b"xvaluex" not in (pulled.folder / "study.db").read_bytes()


def test_a_person_is_given_all_that_is_held_of_them(pulled: Study, tmp_path: Path) -> None:
    counts = export_rater(pulled, "ls-5", tmp_path / "hers.json")
    assert counts == {"rater": 1, "external_rater": 1, "rejected_value": 1}


def test_a_deposit_holds_nothing_of_the_server(pulled: Study, tmp_path: Path) -> None:
    settings = pulled.folder / "study.toml"
    settings.write_text(f'{settings.read_text()}\n[label_studio]\nurl = "{SERVER}"\n')
    archive(Study.open(pulled.folder), tmp_path / "study.zip")
    with zipfile.ZipFile(tmp_path / "study.zip") as packed:
        for name in packed.namelist():
            content = packed.read(name)
            assert b"xserverx" not in content, name
            assert b"xvaluex" not in content, name


def test_users_and_raters(study: Study) -> None:
    with study.write() as connection:
        people = Raters(connection, SERVER, "x")
        people.assign({5: "anna"})
        assert people.rater_of(5) != people.rater_of(6)
        people.assign({5: "anna"})
        with pytest.raises(StudyError, match="already another rater"):
            people.assign({5: "ben"})
        assert people.new == {"ls-6": 6}
        # The same number on another server is another person.
        assert Raters(connection, "https://other.example.org", "y").rater_of(6) != people.rater_of(
            6
        )


def test_a_token_is_read_from_outside_the_study_only(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(StudyError, match=f"Set {VARIABLE}"):
        read_token(study.folder)
    monkeypatch.setenv(VARIABLE, "abc\n")
    assert read_token(study.folder) == "abc"
    outside, inside = tmp_path / "token", study.folder / "token"
    for path in (outside, inside):
        path.write_text("def\n")
    assert read_token(study.folder, outside) == "def"
    with pytest.raises(StudyError, match="inside the study's folder"):
        read_token(study.folder, inside)
    outside.write_text("a b")
    with pytest.raises(StudyError, match="white space"):
        read_token(study.folder, outside)


def test_an_address_has_one_form() -> None:
    assert address("HTTP://Host:8080/A/ls/") == "http://host:8080/A/ls"
    assert address("https://host:443/") == address("https://Host") == "https://host"
    assert address("http://host:80") == "http://host"
    assert address("http://host:443") == "http://host:443"
    for wrong in ("host:8080", "ftp://host", "http://a:b@host", "http://host/?x=1", "http://h:x"):
        with pytest.raises(StudyError):
            address(wrong)


def test_without_the_sdk_the_message_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "label_studio_sdk", None)
    with pytest.raises(StudyError, match=r"pip install 'ccrs-study\[label-studio\]'"):
        Server("http://127.0.0.1:1", "token")
