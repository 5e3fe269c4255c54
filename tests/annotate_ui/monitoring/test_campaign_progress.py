"""How far a campaign is by rater, item and construct, and what of it needs a hand."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import insert, select, update

from annotate_ui.cli.invite import invite
from annotate_ui.cli.pause import pause
from annotate_ui.cli.terminal import show_campaign
from annotate_ui.cli.watch import watch
from annotate_ui.monitoring.action_items import action_items
from annotate_ui.monitoring.campaign_progress import CampaignProgress, campaign_progress
from annotate_ui.monitoring.interim_analysis import run_interim_analysis
from annotate_ui.monitoring.rater_status import Training
from annotate_ui.participants.consent import RaterText, answer
from annotate_ui.participants.enrolment import enrol, make_link
from annotate_ui.participants.enrolment_links import list_links
from annotate_ui.participants.invitation import revoke
from annotate_ui.participants.withdrawal import leave
from study import Study
from study.facts.rating_progress import read_records
from study.schema import now
from study.schema.tables import assignments, rater_answers, raters, ratings
from study.settings.design import DesignSpec
from tests.annotate_ui.monitoring.simulated_campaign import Habit, simulate
from tests.annotate_ui.monitoring.test_stopping_rule import under

RATERS: dict[str, Habit] = {"a": "careful", "b": "careful", "c": "careful"}


def codes(progress: CampaignProgress) -> dict[str, list[str | None]]:
    subjects: dict[str, list[str | None]] = {}
    for item in progress.action_items:
        subjects.setdefault(item.code, []).append(item.subject)
    return subjects


def rater_id(study: Study, code: str) -> int:
    with study.read() as connection:
        return int(
            connection.execute(select(raters.c.id).where(raters.c.code == code)).scalar_one()
        )


def fill(study: Study, **options: Any) -> None:
    simulate(study, RATERS, **{"queries": 10, "systems": 2, "keys": ("QR", "CC"), **options})


def test_progress_counts_raters_items_and_constructs(any_study: Study) -> None:
    fill(any_study, share=0.5)
    progress = campaign_progress(any_study)
    assert [rater.rater for rater in progress.raters] == ["a", "b", "c"]
    first = progress.raters[0]
    assert (first.phase, first.link) == ("main", "live")
    assert (first.values, first.values_expected) == (20, 40)
    assert (first.responses_done, first.responses, first.own_left) == (10, 20, 20)
    assert first.hours_active > 0
    assert first.last_activity is not None
    assert {item.required for item in progress.items} == {3}
    assert sum(item.finished for item in progress.items) == 30
    quality, *_ = progress.constructs
    assert (quality.construct, quality.values, quality.expected) == ("QR", 30, 60)
    assert progress.as_json()["raters"][0]["last_activity"].startswith(str(now().year))
    assert progress.action_items == ()


def test_a_rating_first_entered_after_the_reveal_is_counted_apart(
    any_study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(any_study, share=0.5)
    before = campaign_progress(any_study)
    with any_study.write() as connection:
        rated = select(ratings.c.assignment_id)
        mine = connection.execute(
            select(assignments.c.id)
            .where(assignments.c.rater_id == 1, assignments.c.id.not_in(rated))
            .limit(1)
        ).scalar_one()
        late = {"construct_key": "QR", "value": 50.0, "after_reveal": True}
        connection.execute(
            insert(rater_answers).values(**late, assignment_id=mine, config_hash="0" * 64)
        )
    progress = campaign_progress(any_study)
    earlier, first = before.raters[0], progress.raters[0]
    assert (first.values, first.after_reveal) == (earlier.values, 1)
    # It is not requested again, although its rater had seen more.
    assert first.own_left == earlier.own_left - 1
    assert first.values_expected == earlier.values_expected
    quality, construct = before.constructs[0], progress.constructs[0]
    assert (construct.values, construct.after_reveal) == (quality.values, 1)
    agreed = any_study.score_table()
    counted = agreed[(agreed["scorer"] == "a") & agreed["value"].notna()]
    assert len(counted) == first.values
    show_campaign(progress, [])
    shown = capsys.readouterr().out
    assert "1 value entered after the reveal, kept but not counted." in shown


def test_action_items_name_the_rater_and_the_remedy(any_study: Study) -> None:
    fill(any_study, share=0.5)
    revoke(any_study, "a")
    with any_study.write() as connection:
        long_ago = now() - timedelta(days=5)
        of_b = assignments.c.rater_id == 2
        connection.execute(update(assignments).where(of_b).values(created_at=long_ago))
    leave(any_study, rater_id(any_study, "c"), "removed")
    progress = campaign_progress(any_study)
    subjects = codes(progress)
    assert subjects["no_live_link"] == ["a"]
    assert subjects["vacant_places"] == [None]
    assert [rater.phase for rater in progress.raters] == ["main", "main", "left"]
    assert sum(item.vacant for item in progress.items) == 10
    assert {item.required for item in progress.items} == {3}
    first = progress.action_items[0]
    assert first.command == f"ccrs invite {any_study.folder} a"
    # b was at work a moment ago, however long ago the work was handed out.
    assert "idle" not in subjects


def test_a_rater_who_never_started_is_idle_unless_the_campaign_is_paused(study: Study) -> None:
    fill(study, share=0)
    with study.write() as connection:
        connection.execute(update(assignments).values(created_at=now() - timedelta(days=5)))
    assert codes(campaign_progress(study))["idle"] == ["a", "b", "c"]
    CliRunner().invoke(pause, [str(study.folder)], catch_exceptions=False)
    subjects = codes(campaign_progress(study))
    assert list(subjects) == ["paused"]


def test_an_enrolled_rater_who_never_began_is_reported_with_the_remedy(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study)
    token = make_link(study, "spring", 2)[1].rpartition("/")[2]
    for _ in range(2):
        enrol(study, token)
    assert "idle" not in codes(campaign_progress(study))
    monkeypatch.setattr(
        "annotate_ui.monitoring.action_items.now", lambda: now() + timedelta(days=5)
    )
    idle, other = (o for o in campaign_progress(study).action_items if o.code == "idle")
    assert idle.text == "enrolled 5 days ago, has not begun, and keeps a place of the quota"
    assert idle.command == f"ccrs invite {study.folder} --remove {idle.subject}"
    done = CliRunner().invoke(invite, [str(study.folder), "--remove", str(idle.subject)])
    assert done.exit_code == 0, done.output
    assert list_links(study)[0].counted == 1
    assert codes(campaign_progress(study))["idle"] == [other.subject]
    # Who declines keeps no place.
    person = rater_id(study, str(other.subject))
    answer(study, person, RaterText("Taking part", "0" * 64), agreed=False)
    assert "idle" not in codes(campaign_progress(study))


def test_groups_of_raters_without_common_items_are_reported(study: Study) -> None:
    fill(study)
    with study.write() as connection:
        theirs = assignments.c.rater_id == 3
        # The third rater's work is taken back unrated, except what no other rater has.
        connection.execute(
            update(assignments)
            .where(theirs, assignments.c.response_id > 4)
            .values(purpose="calibration")
        )
        connection.execute(
            update(assignments)
            .where(~theirs, assignments.c.response_id <= 4)
            .values(purpose="calibration")
        )
    assert "unconnected" in codes(campaign_progress(study))


def test_raters_who_failed_or_are_stuck_in_training_come_first(study: Study) -> None:
    fill(study)
    some = campaign_progress(study).raters[0]
    failed = Training(attempt=3, attempts=3, passed=False, failed=True, share=0.4)
    stuck = Training(attempt=1, attempts=3, passed=False, failed=False, share=0.6)
    begun = Training(attempt=1, attempts=3, passed=False, failed=False, share=None)
    raters = [
        replace(some, rater="new", phase="training", training=begun, own_left=0),
        replace(some, rater="stuck", phase="training", training=stuck, own_left=0),
        replace(some, rater="failed", phase="training_failed", training=failed, own_left=0),
    ]
    with study.read() as connection:
        assigned = read_records(connection, study.construct_versions(connection)).assignments
    items = action_items(study, raters, [], [], assigned, vacant=0, stopping=None, paused=False)
    assert [(item.code, item.subject) for item in items] == [
        ("training_failed", "failed"),
        ("training_stuck", "stuck"),
    ]
    assert (items[0].command or "").endswith("--readmit failed")
    assert "1 attempt of 3 (60% of the values in range)" in items[1].text


def test_missing_training_material_and_a_wide_interval_are_action_items(study: Study) -> None:
    fill(study)
    ruled = under(study, half_width=1, constructs=("QR",))
    assert "interval_wide" not in codes(campaign_progress(ruled))
    run_interim_analysis(ruled, "stopping", "command")
    assert codes(campaign_progress(ruled))["interval_wide"] == ["QR"]
    config = ruled.config.model_copy(update={"design": DesignSpec(training=5, checks=3)})
    object.__setattr__(ruled, "config", config)
    subjects = codes(campaign_progress(ruled))
    assert subjects["lacking_training"] == [None]
    assert subjects["lacking_checks"] == [None]
    with ruled.write() as connection:
        response = connection.execute(select(assignments.c.response_id).limit(1)).scalar_one()
        slot = {"response_id": response, "construct_keys": ["QR"], "config_hash": "0" * 64}
        connection.execute(insert(assignments).values(slot))
    # Damaged copies for an open slot are made when somebody takes it.
    assert "lacking_checks" not in codes(campaign_progress(ruled))


def test_released_work_that_was_taken_over_is_not_vacant(study: Study) -> None:
    fill(study, share=0.5)
    leave(study, rater_id(study, "c"), "withdrew")
    with study.write() as connection:
        new = connection.execute(
            insert(raters)
            .values(code="d", attributes={}, public_id="d" * 32)
            .returning(raters.c.id)
        ).scalar_one()
        rows = connection.execute(
            select(assignments).where(assignments.c.released_at.is_not(None))
        ).all()
        for place, row in enumerate(rows):
            again = {
                name: row._mapping[name]
                for name in row._mapping
                if name not in {"id", "public_id", "released_at", "created_at", "rater_id"}
            }
            if place == 0:
                again["replaces_id"] = row.id
            connection.execute(
                insert(assignments).values(
                    **again, rater_id=new, public_id=f"{place:032}", created_at=now()
                )
            )
    progress = campaign_progress(study)
    assert sum(item.vacant for item in progress.items) == 0
    assert {item.required for item in progress.items} == {3}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="plain"),
        pytest.param(["--items"], id="items"),
        pytest.param(["--agreement"], id="agreement"),
        pytest.param(["--stopping"], id="stopping"),
    ],
)
def test_the_command_fits_80_columns(study: Study, words: list[str]) -> None:
    fill(study, share=0.9)
    result = CliRunner().invoke(
        watch, [str(study.folder), *words], catch_exceptions=False, env={"COLUMNS": "80"}
    )
    assert result.exit_code == 0
    lines = [line for line in result.output.splitlines() if str(study.folder) not in line]
    assert max(map(len, lines)) <= 80, result.output
    as_json = CliRunner().invoke(watch, [str(study.folder), *words, "--json"])
    assert as_json.output.lstrip()[0] in "{["


def test_the_stopping_rule_is_recommended_where_one_is_declared(tmp_path: Path) -> None:
    rule = "[stopping]\nhalf_width = 5\n"
    for name, settings, option in (("with", rule, "--stopping"), ("without", "", "--agreement")):
        with Study.create(tmp_path / name, settings) as study:
            fill(study, share=0.5)
        result = CliRunner().invoke(watch, [str(tmp_path / name)], catch_exceptions=False)
        assert f"Next: ccrs watch {tmp_path / name} {option}" in result.output


def test_a_rater_is_removed_and_readmitted(study: Study) -> None:
    fill(study, share=0.5)

    def run(*words: str) -> str:
        result = CliRunner().invoke(invite, [str(study.folder), *words], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    assert "10 unfinished" in run("--remove", "b")
    assert "left already" in run("--remove", "b")
    assert campaign_progress(study).raters[1].phase == "left"
    assert "readmitted" in run("--readmit", "b")
    assert campaign_progress(study).raters[1].phase == "main"


def test_options_that_exclude_each_other_are_refused(study: Study) -> None:
    for words in (["--agreement", "--stopping"], ["--judge", "a", "--items"]):
        result = CliRunner().invoke(watch, [str(study.folder), *words])
        assert result.exit_code == 2
        assert "Use only one of" in result.output
    result = CliRunner().invoke(pause, [str(study.folder), "--resume", "--message", "x"])
    assert result.exit_code == 2


def test_pause_and_resume(study: Study) -> None:
    from annotate_ui.participation import paused

    def now_paused() -> str | None:
        with study.read() as connection:
            return paused(connection)

    run = CliRunner().invoke
    result = run(pause, [str(study.folder), "--message", "Back soon."], catch_exceptions=False)
    assert "--resume" in result.output
    assert now_paused() == "Back soon."
    run(pause, [str(study.folder), "--resume", "--json"], catch_exceptions=False)
    assert now_paused() is None
