"""Rejecting a rater's work or one response of it, and taking that back."""

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from annotate_ui.monitoring.campaign_progress import campaign_progress
from annotate_ui.tasks.refusals import NotYoursError
from annotate_ui.tasks.workflow import open_next
from study import Study, StudyError
from study.cli.root import cli
from study.facts.departures import has_left
from study.facts.slots import rater_taker
from study.schema.tables import assignments, raters
from tests.annotate_ui.rated_campaign import fill, finish_step, give, rate, ratings
from tests.annotate_ui.tasks.test_slot_queue import raters as new_raters


def run(study: Study, *words: str) -> str:
    result = CliRunner().invoke(cli, ["invite", str(study.folder), *words])
    if isinstance(result.exception, StudyError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def rated(study: Study, *codes: str) -> list[int]:
    """Let raters finish every response of two queries, on two constructs."""
    fill(study, queries=2, systems=1)
    keys = []
    for code in codes:
        key = give(study, code, keys=["QR", "CC"])
        assert key is not None
        while open_next(study, key).step is not None:
            finish_step(study, key, 40.0)
        keys.append(key)
    return keys


def values_of(study: Study, code: str) -> list[float]:
    table = study.score_table()
    mine = table[(table["scorer"] == code) & table["value"].notna()]
    return list(mine["value"])


def test_rejected_values_stay_and_leave_the_figures_and_slots_open(any_study: Study) -> None:
    anna, _ = rated(any_study, "anna", "ben")
    before = any_study.score_table()
    stored = len(ratings(any_study))
    shown = run(any_study, "--reject", "anna")
    assert "anna: 4 values rejected, kept and in no figure; 2 slots released" in shown
    assert f"Undo: ccrs invite {any_study.folder} --restore anna" in shown
    assert values_of(any_study, "anna") == []
    assert len(values_of(any_study, "ben")) == 4
    assert [row.value for row in ratings(any_study)][:stored] == [40.0] * stored
    assert {row.reason for row in ratings(any_study)[stored:]} == {"rejected by the owner"}
    progress = campaign_progress(any_study)
    assert sum(item.vacant for item in progress.items) == 2
    # Somebody without work of their own takes the slots.
    with any_study.write() as connection:
        cara = connection.execute(
            raters.insert().values(code="cara", attributes={}).returning(raters.c.id)
        ).scalar_one()
    assert open_next(any_study, cara).step is not None
    with any_study.read() as connection:
        assert has_left(connection, anna)
    run(any_study, "--restore", "anna")
    with any_study.read() as connection:
        assert not has_left(connection, anna)
    after = any_study.score_table()
    assert before[before["scorer"] != "cara"].equals(after[after["scorer"] != "cara"])


def test_one_item_is_rejected_and_the_rater_goes_on(any_study: Study) -> None:
    (anna,) = rated(any_study, "anna")
    with any_study.read() as connection:
        first = connection.execute(select(assignments.c.id, assignments.c.public_id)).first()
    assert first is not None
    key = any_study.score_table()["response_id"].iloc[0]
    run(any_study, "--reject", "anna", "--item", key)
    assert len(values_of(any_study, "anna")) == 2
    with any_study.read() as connection:
        assert not has_left(connection, anna)
    assert open_next(any_study, anna).kind == "end"
    with pytest.raises(StudyError, match="nothing to reject"):
        run(any_study, "--reject", "anna", "--item", key)
    assert len(values_of(any_study, "anna")) == 2
    run(any_study, "--restore", "anna", "--item", key)
    assert values_of(any_study, "anna") == [40.0] * 4
    assert open_next(any_study, anna).kind == "end"


def test_what_was_rejected_before_all_work_stays_rejected(study: Study) -> None:
    rated(study, "anna")
    key = study.score_table()["response_id"].iloc[0]
    run(study, "--reject", "anna", "--item", key)
    run(study, "--reject", "anna")
    assert values_of(study, "anna") == []
    run(study, "--restore", "anna")
    assert len(values_of(study, "anna")) == 2
    run(study, "--restore", "anna")
    assert len(values_of(study, "anna")) == 4


def test_a_slot_that_was_kept_for_the_rater_is_open_to_others(study: Study) -> None:
    fill(study, queries=1, systems=1)
    anna, ben = new_raters(study, 2)
    give(study, None, keys=["QR", "CC"], open_to=[rater_taker(anna)])
    assert open_next(study, ben).step is None
    finish_step(study, anna, 40.0)
    run(study, "--reject", "r1", "--item", study.score_table()["response_id"].iloc[0])
    assert open_next(study, ben).step is not None


def test_nothing_is_added_to_rejected_work(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna", keys=["QR", "CC"])
    assert anna is not None
    step = finish_step(any_study, anna, 40.0)
    key = any_study.score_table()["response_id"].iloc[0]
    run(any_study, "--reject", "anna", "--item", key)
    with pytest.raises(NotYoursError):
        rate(any_study, anna, step, step.construct_keys[0], 90.0, base=2)
    assert values_of(any_study, "anna") == []


def test_a_value_changed_after_the_reveal_is_restored_as_it_was(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna", keys=["QR", "CC"])
    assert anna is not None
    step = finish_step(any_study, anna, 40.0)
    open_next(any_study, anna)
    rate(any_study, anna, step, "QR", 90.0, base=1)
    assert values_of(any_study, "anna") == [40.0]
    run(any_study, "--reject", "anna")
    assert values_of(any_study, "anna") == []
    run(any_study, "--restore", "anna")
    assert values_of(any_study, "anna") == [40.0]


def test_without_values_nothing_is_rejected_and_nobody_is_removed(study: Study) -> None:
    fill(study)
    anna = give(study, "anna")
    assert anna is not None
    with pytest.raises(StudyError, match=r"nothing to reject.*--remove RATER"):
        run(study, "--reject", "anna")
    with study.read() as connection:
        assert not has_left(connection, anna)
    with pytest.raises(StudyError, match="nothing can be restored"):
        run(study, "--restore", "anna")


def test_a_response_that_the_rater_does_not_have_is_refused(study: Study) -> None:
    rated(study, "anna")
    with pytest.raises(StudyError, match="has no response 'zz'"):
        run(study, "--reject", "anna", "--item", "zz")
    result = CliRunner().invoke(cli, ["invite", str(study.folder), "anna", "--item", "zz"])
    assert "nothing is rejected" in result.output
