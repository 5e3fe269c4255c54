"""What a pull makes of moments, departures, places given up, and both databases."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert, select

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.projects import exchange
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.revisions import EarlierAnswers
from annotate_ui.label_studio.slots import slots
from annotate_ui.monitoring.campaign_progress import campaign_progress
from study import Study
from study.errors import StudyError
from study.facts.rating_progress import rating_progress
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ScoreRow
from study.schema.tables import assignments, ratings as rating_table, reveals
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import (
    change,
    departs,
    edited,
    projects,
    pushed,
    rejections,
    reserve,
    revisions_of,
)
from tests.annotate_ui.rated_campaign import fill, give, ratings


def test_the_comment_of_a_task_is_stored_once(study: Study, server: Any) -> None:
    together = edited(study, '\n[rating]\ndisclosure = "all"\n')
    project = pushed(together, server, constructs=["QR", "CC"])
    for task in project.tasks.values():
        made = server.annotate(project.number, task, 5, "10:00", QR=70, CC=60)
        made["result"].append({"from_name": "comment", "value": {"text": [f"of task {task}"]}})
    assert pull(together, server).new == 4
    rows = ratings(together)
    assert [row.value for row in rows] == [70.0, 60.0] * 2
    assert [row.comment for row in rows if row.comment] == [
        f"of task {task}" for task in project.tasks.values()
    ]
    together.close()


def test_both_databases_store_the_same(any_study: Study) -> None:
    study, server = any_study, StandIn()
    project = pushed(study, server, per_item=2)
    first, second = sorted(project.tasks.values())
    made = server.annotate(project.number, first, 5, "10:00", lead=30, QR=70)
    server.annotate(project.number, second, 5, "10:01", QR=250)
    server.annotate(project.number, first, 6, "10:02", QR=20)
    done = pull(study, server)
    assert (done.new, done.rejected_new, len(done.rejected)) == (2, 1, 1)
    assert pull(study, server).stored_anything is False
    change(made, "11:00", 75)
    server.tasks[project.number][first]["annotations"].pop()
    done = pull(study, server)
    assert (done.changed, done.withdrawn) == (1, 1)
    assert pull(study, server).stored_anything is False
    assert [(r.revision, r.value, r.status) for r in ratings(study)] == [
        (1, 70.0, "rated"),
        (1, 20.0, "rated"),
        (2, 75.0, "rated"),
        (2, None, "withdrawn"),
    ]
    with study.read() as connection:
        shown = connection.execute(
            select(reveals.c.fields, reveals.c.created_at).order_by(reveals.c.id)
        ).all()
    assert len(shown) == 3
    assert {tuple(row.fields) for row in shown} == {("question", "response")}
    # The task was opened half a minute before it was submitted.
    assert str(min(row.created_at for row in shown)) == "2026-01-01 09:59:30+00:00"
    with exchange(study, server), pytest.raises(StudyError, match="is running"):
        pull(study, server)


def test_a_new_user_gets_no_code_that_an_imported_scorer_has(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    row = ScoreRow(
        query_id="q0", system="system-0", construct_key="QR", scorer="ls-5", scorer_kind="human",
        value=10,
    )  # fmt: skip
    import_rows(study, [LocatedRow(1, row)], source="s", sha256="s", importer="scores")
    for task in project.tasks.values():
        server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    assert revisions_of(study, "ls-5", "QR") == []
    assert [row.value for row in revisions_of(study, "ls-5-2", "QR")] == [70.0, 70.0]


def test_a_later_stage_of_a_repeat_is_no_reveal_of_the_first_values(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    task = min(project.tasks.values())
    made = server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    give(study, "ls-5", keys=["QR", "CC"], repeat=1)
    with study.write() as connection:
        again = connection.execute(
            select(assignments.c.id).where(assignments.c.repeat == 1).order_by(assignments.c.id)
        ).first()
        assert again is not None
        connection.execute(
            insert(reveals).values(
                assignment_id=again.id,
                stage=2,
                fields=["question", "response", "context"],
                created_at=datetime(2026, 1, 1, 11, tzinfo=UTC),
            )
        )
    change(made, "12:00", 75)
    pull(study, server)
    first, edited = revisions_of(study, "ls-5", "QR")
    assert (first.after_reveal, first.seen_more) == (False, False)
    assert (edited.value, edited.after_reveal, edited.seen_more) == (75.0, False, True)


def test_a_value_that_was_made_unfit_leaves_its_slot_undone(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    first, second = sorted(project.tasks.values())
    made = server.annotate(project.number, first, 5, "10:00", QR=70)
    server.annotate(project.number, second, 5, "10:00", QR=250)
    pull(study, server)
    with study.read() as connection:
        assert len(rated_slots(study)) == 2
    change(made, "11:00", 250)
    assert pull(study, server).withdrawn == 1
    with study.read() as connection:
        taken_back = set(connection.execute(select(rating_table.c.assignment_id)).scalars())
        taken = set(
            connection.execute(
                select(assignments.c.id).where(assignments.c.rater_id.is_not(None))
            ).scalars()
        )
        assert rated_slots(study) == taken - taken_back
        assert len(taken) == 2


def test_a_value_changed_after_the_next_stage_was_seen_is_kept_and_does_not_count(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR", "CC"])
    annotations = [
        server.annotate(project.number, t, 5, "10:00", QR=70) for t in project.tasks.values()
    ]
    pull(study, server)
    push(study, server)
    later = projects(study)[1]
    for task in later.tasks.values():
        server.annotate(later.number, task, 5, "12:00", CC=60)
    pull(study, server)
    change(annotations[0], "13:00", 20)
    pull(study, server)

    first, _, edited = revisions_of(study, "ls-5", "QR")
    assert (first.after_reveal, first.seen_more, first.revealed) == (
        False,
        False,
        ["question", "response"],
    )
    assert (edited.value, edited.after_reveal) == (20.0, True)
    assert edited.revealed == ["question", "response", "context"]
    scores = study.score_table()
    assert scores.loc[scores["construct"] == "QR", "value"].tolist() == [70.0, 70.0]
    assert scores.attrs["edited"] == 1


def test_a_place_that_was_given_up_goes_to_somebody_else(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    task = min(project.tasks.values())
    server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    annotations = server.tasks[project.number][task]["annotations"]
    server.annotate(project.number, task, 6, "10:30", QR=10)
    done = pull(study, server)
    assert (done.new, done.further, done.rejected) == (1, 1, [])
    annotations.pop(0)
    done = pull(study, server)
    # The further rater has the place now: nobody else is asked for it.
    assert (done.new, done.withdrawn, done.further, done.rejected) == (0, 1, 0, [])
    assert push(study, server).tasks == 0
    # A returning rater is a further one; no value is lost.
    server.annotate(project.number, task, 5, "11:00", QR=71)
    done = pull(study, server)
    assert (done.new, done.changed, done.further) == (1, 0, 1)
    assert pull(study, server).stored_anything is False
    assert [r.value for r in revisions_of(study, "ls-5", "QR")] == [70.0, None, 71.0]


def test_the_place_of_a_deleted_annotation_is_open_at_once(any_study: Study) -> None:
    study, server = any_study, StandIn()
    project = pushed(study, server, constructs=["QR"])
    task = min(project.tasks.values())
    server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    assert progress(study) == (1, 2, 1, 1)
    server.tasks[project.number][task]["annotations"].clear()
    for _ in range(2):
        pull(study, server)
        assert progress(study) == (0, 2, 2, 2)
        assert push(study, server).tasks == 0
    server.annotate(project.number, task, 6, "11:00", QR=20)
    assert (pull(study, server).further, progress(study)) == (0, (1, 2, 1, 1))
    counted = study.score_table().query("value == value")
    assert counted["scorer"].tolist() == ["ls-6"]


def progress(study: Study) -> tuple[int, int, int, int]:
    """Return the values, those expected, the open slots, and what the first rater could do."""
    with study.read() as connection:
        done = rating_progress(connection, study.construct_versions(connection))
    assert done is not None
    left = done.raters[0].label_studio_left
    return done.values, done.values_expected, done.open_elsewhere, left


def test_ratings_of_more_people_than_planned_count(any_study: Study) -> None:
    study, server = any_study, StandIn()
    project = pushed(study, server, constructs=["QR"])
    task, other = sorted(project.tasks.values())
    for user, value in ((5, 10), (6, 20), (7, 30), (8, 400)):
        server.annotate(project.number, task, user, "10:00", QR=value)
    done = pull(study, server)
    assert (done.new, done.further, len(done.rejected)) == (3, 3, 1)
    assert pull(study, server).stored_anything is False
    assert study.score_table().groupby("scorer")["value"].sum().to_dict() == {
        "ls-5": 10, "ls-6": 20, "ls-7": 30,
    }  # fmt: skip
    # They are nobody's task: they create no demand, and none is missing once they are withdrawn.
    assert push(study, server).tasks == 0
    del server.tasks[project.number][task]["annotations"][2:]
    assert pull(study, server).withdrawn == 1
    assert push(study, server).tasks == 0
    assert {(item.finished, item.required, item.vacant) for item in items(study)} == {
        (2, 2, 0), (0, 1, 0),
    }  # fmt: skip
    reserve(study, 2, constructs=["QR"])
    assert push(study, server).tasks == 1
    server.annotate(project.number, other, 5, "10:00", QR=5)
    assert pull(study, server).further == 1


def rated_slots(study: Study) -> set[int]:
    with study.read() as connection:
        earlier = EarlierAnswers(connection)
        return {slot.id for slot in slots(connection, study) if earlier.is_rated(slot)}


def items(study: Study) -> tuple[Any, ...]:
    return campaign_progress(study).items


def test_a_returning_rater_takes_a_place_that_is_open_again(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    task = min(project.tasks.values())
    annotations = server.tasks[project.number][task]["annotations"]
    for user, at in ((5, "10:00"), (6, "11:00"), (5, "12:00")):
        annotations.clear()
        server.annotate(project.number, task, user, at, QR=70)
        assert pull(study, server).new >= 1
        assert pull(study, server).stored_anything is False
    with study.read() as connection:
        live = [
            slot for slot in slots(connection, study) if task == project.tasks[slot.response_id]
        ]
    assert {slot.id for slot in live} <= rated_slots(study)
    counted = study.score_table().query("value == value")
    assert counted["scorer"].tolist() == ["ls-5"]


def test_values_of_a_rater_who_left_are_rejected(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    first, second = sorted(project.tasks.values())
    server.annotate(project.number, first, 5, "10:00", QR=70)
    pull(study, server)
    departs(study, "ls-5", "removed")
    server.annotate(project.number, second, 5, "10:30", QR=10)
    done = pull(study, server)
    assert (done.new, done.withdrawn) == (0, 0)
    assert set(rejections(done)) == {reasons.LEFT}
    assert study.score_table()["value"].tolist() == [70.0]


def test_an_unknown_task_is_reported(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    (strange,) = server.import_tasks(project.number, [{"data": {"ccrs_id": "0" * 32}}])
    server.annotate(project.number, strange, 5, "10:00", QR=70)
    done = pull(study, server)
    assert (done.new, rejections(done)) == (
        0,
        [reasons.UNKNOWN_TASK],
    )


def test_the_known_one_of_two_equal_tasks_stays(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    tasks = server.tasks[project.number]
    known = max(project.tasks.values())
    unknown = min(tasks) - 1
    tasks[unknown] = {**deepcopy(tasks[known]), "id": unknown}
    fill(study, queries=2, systems=2)
    reserve(study, constructs=["QR"])
    assert push(study, server).duplicates == 1
    assert known in tasks
    assert unknown not in tasks


def test_a_task_that_is_there_twice_is_removed_unless_somebody_rated_it(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    first, second = sorted(project.tasks.values())
    copies = server.import_tasks(
        project.number,
        [{"data": server.tasks[project.number][task]["data"]} for task in (first, second)],
    )
    server.annotate(project.number, copies[0], 5, "10:00", QR=70)
    fill(study, queries=2, systems=2)
    reserve(study, constructs=["QR"])
    done = push(study, server)
    assert (done.tasks, done.duplicates) == (2, 1)
    assert copies[0] in server.tasks[project.number]
    assert copies[1] not in server.tasks[project.number]
    assert pull(study, server).new == 1
