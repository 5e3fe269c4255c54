"""The order of a rater's work, and what interrupts it: pauses, breaks, another session."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from annotate_ui.participants.withdrawal import leave
from annotate_ui.participation import pause, paused, resume
from annotate_ui.tasks.assignments import values_done
from annotate_ui.tasks.feedback import show_feedback
from annotate_ui.tasks.history import history
from annotate_ui.tasks.refusals import LeftError
from annotate_ui.tasks.step_view import show_page
from annotate_ui.tasks.steps import rater_work
from annotate_ui.tasks.workflow import all_done, open_next
from study import Study
from study.errors import StudyError
from study.schema import now
from study.schema.tables import responses as response_table, reveals
from tests.annotate_ui.designed_campaign import assign_one, configure, go_through, new_rater, teach
from tests.annotate_ui.faked_clock import Clock
from tests.annotate_ui.rated_campaign import commit, fill, finish_step, give, rate, ratings


def responses(study: Study) -> list[int]:
    with study.read() as connection:
        return list(
            connection.execute(select(response_table.c.id).order_by(response_table.c.id)).scalars()
        )


def test_training_calibration_main_with_checks_repeats_adjudication(
    any_study: Study, clock: Clock
) -> None:
    fill(any_study, queries=5, systems=1)
    calibration, main, later, judged, copied = responses(any_study)
    anna = new_rater(any_study, "anna")
    for response, purpose, other in (
        (judged, "adjudication", {"position": 0}),
        (main, "repeat", {"position": 1, "repeat": 1}),
        (later, "main", {"position": 2, "round": 1}),
        (main, "main", {"position": 3}),
        (copied, "check", {"position": 4}),
        (calibration, "calibration", {"position": 5}),
    ):
        assign_one(any_study, anna, response, purpose=purpose, **other)
    teach(any_study, 1)
    configure(any_study, design={"training": 1})
    seen = go_through(any_study, anna, 70)
    assert seen[-1].kind == "later"
    clock.forward(hours=25)
    seen = seen[:-1] + go_through(any_study, anna, 70)
    order = [
        (opened.page.phase, opened.kind, opened.page.item.response_id)
        for opened in seen
        if opened.page is not None and (opened.kind == "feedback" or opened.page.steps[0].part == 1)
    ]
    practice = responses(any_study)[-1]
    assert order == [
        ("training", "step", practice),
        ("training", "feedback", practice),
        ("calibration", "step", calibration),
        ("main", "step", main),
        ("main", "step", copied),
        ("main", "step", later),
        ("repeats", "step", main),
        ("adjudication", "step", judged),
        ("adjudication", "feedback", judged),
    ]
    assert seen[-1].kind == "end"
    with any_study.read() as connection:
        work = rater_work(connection, any_study.config, anna)
        counted = values_done(connection, any_study.config, anna)
        assert (work.progress.done, work.progress.total) == counted
        assert all_done(connection, any_study, anna)
        # Nothing on its page reveals the check.
        check = next(p for p in work.pages if p.item.purpose == "check")
        view, _ = show_page(connection, any_study.config, check)
    assert view.purpose == "main"
    assert {(s.query_number, s.query_count) for s in work.steps if s.item.purpose == "check"} == {
        (3, 6)
    }


def test_a_repeat_comes_in_another_session_and_after_some_hours(study: Study, clock: Clock) -> None:
    fill(study, queries=2, systems=1)
    configure(study, design={"repeat_after_hours": 2}, rating={"break_minutes": 30})
    anna = give(study, "anna", keys=["QR"])
    give(study, "anna", keys=["QR"], repeat=1)
    assert anna is not None
    began = clock.at
    finish_step(study, anna)
    clock.forward(minutes=10)
    finish_step(study, anna)
    # Two hours after the first query; by then there has been no save for half an hour.
    assert open_next(study, anna).due_from == began + timedelta(hours=2)
    clock.forward(hours=1, minutes=50)
    first = finish_step(study, anna)
    assert first.item.repeat == 1
    waits = open_next(study, anna)
    assert (waits.kind, waits.due_from) == ("later", began + timedelta(hours=2, minutes=10))
    with study.read() as connection:
        assert not all_done(connection, study, anna)
    clock.forward(minutes=10)
    assert [opened.kind for opened in go_through(study, anna)] == ["step", "end"]


def test_without_hours_between_a_repeat_still_waits_for_another_session(
    study: Study, clock: Clock
) -> None:
    fill(study, queries=1, systems=1)
    configure(study, design={"repeat_after_hours": 0})
    anna = give(study, "anna", keys=["QR", "CC"])
    give(study, "anna", keys=["QR", "CC"], repeat=1)
    assert anna is not None
    for _ in range(2):
        finish_step(study, anna)
    assert open_next(study, anna).due_from == clock.at + timedelta(minutes=30)
    clock.forward(minutes=31)
    finish_step(study, anna)
    with study.read() as connection:
        # Its second part is still to come and not open.
        assert history(connection, study.config, anna).left_out
    # Once begun it goes on, though its own saves are of this session.
    assert finish_step(study, anna).item.repeat == 1
    with study.read() as connection:
        assert not history(connection, study.config, anna).left_out
        work = rater_work(connection, study.config, anna)
    first, second = (page for page in work.pages if page.phase == "repeats")
    # Whoever goes back from a repeat comes to no value of the first time.
    assert (work.before(first), work.before(second)) == (None, first)


def test_a_session_ends_and_the_open_page_can_be_finished(any_study: Study, clock: Clock) -> None:
    fill(any_study, queries=2, systems=2)
    configure(any_study, rating={"session_minutes": 5, "break_minutes": 20})
    anna = give(any_study, "anna", keys=["CC", "ID"])
    assert anna is not None

    def save_one(key: str, seconds: float) -> None:
        step = open_next(any_study, anna).step
        assert step is not None
        from annotate_ui.tasks.rating_payload import RatingPayload
        from annotate_ui.tasks.save import save

        payload = commit(key, 50, active_seconds=seconds)
        save(any_study, anna, RatingPayload(step.item.public_id, step.stage.number, payload))

    save_one("CC", 200)
    clock.forward(minutes=4)
    save_one("ID", 90)
    save_one("CC", 30)
    # The session is over; the page that is open is not.
    clock.forward(minutes=1)
    save_one("ID", 30)
    over = open_next(any_study, anna)
    assert (over.kind, over.due_from) == ("break", clock.at + timedelta(minutes=20))
    assert over.page is None
    clock.forward(minutes=19)
    assert open_next(any_study, anna).kind == "break"
    clock.forward(minutes=1)
    assert open_next(any_study, anna).kind == "step"


def test_while_paused_nothing_is_opened_and_what_is_open_is_saved(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna")
    assert anna is not None
    step = open_next(any_study, anna).step
    assert step is not None
    pause(any_study, "Back on Monday.")
    pause(any_study, "Back on Monday.")
    assert open_next(any_study, anna).kind == "paused"
    rate(any_study, anna, step, "QR", 5)
    with any_study.read() as connection:
        assert paused(connection) == "Back on Monday."
    pause(any_study)
    with any_study.read() as connection:
        assert paused(connection) == ""
    assert resume(any_study)
    assert not resume(any_study)
    assert open_next(any_study, anna).kind == "step"
    with pytest.raises(StudyError, match="501 characters"):
        pause(any_study, "x" * 501)


def test_a_rater_who_left_sees_and_stores_nothing_more(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    anna = give(any_study, "anna")
    assert anna is not None
    step = open_next(any_study, anna).step
    assert step is not None
    leave(any_study, anna, "withdrew")
    with pytest.raises(LeftError):
        open_next(any_study, anna)
    with pytest.raises(LeftError):
        rate(any_study, anna, step, "QR", 5)
    assert ratings(any_study) == []


def test_side_by_side_all_responses_open_at_once_stage_by_stage(any_study: Study) -> None:
    fill(any_study, queries=2, systems=3)
    anna = new_rater(any_study, "anna")
    order = [3, 1, 2, 5, 6, 4]
    for position, place in enumerate(order):
        assign_one(
            any_study,
            anna,
            responses(any_study)[place - 1],
            position=position,
            layout="side_by_side",
        )
    first = open_next(any_study, anna)
    assert first.page is not None
    assert [step.item.response_id for step in first.page.steps] == order[:3]
    with any_study.read() as connection:
        work = rater_work(connection, any_study.config, anna)
        view, columns = show_page(connection, any_study.config, work.pages[0])
        shown = connection.execute(select(reveals.c.stage)).scalars().all()
    assert list(shown) == [1, 1, 1]
    assert [column.letter for column in columns] == ["A", "B", "C"]
    assert [column.response for column in columns] == [
        "response-0-2",
        "response-0-0",
        "response-0-1",
    ]
    assert (view.layout, view.passages, view.public_id) == (
        "side_by_side",
        None,
        columns[0].public_id,
    )
    assert columns[1].save_url == f"/rate/{columns[1].public_id}/1/save"
    # Some are rated: the next stage opens for none of them yet.
    rate(any_study, anna, first.page.steps[1], "QR", 5)
    rate(any_study, anna, first.page.steps[2], "QR", 5)
    again = open_next(any_study, anna)
    assert again.page is not None
    assert again.page.address == first.page.address
    assert again.step is not None
    assert again.step.item.response_id == order[0]
    rate(any_study, anna, first.page.steps[0], "QR", 5)
    rate(any_study, anna, first.page.steps[1], "QR", 7, base=1)
    second = open_next(any_study, anna)
    assert second.page is not None
    assert [step.stage.number for step in second.page.steps] == [3, 3, 3]
    rate(any_study, anna, first.page.steps[1], "QR", 9, base=2)
    assert [row.after_reveal for row in ratings(any_study)] == [False] * 4 + [True]
    assert [opened.kind for opened in go_through(any_study, anna)] == ["step"] * 3 + ["end"]


def test_passages_that_all_share_are_shown_once(study: Study) -> None:
    from uuid import uuid4

    from study.importing.import_store import import_rows
    from study.importing.rows import LocatedRow, PassageRow, ResponseRow

    rows = [
        LocatedRow(
            n,
            ResponseRow(
                query_id="q",
                query="?",
                system=f"s{n}",
                response=f"r{n}",
                passages=(PassageRow(text="one"), PassageRow(text="two")),
            ),
        )
        for n in (1, 2)
    ]
    import_rows(study, rows, source="t", sha256=uuid4().hex, importer="responses")
    anna = new_rater(study, "anna")
    for response in responses(study):
        assign_one(study, anna, response, construct_keys=["CC"], layout="side_by_side")
    open_next(study, anna)
    with study.read() as connection:
        (page,) = rater_work(connection, study.config, anna).pages
        view, columns = show_page(connection, study.config, page)
    assert [passage.text for passage in view.passages or ()] == ["one", "two"]
    assert [column.passages for column in columns] == [None, None]


def test_an_adjudicator_is_blind_first_and_never_sees_a_judge(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    (response,) = responses(any_study)
    for code, value in (("ben", 20.0), ("cara", 90.0)):
        rater = give(any_study, code)
        assert rater is not None
        for _ in range(3):
            finish_step(any_study, rater, value)
    late = open_next(any_study, rater)
    assert late.kind == "end"
    anna = new_rater(any_study, "anna")
    assign_one(
        any_study,
        anna,
        response,
        construct_keys=["QR", "AC"],
        purpose="adjudication",
        inclusion_prob=0.5,
    )
    steps = [finish_step(any_study, anna, 55.0) for _ in range(2)]
    opened = open_next(any_study, anna)
    assert opened.kind == "feedback"
    with any_study.read() as connection:
        work = rater_work(connection, any_study.config, anna)
        page = work.feedback_of(steps[0].item.public_id)
        assert page is not None
        view = show_feedback(connection, any_study, work, page, anna)
    assert [sorted(o.value or 0 for o in answer.others) for answer in view.answers] == [
        [20.0, 90.0]
    ] * 2
    assert {o.number for answer in view.answers for o in answer.others} == {1, 2}
    assert [answer.expected for answer in view.answers] == [None, None]
    # An informed value is a further one.
    rate(any_study, anna, steps[0], "QR", 30.0, base=1)
    mine = [row for row in ratings(any_study) if row.assignment_id == steps[0].item.id]
    assert [(row.value, row.after_reveal) for row in mine] == [
        (55.0, False),
        (55.0, False),
        (30.0, True),
    ]
    assert open_next(any_study, anna).kind == "end"


def test_the_clock_set_forth_and_back_loses_doubles_and_refuses_nothing(
    any_study: Study, clock: Clock
) -> None:
    fill(any_study, queries=1, systems=2)
    give(any_study, None)
    anna, ben = new_rater(any_study, "anna"), new_rater(any_study, "ben")
    first = finish_step(any_study, anna, 10)
    clock.forward(days=-2)
    second = finish_step(any_study, anna, 20)
    rate(any_study, anna, first, "QR", 11, base=1)
    assert open_next(any_study, ben).kind == "waiting"
    clock.forward(days=4)
    for key in open_next(any_study, anna).step.construct_keys:
        page = open_next(any_study, anna)
        assert page.step is not None
        stored = rate(any_study, anna, page.step, key, 30)
        assert not stored.unchanged
    clock.forward(days=-9)
    rate(any_study, anna, second, "QR", 21, base=1)
    seen = go_through(any_study, anna, 40)
    assert seen[-1].kind == "end"
    rows = ratings(any_study)
    assert [row.revision for row in rows if row.construct_key == "QR"] == [1, 1, 2, 2]
    assert len({(row.assignment_id, row.construct_key, row.revision) for row in rows}) == len(rows)
    newest = {(row.assignment_id, row.construct_key): row.value for row in rows}
    assert len(newest) == 10
    # Revisions determine what was last, whatever the clock showed.
    assert newest[first.item.id, "QR"] == 11
    assert newest[second.item.id, "QR"] == 21
    assert open_next(any_study, ben).kind == "waiting"
    assert now() == clock.at


def test_a_lease_from_before_the_clock_was_set_back_ends_in_time(
    study: Study, clock: Clock
) -> None:
    from tests.annotate_ui.designed_campaign import assignments

    fill(study, queries=1, systems=1)
    give(study, None)
    anna = new_rater(study, "anna")
    step = open_next(study, anna).step
    assert step is not None
    clock.forward(days=-30)
    rate(study, anna, step, "QR", 5)
    assert assignments(study)[0].leased_until == clock.at + timedelta(minutes=120)
