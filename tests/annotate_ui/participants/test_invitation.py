"""Links: random, shown once, hashed, revocable, and never made twice at once."""

import csv
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from annotate_ui.cli.invite import invite as command
from annotate_ui.participants.invitation import (
    Invited,
    invite,
    list_links,
    open_slots,
    revoke,
)
from annotate_ui.participants.tokens import mark_used, rater_of_token
from study import Study, StudyError
from study.schema.tables import invitations, raters
from tests.annotate_ui.campaign_with_raters import assign, fill


def token(invited: Invited) -> str:
    return invited.link.partition("#")[2]


def rater_behind(study: Study, invited: Invited) -> str | None:
    with study.read() as connection:
        ids = rater_of_token(connection, token(invited))
        if ids is None:
            return None
        return str(
            connection.execute(select(raters.c.code).where(raters.c.id == ids[0])).scalar_one()
        )


def rows(study: Study) -> list[Any]:
    with study.read() as connection:
        return list(connection.execute(select(invitations)))


def test_every_rater_with_assignments_and_no_link_is_invited(any_study: Study) -> None:
    fill(any_study)
    assign(any_study, "ben", "anna", None)
    invited = invite(any_study)
    assert [(invited_rater.rater, invited_rater.assignments) for invited_rater in invited] == [
        ("anna", 2),
        ("ben", 2),
    ]
    assert invite(any_study) == []
    for invited_rater in invited:
        assert invited_rater.link.startswith("http://127.0.0.1:8350/join#")
        assert len(token(invited_rater)) == 43, "32 bytes in base64 without padding"
        assert rater_behind(any_study, invited_rater) == invited_rater.rater
    assert len({token(invited_rater) for invited_rater in invited}) == 2
    assert open_slots(any_study) == 2


def test_the_database_holds_the_hash_of_a_token_and_nothing_else_of_it(any_study: Study) -> None:
    fill(any_study)
    assign(any_study, "anna")
    invited_rater = invite(any_study, ["anna"])[0]
    (row,) = rows(any_study)
    assert row.token_hash == sha256(token(invited_rater).encode()).digest()
    if any_study.engine.dialect.name == "sqlite":
        any_study.close()
        files = [path.read_bytes() for path in any_study.folder.iterdir() if path.is_file()]
        assert files
        assert not any(token(invited_rater).encode() in content for content in files)


def test_the_configured_address_begins_every_link(tmp_path: Path) -> None:
    settings = '[rating]\nbase_url = "https://rate.example.org/"\n'
    study = Study.create(tmp_path / "s", settings)
    (invited_rater,) = invite(study, new=1)
    assert invited_rater.link.startswith("https://rate.example.org/join#")
    study.close()


@pytest.mark.parametrize("wrong", ["", "x", "é" * 43, "\ud800", "a" * 100_000])
def test_an_unknown_token_is_refused(study: Study, wrong: str) -> None:
    invite(study, new=1)
    with study.read() as connection:
        assert rater_of_token(connection, wrong) is None


def test_a_live_link_is_not_made_again_unless_renewed(any_study: Study) -> None:
    fill(any_study)
    assign(any_study, "anna", "ben")
    old = invite(any_study, ["anna"])[0]
    with pytest.raises(StudyError, match=r"'anna': there is a live link.*--renew"):
        invite(any_study, ["ben", "anna"])
    assert len(rows(any_study)) == 1, "ben got none either"
    new = invite(any_study, ["anna", "anna", "ben"], renew=True)
    assert [invited_rater.rater for invited_rater in new] == ["anna", "ben"]
    assert rater_behind(any_study, old) is None
    assert rater_behind(any_study, new[0]) == "anna"
    with pytest.raises(StudyError, match="Name the raters"):
        invite(any_study, renew=True)


