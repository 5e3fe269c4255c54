"""`ccrs init --campaign`: from one file to the first rating, completely or not at all."""

import asyncio
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from annotate_ui.participants import campaign as module
from annotate_ui.participants.campaign import begin_campaign
from annotate_ui.participants.enrolment_links import list_links
from study import Study, StudyError
from study.lifecycle.database_copy import empty_database, table_names
from study.schema.tables import rater_answers
from study.settings.study_toml import StudyConfig
from tests.annotate_ui.http_rater import HttpRater
from tests.ccrs_command import in_process, program

RATERS = """\
# The pool's campaign.
[campaign]
responses = "responses.jsonl"
raters = ["anna", "ben"]

# Everybody rates everything.
[design]
per_item = 2
"""
LINKS = """\
name = "Pool"
[campaign]
responses = ["responses.jsonl"]
[campaign.links.spring]
quota = 3
queries = 1
require_id = "prolific"
[design]
per_item = 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rows = [
        {"query_id": f"q{n}", "query": "When?", "system": "bm25", "response": f"At {n}.",
         "passages": ["It is open from 8."], "references": ["At 8."]}
        for n in range(3)
    ]  # fmt: skip
    Path("responses.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def described(text: str) -> Path:
    path = Path("campaign.toml")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.server
def test_one_command_and_one_file_lead_to_the_first_rating(folder: Path) -> None:
    described(RATERS)
    begun = program("init", "pool", "--campaign", "campaign.toml")
    assert begun.returncode == 0, begun.stderr
    link = re.search(r"^anna  (http://\S+/join#\S+)$", begun.stdout, re.M)
    assert link
    assert begun.stdout.splitlines()[-1] == "Next: ccrs serve pool"
    script = Path(sys.executable).with_name("ccrs")
    with subprocess.Popen(
        [script, "serve", "pool", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as served:
        try:
            assert served.stdout is not None
            address = re.search(r"(http://\S+:\d+)$", served.stdout.readline().strip())
            assert address
            until = time.monotonic() + 30
            rater = HttpRater(address[1], link[1], Random(0), until)
            asyncio.run(rater.work(0.1, time.monotonic() + 1.5))
        finally:
            served.terminate()
    assert rater.confirmed
    with Study.open(folder / "pool") as study, study.read() as connection:
        stored = connection.execute(select(func.count()).select_from(rater_answers)).scalar_one()
    assert stored == len(rater.confirmed)


def served_lines(folder: str) -> list[str]:
    script = Path(sys.executable).with_name("ccrs")
    with subprocess.Popen(
        [script, "serve", folder, "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        lines = []
        for line in served.stdout:
            lines.append(line.rstrip())
            if line.startswith("Stop with"):
                break
        served.terminate()
    return lines


@pytest.mark.server
@pytest.mark.usefixtures("folder")
def test_open_links_are_named_and_nobody_is_to_be_invited() -> None:
    described(LINKS)
    assert in_process("init", "pool", "--campaign", "campaign.toml").returncode == 0
    lines = served_lines("pool")
    assert "Enrolment link spring: 0 of 3 raters joined, 6 open slots left for them." in lines
    assert not [line for line in lines if "ccrs invite" in line]
    status = in_process("status", "pool").stdout
    assert "ccrs serve pool   (raters join by the enrolment link spring)" in status
    assert "ccrs invite" not in status
    assert in_process("enrol", "pool", "--close", "spring").returncode == 0
    assert any("ccrs invite pool --new N" in line for line in served_lines("pool"))
    assert "ccrs invite pool --new N" in in_process("status", "pool").stdout


@pytest.mark.server
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("available", [0, 1, 6])
def test_too_little_training_material_is_a_warning(available: int) -> None:
    rows = [
        {"query_id": f"t{n}", "query": "When?", "response": "At 8.", "expected": {"QR": [40, 60]},
         "passages": ["It is open from 8."], "references": ["At 8."]}
        for n in range(available)
    ]  # fmt: skip
    Path("training.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    names = '["responses.jsonl", "training.jsonl"]' if available else '"responses.jsonl"'
    described(f"{RATERS}training = 2\n".replace('"responses.jsonl"', names))
    begun = in_process("init", "pool", "--campaign", "campaign.toml")
    assert begun.returncode == 0, begun.stderr
    noun = "response" if available == 1 else "responses"
    warning = (
        f"Warning: The study has {available} {noun} with expected values for the training; "
        "3 attempts at 2 need 6. Add some with `ccrs import pool FILE`, or lower design.training "
        "or design.training_attempts in pool/study.toml."
    )
    assert (warning in begun.stdout.splitlines()) is (available < 6)
    assert (warning in served_lines("pool")) is (available < 6)


@pytest.mark.usefixtures("folder")
def test_what_is_left_is_an_ordinary_study_toml() -> None:
    begin_campaign(Path("pool"), described(RATERS))
    text = Path("pool/study.toml").read_text()
    assert text.startswith('name = "pool"\n')
    assert "# Everybody rates everything.\n[design]\nper_item = 2\n" in text
    assert "campaign]" not in text
    with Study.open("pool") as study:
        assert study.config == StudyConfig(
            name="pool", design=study.config.design.model_copy(update={"per_item": 2})
        )


@pytest.mark.usefixtures("folder")
def test_a_link_keeps_the_open_slots_for_those_who_join_by_it() -> None:
    begun = begin_campaign(Path("pool"), described(LINKS))
    assert begun.joins
    assert list(begun.links) == ["spring"]
    with Study.open("pool") as study:
        (link,) = list_links(study)
        assert study.config.name == "Pool"
    assert (link.quota, link.queries_each, link.free_slots) == (3, 1, 6)
    assert link.id_form == "[0-9a-f]{24}"


@pytest.mark.usefixtures("folder")
def test_texts_that_the_settings_name_come_along() -> None:
    path = described(f'{RATERS}[rating]\ninstructions = "guide.md"\n')
    with pytest.raises(StudyError, match=r"\[rating\] names 'guide.md', and there is no file"):
        begin_campaign(Path("pool"), path)
    Path("guide.md").write_text("Read.")
    begin_campaign(Path("pool"), path)
    assert Path("pool/guide.md").read_text() == "Read."


@pytest.mark.parametrize(
    ("was", "becomes", "words"),
    [
        ("raters = [", "rater = [", r"campaign\.rater: unknown setting\. Did you mean 'raters'\?"),
        ("[campaign]", "[[campaign]]",
         r"campaign: it must be one table, \[campaign\]$"),
        ('"responses.jsonl"', "[]",
         r"campaign\.responses: the list is empty; name at least one: file"),
        ('"responses.jsonl"', "[1]", r"responses\.0 = 1: it must be a text in quotes$"),
        ('"responses.jsonl"', "3", r"responses = 3: it must be a list$"),
        ('raters = ["anna", "ben"]', '[campaign.links.x]\nquota = 1\nlanguages = "de"',
         r"languages = 'de': it must be a list, as in \[\"de\"\]$"),
        ('responses = "responses.jsonl"', "",
         r"campaign\.responses: it is missing; add it: file with the responses"),
        ("[design]", "[campaign.links.x]\nquota = 1\n[design]",
         r"campaign: raters and links \(x\) are both given; leave one of them out"),
        ('raters = ["anna", "ben"]', "links = 3",
         r"links = 3: it must be tables, as in \[campaign"),
        ('raters = ["anna", "ben"]', "links = {x = 3}",
         r"links\.x = 3: it must be one table, \[campaign\.links\.x\]$"),
        ('raters = ["anna", "ben"]', "[campaign.links.x]\nqueries = 1",
         r"links\.x\.quota: it is missing; add it: number of raters"),
        ("per_item = 2", 'per_item = "two"', r"per_item = 'two': it must be a whole number$"),
        ("[design]", "[desing]", r"desing: unknown setting\. Did you mean 'design'\?"),
        ('["anna", "ben"]', "[]", r"campaign\.raters: write codes, as in"),
        ('["anna", "ben"]', "true", r"campaign\.raters = True: write codes"),
        ('["anna", "ben"]', '["anna", " b"]', r"campaign\.raters: ' b' has white space"),
        ('raters = ["anna", "ben"]', "", r"campaign: give either raters"),
        ('"responses.jsonl"', '"respones.jsonl"', r"names 'respones.jsonl', and there is no file"),
        ("per_item = 2", "per_item = 3", r"With --per-item 3, some responses need 3 more raters"),
        ('raters = ["anna", "ben"]', "[campaign.links.x]\nquota = 0",
         r"x\.quota = 0: it must be greater than or equal to 1"),
        ('raters = ["anna", "ben"]', "[campaign.links.x]\nquota = 1\nqueris = 2",
         r"x\.queris: unknown setting\. Did you mean 'queries'\?"),
        ('raters = ["anna", "ben"]', '[campaign.links.x]\nquota = 1\nrequire_id = "("',
         r"campaign\.toml: campaign\.links\.x: '\(' is not a regular expression"),
        ("[campaign]", "[campaign", r"not valid TOML"),
        ("[campaign]\n", "[else]\n",
         r"campaign: the section is missing; add \[campaign\] with responses, and raters or"),
    ],
)  # fmt: skip
def test_a_fault_is_named_and_leaves_nothing(
    folder: Path, was: str, becomes: str, words: str
) -> None:
    path = described(RATERS.replace(was, becomes))
    before = sorted(folder.rglob("*"))
    with pytest.raises(StudyError, match=words):
        begin_campaign(Path("new/pool"), path)
    assert sorted(folder.rglob("*")) == before


def test_after_an_error_in_the_responses_only_what_was_there_is_left(folder: Path) -> None:
    path = described(f'{RATERS}[rating]\ninstructions = "guide.md"\n')
    (folder / "guide.md").write_text("Read.")
    (folder / "responses.jsonl").write_text('{"query_id": "q1"}\n')
    begun = in_process("init", ".", "--campaign", path)
    assert begun.returncode == 2
    assert "responses.jsonl" in begun.stderr
    assert {place.name for place in folder.iterdir()} >= {"campaign.toml", "guide.md"}
    assert not list(folder.glob("study*"))


def test_an_interruption_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_words: object, **_more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "assign", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin_campaign(folder / "pool", described(RATERS))
    assert not (folder / "pool").exists()


@pytest.mark.usefixtures("folder")
def test_a_second_time_says_what_to_do() -> None:
    path = described(RATERS)
    assert in_process("init", "pool", "--campaign", path, "--json").returncode == 0
    again = in_process("init", "pool", "--campaign", path)
    assert again.returncode == 2
    assert "already contains a study. `ccrs status pool` shows what it has" in again.stderr
    assert Path("pool/study.db").exists()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("any_study", ["postgresql"], indirect=True)
def test_a_database_of_postgresql_is_emptied_again(any_study: Study) -> None:
    empty_database(any_study.engine)
    address = json.dumps(any_study.config.database)
    path = described(f"database = {address}\n" + RATERS.replace("item = 2", "item = 3"))
    with pytest.raises(StudyError, match="need 3 more raters"):
        begin_campaign(Path("new"), path)
    with any_study.read() as connection:
        assert table_names(connection) == []
    begin_campaign(Path("new"), described(path.read_text().replace("item = 3", "item = 2")))
    with any_study.read() as connection:
        assert "rater" in table_names(connection)


@pytest.mark.usefixtures("folder")
def test_the_section_cannot_be_written_where_it_cannot_be_told_apart() -> None:
    path = described('campaign = { responses = "responses.jsonl", raters = 2 }\n')
    with pytest.raises(StudyError, match=r"\[campaign\] can't be told from the other settings"):
        begin_campaign(Path("pool"), path)
