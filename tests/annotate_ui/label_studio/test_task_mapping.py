"""Places of tasks over there: which are held, lost, and made again."""

from typing import Any

import pytest
from sqlalchemy import update

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.located_annotations import blocked_places
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.lifecycle.erase import erase
from study.schema import now
from study.schema.tables import assignments
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import (
    departs,
    edited,
    projects,
    pushed,
    rejections,
    reserve,
)
from tests.annotate_ui.rated_campaign import give


def test_an_existing_place_is_not_split_when_others_are_removed(study: Study, server: Any) -> None:
    together = edited(study, '[rating]\ndisclosure = "all"\n')
    project = pushed(together, server, 3, systems=1, constructs=["QR", "CC"])
    server.annotate(project.number, min(project.tasks.values()), 5, "10:00", QR=70, CC=60)
    pull(together, server)
    server.delete_project(project.number)
    assert push(together, server).tasks == 1
    path = study.folder / "study.toml"
    path.write_text(path.read_text().replace('"all"', '"staged"'))
    staged = Study.open(study.folder)
    assert push(staged, server).tasks == 0
    there = projects(study)[1]
    assert there.overlap == 2
    for user in (6, 7):
        server.annotate(there.number, min(there.tasks.values()), user, "11:00", QR=20, CC=30)
    done = pull(staged, server)
    assert (done.new, done.rejected) == (4, [])


def test_a_place_that_its_rater_can_t_fill_comes_again(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    give(study, "anna", keys=["QR"])
    first, second = sorted(project.tasks.values())
    server.annotate(project.number, first, 5, "10:00", QR=70)
    server.annotate(project.number, second, 5, "10:00", QR=70)["was_cancelled"] = True
    done = pull(study, server, raters={5: "anna"})
    assert set(rejections(done)) == {reasons.OTHER_CHANNEL}
    again = push(study, server)
    assert (again.tasks, again.blocked) == (2, 2)
    assert push(study, server).tasks == 0
    further = projects(study)[1]
    for task in further.tasks.values():
        server.annotate(further.number, task, 6, "11:00", QR=20)
    assert pull(study, server).new == 2


@pytest.mark.parametrize("why", ["no account", "two accounts"])
def test_places_from_which_nothing_comes_are_made_again(
    study: Study, why: str, server: Any
) -> None:
    project = pushed(study, server, 2 if why == "two accounts" else 1, constructs=["QR"])
    task = min(project.tasks.values())
    if why == "no account":
        server.annotate(project.number, task, 5, "10:00", QR=70)["completed_by"] = None
    else:
        for user in (5, 6):
            server.annotate(project.number, task, user, "10:00", QR=70)
    people = {"no account": {}, "two accounts": {5: "anna", 6: "anna"}}
    pull(study, server, raters=people[why])
    done = push(study, server)
    assert (done.blocked, done.tasks) == (1, 1)
    assert push(study, server).tasks == 0


@pytest.mark.parametrize("why", ["left", "unreadable"])
def test_a_place_whose_value_still_counts_is_not_created_again(
    study: Study, why: str, server: Any
) -> None:
    project = pushed(study, server, 2, constructs=["QR"])
    made = [
        server.annotate(project.number, task, 5, "10:00", QR=70) for task in project.tasks.values()
    ]
    pull(study, server)
    if why == "left":
        departs(study, "ls-5", "left")
    else:
        for annotation in made:
            annotation["created_at"] = "soon"
    assert pull(study, server).withdrawn == 0
    done = push(study, server)
    assert (done.blocked, done.tasks) == (0, 0)
    for task in project.tasks.values():
        server.annotate(project.number, task, 6, "11:00", QR=50)
    assert pull(study, server).new == 2
    assert len(study.score_table()) == 4


def test_a_place_is_lost_only_while_its_annotation_is_there(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    give(study, "anna", keys=["QR"])
    task = min(project.tasks.values())
    server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server, raters={5: "anna"})
    assert projects(study)[0].blocked
    server.tasks[project.number][task]["annotations"].clear()
    pull(study, server)
    assert projects(study)[0].blocked == {}
    assert push(study, server).tasks == 0


@pytest.mark.parametrize("rated_here", [True, False])
def test_more_annotations_than_places_lose_no_more_places_than_there_are(
    study: Study, rated_here: bool, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    give(study, "anna", keys=["QR"])
    give(study, "ben", keys=["QR"])
    task, other = sorted(project.tasks.values())
    for user in (5, 6, 7):
        server.annotate(project.number, task, user, "10:00", QR=70)
    server.annotate(project.number, other, 7, "10:00", QR=70)
    # Those of anna and ben count here, and the third rater is one more than there are places.
    raters = {5: "anna", 6: "ben", **({7: "cleo"} if rated_here else {7: "anna"})}
    pull(study, server, raters=raters)
    lost = {response: 1 for response, number in project.tasks.items() if number == task}
    lost |= {response: 1 for response, number in project.tasks.items() if number == other}
    assert projects(study)[0].blocked == ({} if rated_here else lost)
    done = push(study, server)
    assert (done.blocked, done.tasks) == ((0, 0) if rated_here else (2, 2))


def test_work_released_elsewhere_does_not_block_others(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    give(study, "anna", keys=["QR"])
    with study.write() as connection:
        connection.execute(
            update(assignments).where(assignments.c.channel == "own").values(released_at=now())
        )
    server.annotate(project.number, min(project.tasks.values()), 5, "10:00", QR=70)
    done = pull(study, server, raters={5: "anna"})
    assert (done.new, done.rejected) == (1, [])


def test_lost_places_are_counted_by_users_and_never_beyond_the_overlap(study: Study) -> None:
    project = pushed(study, StandIn(), 2, constructs=["QR"])
    first, second = sorted(project.tasks)
    assert project.overlap == 2
    # Two annotations of one user hold one place, and one value is enough to fill it.
    assert blocked_places(project, [(first, 5, False), (first, 5, True)]) == {}
    assert blocked_places(project, [(first, 5, False), (first, 6, True)]) == {first: 1}
    more = [(first, user, False) for user in (5, 6, 7)] + [(second, 5, True)]
    assert blocked_places(project, more) == {first: 2}
    assert blocked_places(project, [*more, (first, 8, True)]) == {first: 1}
    assert blocked_places(project, [(first, user, True) for user in (5, 6, 7)]) == {}


@pytest.mark.parametrize("gone", ["left", "erased"])
def test_a_rater_who_left_does_not_keep_a_place(study: Study, gone: str, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    first, second = sorted(project.tasks.values())
    server.annotate(project.number, first, 5, "10:00", QR=70)
    pull(study, server)
    if gone == "erased":
        erase(study, "ls-5")
    else:
        departs(study, "ls-5", "removed")
    server.annotate(project.number, second, 5, "10:30", QR=10)
    done = pull(study, server)
    if gone == "left":
        assert set(rejections(done)) == {reasons.LEFT}
    else:
        assert (done.erased, done.rejected, done.rejected_new) == (2, [], 0)
    reserve(study, constructs=["QR"])
    before = push(study, server).tasks
    assert before == (1 if gone == "left" else 2)
    assert push(study, server).tasks == 0
