"""Training: attempts, feedback, what counts, and how it ends."""

import pytest
from sqlalchemy import insert, select

from annotate_ui.participants.withdrawal import leave, readmit
from annotate_ui.tasks.feedback import FeedbackView, show_feedback
from annotate_ui.tasks.steps import rater_work
from annotate_ui.tasks.training import TrainingState, training_state
from annotate_ui.tasks.workflow import all_done, open_next
from study import Study, study_status
from study.schema.tables import departures, reveals
from tests.annotate_ui.designed_campaign import (
    assignments,
    configure,
    go_through,
    new_rater,
    teach,
)
from tests.annotate_ui.rated_campaign import fill, finish_step, give, rate, ratings


def state(study: Study, rater: int) -> TrainingState:
    with study.read() as connection:
        return training_state(connection, study, rater)


def kinds(study: Study, rater: int, value: float) -> list[str]:
    return [opened.kind for opened in go_through(study, rater, value)]


def feedback(study: Study, rater: int, public_id: str) -> FeedbackView:
    with study.read() as connection:
        work = rater_work(connection, study.config, rater)
        page = work.feedback_of(public_id)
        assert page is not None
        return show_feedback(connection, study, work, page, rater)


@pytest.fixture
def anna(any_study: Study) -> int:
    """Return a rater with one response to rate, in a study that asks for training."""
    fill(any_study, queries=1, systems=1)
    configure(any_study, design={"training": 2})
    rater = give(any_study, "anna", keys=["QR"])
    assert rater is not None
    return rater


def test_a_rater_who_passes_continues_with_the_main_work(any_study: Study, anna: int) -> None:
    teach(any_study, 3)
    assert kinds(any_study, anna, 70) == [*["step", "step", "feedback"] * 2, "step", "end"]
    training = state(any_study, anna)
    assert (training.passed, training.why, training.share, training.attempt) == (
        True,
        "passed",
        1.0,
        1,
    )
    # The training is not part of the progress or of the measurements.
    with any_study.read() as connection:
        progress = rater_work(connection, any_study.config, anna).progress
        assert all_done(connection, any_study, anna)
    assert (progress.done, progress.total, progress.queries_total) == (1, 1, 1)
    # The owner sees the same count.
    counted = study_status(any_study).rating
    assert counted is not None
    assert (counted.values, counted.values_expected) == (1, 1)
    assert [(one.values, one.values_expected) for one in counted.raters] == [(1, 1)]
    assert len(any_study.score_table()) == 1


def test_a_further_attempt_has_new_responses_and_the_last_one_ends_training(
    any_study: Study, anna: int
) -> None:
    teach(any_study, 7)
    configure(any_study, design={"training_attempts": 3})
    seen = go_through(any_study, anna, 10)
    assert seen[-1].kind == "training_failed"
    assigned = assignments(any_study, anna, "training")
    assert [row.round for row in assigned] == [0, 0, 1, 1, 2, 2]
    assert len({row.response_id for row in assigned}) == 6
    training = state(any_study, anna)
    assert (training.failed, training.why, training.shares) == (True, "attempts_used", (0, 0, 0))
    with any_study.read() as connection:
        assert not all_done(connection, any_study, anna)
    # The owner lets them through: no rater is locked out for good.
    readmit(any_study, "anna")
    assert state(any_study, anna).why == "readmitted"
    assert kinds(any_study, anna, 10) == ["step", "end"]


def test_the_second_attempt_may_pass(any_study: Study, anna: int) -> None:
    teach(any_study, 4)
    for _ in range(2):
        for _ in range(2):
            finish_step(any_study, anna, 10)
        assert open_next(any_study, anna).kind == "feedback"
    assert state(any_study, anna).shares == (0.0,)
    assert kinds(any_study, anna, 75) == [*["step", "step", "feedback"] * 2, "step", "end"]
    assert state(any_study, anna).shares == (0.0, 1.0)


def test_too_few_new_responses_end_the_training(study: Study) -> None:
    fill(study, queries=1, systems=1)
    configure(study, design={"training": 2})
    anna = give(study, "anna")
    teach(study, 3)
    assert anna is not None
    assert go_through(study, anna, 10)[-1].kind == "training_failed"
    assert state(study, anna).why == "material_used"
    # More of it makes another attempt possible.
    teach(study, 1)
    assert open_next(study, anna).kind == "step"