def test_revoking_ends_a_link(any_study: Study) -> None:
    fill(any_study)
    assign(any_study, "anna", "ben")
    anna, ben = invite(any_study)
    assert revoke(any_study, "anna") == {"anna": 1}
    assert rater_behind(any_study, anna) is None
    assert rater_behind(any_study, ben) == "ben"
    assert revoke(any_study, "anna") == {"anna": 0}
    # A revoked rater has assignments and no live link, so the next call invites again.
    assert [invited_rater.rater for invited_rater in invite(any_study)] == ["anna"]


def test_an_unknown_rater_is_named_with_the_nearest_and_nothing_is_done(study: Study) -> None:
    with pytest.raises(StudyError, match="which has none yet"):
        invite(study, ["anna"])
    fill(study)
    assign(study, "anna", "ben")
    invite(study)
    with pytest.raises(StudyError, match=r"'ana' is not a rater of .*Did you mean 'anna'"):
        invite(study, ["ana"])
    with pytest.raises(StudyError, match="Did you mean 'ben'"):
        revoke(study, "anna", "Ben")
    assert all(link.live for link in list_links(study))
    with pytest.raises(StudyError, match="--list"):
        invite(study, ["zzz"])


def test_new_raters_take_the_next_codes(any_study: Study) -> None:
    first = invite(any_study, new=2)
    assert [invited_rater.rater for invited_rater in first] == ["rater-1", "rater-2"]
    fill(any_study)
    assign(any_study, "rater-10", "rater-x")
    assert [invited_rater.rater for invited_rater in invite(any_study, ["rater-x"], new=1)] == [
        "rater-x",
        "rater-11",
    ]
    links = list_links(any_study)
    assert [link.rater for link in links] == [
        "rater-1",
        "rater-2",
        "rater-10",
        "rater-11",
        "rater-x",
    ]
    with any_study.read() as connection:
        public = connection.execute(select(raters.c.public_id)).scalars().all()
    assert len(set(public)) == 5
    for wrong in (-1, 1001):
        with pytest.raises(StudyError, match="new raters"):
            invite(any_study, new=wrong)


def test_simultaneous_invitations_create_one_link_and_unique_codes(any_study: Study) -> None:
    fill(any_study)
    assign(any_study, "anna", "ben")
    others = [Study.open(any_study.folder) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(invite, others))
        new = list(pool.map(lambda study: invite(study, new=2), others))
    for study in others:
        study.close()
    assert sorted(invited_rater.rater for links in made for invited_rater in links) == [
        "anna",
        "ben",
    ]
    codes = [invited_rater.rater for links in new for invited_rater in links]
    assert sorted(codes, key=lambda code: int(code[6:])) == [f"rater-{n}" for n in range(1, 13)]


def test_the_list_shows_whether_a_link_is_live_and_used(any_study: Study) -> None:
    fill(any_study)
    assign(any_study, "anna", "ben", "carl")
    anna, _ = invite(any_study, ["anna", "ben"])
    revoke(any_study, "ben")
    with any_study.write() as connection:
        ids = rater_of_token(connection, token(anna))
        assert ids is not None
        mark_used(connection, ids[1])
    first = {link.rater: link for link in list_links(any_study)}
    with any_study.write() as connection:
        mark_used(connection, ids[1])
    again = {link.rater: link for link in list_links(any_study)}
    assert again == first, "used says when it was used first"
    assert first["anna"].live
    assert first["anna"].used is not None
    assert not first["ben"].live
    assert first["ben"].made is not None
    assert first["ben"].used is None
    assert first["carl"].made is None
    invite(any_study, ["anna"], renew=True)
    assert list_links(any_study)[0].used is None, "the new link is not used yet"


