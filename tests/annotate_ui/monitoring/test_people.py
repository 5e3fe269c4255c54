"""The table of people and that of ratings: who is paid, and everything that they wrote."""

import csv
import stat
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from click.testing import CliRunner

from annotate_ui.monitoring.campaign_progress import campaign_progress
from annotate_ui.participants.enrolment import enrol
from annotate_ui.participants.enrolment_links import make_link
from annotate_ui.participants.withdrawal import leave
from annotate_ui.tasks.rating_payload import RatingPayload
from annotate_ui.tasks.save import save
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.cli.root import cli
from tests.annotate_ui.participants.enrolled_raters import opened
from tests.annotate_ui.rated_campaign import commit, fill, finish_step, give


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def played(study: Study) -> Study:
    """One completes, one withdraws, one has begun; all by a link with a recruiter's id."""
    settings = 'completion_code = "DONE1"\nreturn_code = "BACK2"\n'
    campaign = opened(study, settings)
    fill(campaign, queries=1, systems=1)
    for _ in range(3):
        give(campaign, None)
    _, address = make_link(campaign, "spring", 9)
    done, left, begun = (
        enrol(campaign, address.rpartition("/")[2], f"id-{n}").rater_id for n in range(3)
    )
    while open_next(campaign, done).step is not None:
        finish_step(campaign, done)
    leave(campaign, left, "withdrew")
    step = open_next(campaign, begun).step
    assert step is not None
    key = step.construct_keys[0]
    for base, value in enumerate((10.0, 20.0)):
        said: Any = {"comment": "hard to say", "flags": []} if base else {}
        entered = commit(key, value, base, active_seconds=0.0, **said)
        save(campaign, begun, RatingPayload(step.item.public_id, step.stage.number, entered))
    return campaign


def test_the_export_has_people_and_ratings(study: Study, tmp_path: Path) -> None:
    campaign = played(study)
    out = tmp_path / "export"
    result = CliRunner().invoke(cli, ["export", str(campaign.folder), "--out", str(out)])
    assert result.exit_code == 0, result.output
    people = table(out, "people")
    assert [
        (p["rater"], p["recruiter_id"], p["link"], p["exit"], p["code"], p["completed"])
        for p in people
    ] == [
        ("rater-1", "id-0", "spring", "completion", "DONE1", "yes"),
        ("rater-2", "id-1", "spring", "return", "BACK2", "no"),
        ("rater-3", "id-2", "spring", "", "", "no"),
    ]
    assert people[0]["responses_done"] == "1"
    assert stat.S_IMODE((out / "people.csv").stat().st_mode) == 0o600
    (last,) = [row for row in table(out, "ratings") if row["rater"] == "rater-3"]
    assert (last["value"], last["revision"], last["comment"]) == ("20", "2", "hard to say")
    assert (last["seconds"], last["response_id"][:2]) == ("0", "q0")
    assert last["first_saved_at"] <= last["last_saved_at"]
    codebook = (out / "codebook.md").read_text(encoding="utf-8")
    assert "the id under which a recruiting service knows the person" in codebook
    campaign.close()


def test_an_archive_has_no_table_of_people(study: Study, tmp_path: Path) -> None:
    campaign = played(study)
    out = tmp_path / "archive.zip"
    result = CliRunner().invoke(cli, ["archive", str(campaign.folder), "--out", str(out)])
    assert result.exit_code == 0, result.output
    with ZipFile(out) as packed:
        names = {name.rpartition("/")[2] for name in packed.namelist()}
        assert "ratings.csv" in names
        assert "people.csv" not in names
        for name in packed.namelist():
            assert b"id-0" not in packed.read(name), name
            assert b"hard to say" not in packed.read(name), name
    campaign.close()


def test_a_rejected_rating_keeps_its_value_and_words_in_the_table(
    study: Study, tmp_path: Path
) -> None:
    campaign = played(study)
    before = {rater.rater: rater.last_activity for rater in campaign_progress(campaign).raters}
    rejected = CliRunner().invoke(cli, ["invite", str(campaign.folder), "--reject", "rater-3"])
    assert rejected.exit_code == 0
    after = {rater.rater: rater.last_activity for rater in campaign_progress(campaign).raters}
    assert after == before, "the owner's rejection is no activity of the rater"
    out = tmp_path / "export"
    CliRunner().invoke(cli, ["export", str(campaign.folder), "--out", str(out)])
    (row,) = [row for row in table(out, "ratings") if row["rater"] == "rater-3"]
    assert (row["value"], row["comment"]) == ("20", "hard to say")
    assert row["not_counted"] == "rejected by the owner"
    assert [p["responses_rejected"] for p in table(out, "people")] == ["0", "0", "1"]
    # Neither way brings it back into figures.
    for words in (["import", str(campaign.folder)], ["report"]):
        refused = CliRunner().invoke(cli, [*words, str(out / "ratings.csv")])
        assert refused.exit_code
        said = f"{refused.output}{refused.exception}"
        assert "the table `scores` of the same export" in said, said
    CliRunner().invoke(cli, ["archive", str(campaign.folder), "--out", str(tmp_path / "a.zip")])
    with ZipFile(tmp_path / "a.zip") as packed:
        (name,) = [n for n in packed.namelist() if n.endswith("/ratings.csv")]
        assert b",20,,3,rejected by the owner," in packed.read(name)
    restored = CliRunner().invoke(cli, ["invite", str(campaign.folder), "--restore", "rater-3"])
    assert restored.exit_code == 0
    after = {rater.rater: rater.last_activity for rater in campaign_progress(campaign).raters}
    assert after == before
    campaign.close()