def test_a_share_of_exactly_the_pass_mark_passes(study: Study) -> None:
    fill(study, queries=1, systems=1)
    configure(study, design={"training": 2, "pass_mark": 0.5})
    anna = give(study, "anna", keys=["QR"])
    assert anna is not None
    teach(study, 2)
    for value in (10.0, 10.0):
        finish_step(study, anna, value)
    assert open_next(study, anna).kind == "feedback"
    assert kinds(study, anna, 60) == ["step", "step", "feedback", "step", "end"]
    assert state(study, anna).share == 0.5


@pytest.mark.parametrize(
    ("training", "material", "language", "why"),
    [
        (0, 3, None, "not_asked"),
        (2, 0, None, "no_material"),
        (2, 3, "fr", "no_material"),
    ],
    ids=["not-asked", "none-there", "none-readable"],
)
def test_without_training_or_material_raters_are_admitted(
    study: Study, training: int, material: int, language: str | None, why: str
) -> None:
    fill(study, queries=1, systems=1)
    configure(study, design={"training": training})
    anna = new_rater(study, "anna", languages=["de", "en-GB"])
    give(study, "anna")
    teach(study, material, language=language)
    assert (state(study, anna).passed, state(study, anna).why) == (True, why)
    assert kinds(study, anna, 10)[-1] == "end"


def test_a_rater_who_left_and_returned_has_not_passed(any_study: Study, anna: int) -> None:
    teach(any_study, 2)
    leave(any_study, anna, "withdrew")
    readmit(any_study, "anna")
    assert not state(any_study, anna).passed
    assert open_next(any_study, anna).kind == "step"


def test_a_rater_readmitted_during_an_attempt_need_not_finish_it(
    any_study: Study, anna: int
) -> None:
    teach(any_study, 2)
    finish_step(any_study, anna, 1)
    with any_study.write() as connection:
        connection.execute(insert(departures).values(rater_id=anna, kind="readmitted"))
    step = open_next(any_study, anna).step
    assert step is not None
    assert step.item.purpose == "main"


def test_feedback_shows_what_is_expected_and_what_follows_it_does_not_count(
    any_study: Study, anna: int
) -> None:
    teach(any_study, 2, low=60, high=60)
    first = finish_step(any_study, anna, 61)
    second = finish_step(any_study, anna, 60)
    opened = open_next(any_study, anna)
    assert opened.kind == "feedback"
    again = open_next(any_study, anna)
    # It has been shown; what is next is the next response.
    assert again.kind == "step"
    with any_study.read() as connection:
        shown = connection.execute(
            select(reveals.c.stage, reveals.c.fields).where(reveals.c.stage == 4)
        ).all()
    assert [tuple(row) for row in shown] == [(4, [])]
    rate(any_study, anna, first, "QR", 60, base=1)
    assert [row.after_reveal for row in ratings(any_study)] == [False, False, True]
    view = feedback(any_study, anna, second.item.public_id)
    by_key = {answer.construct.key: answer for answer in view.answers}
    qr, ac = by_key["QR"], by_key["AC"]
    assert (qr.first_value, qr.construct.value) == (61, 60)
    assert qr.expected is not None
    assert ac.expected is not None
    assert (qr.expected.met, ac.expected.met) == (False, True)
    assert qr.expected.explanation == "because-QR"
    assert view.training is None
    # The end of the attempt shows the result of the values given before the feedback.
    for _ in range(2):
        finish_step(any_study, anna, 60)
    last = open_next(any_study, anna)
    assert last.page is not None
    view = feedback(any_study, anna, last.page.item.public_id)
    assert view.training is not None
    assert (view.training.share, view.training.passed) == (0.75, False)


def test_attempts_differ_by_rater_and_not_by_the_time_of_day(study: Study) -> None:
    configure(study, design={"training": 3})
    teach(study, 12)
    give(study, None)
    drawn = []
    for code in ("anna", "ben", "cara"):
        rater = new_rater(study, code)
        open_next(study, rater)
        drawn.append({row.response_id for row in assignments(study, rater, "training")})
    assert all(len(responses) == 3 for responses in drawn)
    assert len({frozenset(responses) for responses in drawn}) > 1


def test_many_requests_at_once_begin_one_attempt(any_study: Study, anna: int) -> None:
    from concurrent.futures import ThreadPoolExecutor

    teach(any_study, 6)
    with ThreadPoolExecutor(8) as pool:
        steps = list(pool.map(lambda _: open_next(any_study, anna).step, range(8)))
    assert len({step.item.id for step in steps if step is not None}) == 1
    assert len(assignments(any_study, anna, "training")) == 2