def test_a_file_of_links_is_the_owners_alone_and_replaces_nothing(
    study: Study, tmp_path: Path
) -> None:
    fill(study)
    assign(study, "=anna")
    out = tmp_path / "links.csv"
    before = os.umask(0)
    try:
        (invited_rater,) = invite(study, out=out)
    finally:
        os.umask(before)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    # A spreadsheet would run the code as a formula.
    rows_written = list(csv.reader(out.read_text(encoding="utf-8").splitlines()))
    assert rows_written == [["rater", "link"], ["'=anna", invited_rater.link]]
    written = out.read_bytes()
    with pytest.raises(StudyError, match="already exists"):
        invite(study, new=1, out=out)
    assert out.read_bytes() == written
    assert [link.rater for link in list_links(study)] == ["=anna"], "and no rater was made"
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(StudyError, match="already exists"):
        invite(study, new=1, out=tmp_path / "link.csv")
    with pytest.raises(StudyError, match="inside the study's folder"):
        invite(study, new=1, out=study.folder / "links.csv")
    with pytest.raises(StudyError, match="is not a folder; create it"):
        invite(study, new=1, out=tmp_path / "absent" / "links.csv")
    nothing = tmp_path / "nothing.csv"
    assert invite(study, out=nothing) == []
    assert not nothing.exists()


def test_where_the_file_fails_no_link_is_live(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    out = tmp_path / "links.csv"
    with pytest.raises(OSError, match="No space"):
        invite(study, new=1, out=out)
    assert not out.exists()
    assert list_links(study) == []


def ccrs(*words: str) -> Result:
    return CliRunner().invoke(command, list(words))


def test_the_command_prints_links_once_and_warns(study: Study) -> None:
    folder = str(study.folder)
    fill(study)
    assign(study, "anna")
    shown = ccrs(folder)
    assert shown.exit_code == 0, shown.output
    assert "anna  http://127.0.0.1:8350/join#" in shown.output
    assert "not shown again" in shown.output
    assert "open on this computer only" in shown.output
    assert f"Next: ccrs serve {folder}" in shown.output
    again = ccrs(folder)
    assert "join#" not in again.output
    assert "No link was created" in again.output
    made = ccrs(folder, "--new", "2")
    assert "Nothing is assigned to rater-1, rater-2, and there are no open slots" in made.output
    listed = ccrs(folder, "--list")
    assert "anna" in listed.output
    assert "not yet" in listed.output
    assert max(len(line) for line in listed.output.splitlines()) <= 80
    assert "join#" not in listed.output
    gone = ccrs(folder, "--revoke", "anna", "--revoke", "rater-2")
    assert gone.output.count("is revoked") == 2
    assert "no live link" in ccrs(folder, "--revoke", "anna").output


def test_an_open_slot_is_reason_enough_for_a_new_rater(study: Study) -> None:
    fill(study)
    assign(study, None)
    assert "Nothing is assigned" not in ccrs(str(study.folder), "--new", "1").output


def test_json_is_all_that_is_printed_when_asked_for(study: Study, tmp_path: Path) -> None:
    folder = str(study.folder)
    listed = json.loads(ccrs(folder, "--list", "--json").output)
    assert listed == []
    made = json.loads(ccrs(folder, "--new", "1", "--json").output)
    assert made["links"][0]["rater"] == "rater-1"
    assert "/join#" in made["links"][0]["link"]
    out = tmp_path / "links.csv"
    filed = json.loads(ccrs(folder, "--new", "1", "--out", str(out), "--json").output)
    assert filed["file"] == str(out)
    assert "link" not in filed["links"][0], "a token is shown once: in the file"
    listed = json.loads(ccrs(folder, "--list", "--json").output)
    assert [link["live"] for link in listed] == [True, True]
    assert json.loads(ccrs(folder, "--revoke", "rater-1", "--json").output) == [
        {"rater": "rater-1", "revoked": 1}
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("--list", "--revoke", "anna"),
        ("anna", "--list"),
        ("--revoke", "anna", "--new", "1"),
        ("--renew",),
        ("--new", "0"),
    ],
)
def test_incompatible_options_are_refused(study: Study, words: tuple[str, ...]) -> None:
    assert ccrs(str(study.folder), *words).exit_code == 2
