"""Active time is what the page says, and no more than has passed by the server's clock."""

import pytest
from sqlalchemy import insert, select

from annotate_ui.monitoring.campaign_progress import campaign_progress
from annotate_ui.monitoring.careless_responding import rater_signals
from annotate_ui.tasks.rating_payload import RatingPayload
from annotate_ui.tasks.save import save
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.facts.active_time import active_seconds
from study.schema.tables import assignments, rater_answers, ratings
from tests.annotate_ui.faked_clock import Clock, fake_clock
from tests.annotate_ui.rated_campaign import commit, fill, give


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a clock that the test sets."""
    return fake_clock(monkeypatch)


def rate_all(study: Study, clock: Clock, *, claimed: float, passed: float) -> int:
    """Let a rater rate everything, `passed` seconds and `claimed` active ones for each value."""
    rater = give(study, "anna", keys=("QR",))
    assert rater is not None
    values = 0
    while (step := open_next(study, rater).step) is not None:
        clock.forward(seconds=passed)
        payload = commit("QR", 50, active_seconds=claimed)
        save(study, rater, RatingPayload(step.item.public_id, step.stage.number, payload))
        values += 1
    return values


def hours(study: Study) -> float:
    return campaign_progress(study).raters[0].hours_active


def test_seconds_that_have_not_passed_are_not_counted(any_study: Study, clock: Clock) -> None:
    fill(any_study, queries=14, systems=4)
    assert rate_all(any_study, clock, claimed=900, passed=0.05) == 56
    assert hours(any_study) == pytest.approx(56 * 0.05 / 3600)
    progress = campaign_progress(any_study)
    assert progress.activity[0].quartiles == pytest.approx((0.05 / 60,) * 3)
    (rater,) = rater_signals(any_study)
    assert "too_fast" in {signal.kind for signal in rater.flagged}
    # What the page said is kept.
    with any_study.read() as connection:
        assert set(connection.execute(select(ratings.c.active_seconds)).scalars()) == {900}


def test_pauses_that_the_page_left_out_stay_out(study: Study, clock: Clock) -> None:
    fill(study)
    values = rate_all(study, clock, claimed=20, passed=90)
    assert hours(study) == pytest.approx(values * 20 / 3600)


def test_values_that_waited_for_the_connection_keep_their_time(study: Study, clock: Clock) -> None:
    fill(study, queries=1, systems=1)
    rater = give(study, "anna", keys=("CC", "ID"))
    assert rater is not None
    step = open_next(study, rater).step
    assert step is not None
    clock.forward(seconds=100)
    for key, seconds in (("CC", 40), ("ID", 50)):
        payload = commit(key, 50, active_seconds=seconds)
        save(study, rater, RatingPayload(step.item.public_id, step.stage.number, payload))
    with study.read() as connection:
        assert sorted(active_seconds(connection).by_rating.values()) == [40, 50]


def test_times_from_other_places_are_as_they_were_stored(study: Study) -> None:
    fill(study, queries=1, systems=1)
    rater = give(study, "anna", keys=("QR",))
    assert rater is not None
    open_next(study, rater)
    with study.write() as connection:
        assignment = connection.execute(select(assignments.c.id)).scalar_one()
        row = {"assignment_id": assignment, "construct_key": "QR", "config_hash": "x"}
        row |= {"value": 5.0, "active_seconds": 900.0, "channel": "label-studio"}
        connection.execute(insert(rater_answers).values(**row))
    assert hours(study) == pytest.approx(0.25)
