"""What an adjudicator sees of a judge: nothing, unless study.toml names its run."""

import pytest
from sqlalchemy import insert, select

from annotate_ui.tasks.feedback import FeedbackView, show_feedback
from annotate_ui.tasks.steps import rater_work
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.assignment.adjudication import adjudicate
from study.errors import StudyError
from study.schema import RaterAnswerBase
from study.schema.tables import judge_answers, judge_runs, rater_answers, responses
from tests.annotate_ui.designed_campaign import assign_one, assignments, configure, new_rater
from tests.annotate_ui.rated_campaign import fill, finish_step, give

HOSTILE = "<script>alert(1)</script> \u202eesrever\x1b[2J\nIt is thin.\n" + "long " * 50_000


def judged(study: Study) -> int:
    """Store a run with a reason on QR and a missing score on AC; return the response."""
    with study.write() as connection:
        response = int(connection.execute(select(responses.c.id)).scalar_one())
        run = {"id": 1, "name": "the-judge", "engine": "openai", "model": "m", "repeats": 1}
        more = {"prompt_version": "p", "prompt_hash": "h", "decoding": {}, "software": {}}
        connection.execute(insert(judge_runs).values(**run, **more, config_hash="x"))
        shared = {"run_id": 1, "response_id": response, "construct_version": 1, "repeat": 0,
                  "attempt": 1, "flags": []}  # fmt: skip
        rows = [
            {"construct_key": "QR", "value": 97.0, "rule": "last_line",
             "raw_answer": f"{HOSTILE}\n97", "missing_reason": None},
            {"construct_key": "AC", "value": None, "rule": None, "raw_answer": "no",
             "missing_reason": "no_score"},
        ]  # fmt: skip
        connection.execute(insert(judge_answers), [{**shared, **row} for row in rows])
    return response


def shown(study: Study, rater: int, item: str) -> FeedbackView:
    with study.read() as connection:
        work = rater_work(connection, study.config, rater)
        page = work.feedback_of(item)
        assert page is not None
        return show_feedback(connection, study, work, page, rater)


def test_only_where_the_owner_asked_and_after_the_blind_value(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    response = judged(any_study)
    anna = new_rater(any_study, "anna")
    assign_one(any_study, anna, response, construct_keys=["QR", "AC"], purpose="adjudication")
    steps = [finish_step(any_study, anna, 55.0) for _ in range(2)]
    assert open_next(any_study, anna).kind == "feedback"
    item = steps[0].item.public_id
    assert [answer.judge for answer in shown(any_study, anna, item).answers] == [None, None]
    configure(any_study, rating={"adjudicators_see": "the-judge"})
    qr, ac = shown(any_study, anna, item).answers
    assert qr.judge is not None
    assert (qr.judge.value, qr.judge.missing_reason, qr.judge.scale) == (97.0, None, None)
    assert qr.judge.reason is not None
    assert qr.judge.reason.startswith(
        "<script>alert(1)</script> \\u202eesrever\\x1b[2J It is thin."
    )
    assert len(qr.judge.reason) < 2100
    assert ac.judge is not None
    assert (ac.judge.value, ac.judge.missing_reason, ac.judge.reason) == (None, "no_score", None)


def test_values_of_others_are_those_of_the_main_rating(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    anna, ben = new_rater(any_study, "anna"), new_rater(any_study, "ben")
    purposes = {"main": 30.0, "repeat": 40.0, "calibration": 50.0, "check": 60.0, "training": 70.0}
    for purpose in purposes:
        assign_one(any_study, ben, 1, construct_keys=["QR"], purpose=purpose)
    with any_study.write() as connection:
        for row in assignments(any_study, ben):
            rating = RaterAnswerBase(
                construct_key="QR",
                construct_version=1,
                value=purposes[row.purpose],
                status="rated",
                input_kind="typed",
                revealed=["question"],
            )
            connection.execute(
                insert(rater_answers).values(
                    **rating.model_dump(), assignment_id=row.id, config_hash="x"
                )
            )
    assign_one(any_study, anna, 1, construct_keys=["QR"], purpose="adjudication")
    item = finish_step(any_study, anna, 55.0).item.public_id
    assert open_next(any_study, anna).kind == "feedback"
    (answer,) = shown(any_study, anna, item).answers
    assert [other.value for other in answer.others] == [30.0]


def test_a_run_that_the_study_has_not_is_refused_when_adjudication_is_planned(
    any_study: Study,
) -> None:
    fill(any_study, queries=1, systems=1)
    judged(any_study)
    ben = give(any_study, "ben", keys=["QR"])
    assert ben is not None
    finish_step(any_study, ben, 30.0)
    configure(any_study, rating={"adjudicators_see": "the-judg"})
    with pytest.raises(StudyError, match="is not a judge run of the study"):
        adjudicate(any_study, "anna", sample=1, dry_run=True)
    configure(any_study, rating={"adjudicators_see": "the-judge"})
    assert adjudicate(any_study, "anna", sample=1, dry_run=True).sees == "the-judge"
