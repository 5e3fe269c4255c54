"""Places of tasks in Label Studio: which are held, given up, and made again."""

from typing import Any

import pytest
from sqlalchemy import update

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.lifecycle.erase import erase
from study.schema import now
from study.schema.tables import assignments
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


@pytest.mark.parametrize("why", ["other channel", "no account", "two accounts"])
def test_a_place_whose_annotation_cannot_count_is_named_and_free_once_it_is_deleted(
    study: Study, why: str, server: Any
) -> None:
    project = pushed(study, server, 2 if why == "two accounts" else 1, constructs=["QR"])
    if why == "other channel":
        give(study, "anna", keys=["QR"])
    task = min(project.tasks.values())
    for user in (5, 6) if why == "two accounts" else (5,):
        made = server.annotate(project.number, task, user, "10:00", QR=70)
        made["completed_by"] = None if why == "no account" else user
    people = {} if why == "no account" else {5: "anna", 6: "anna"}
    done = pull(study, server, raters=people)
    assert len(done.rejected) == 1
    assert push(study, server).tasks == 0
    server.tasks[project.number][task]["annotations"].pop(0)
    server.annotate(project.number, task, 7, "11:00", QR=20)
    done = pull(study, server)
    assert done.rejected == []
    assert 20 in study.score_table()["value"].tolist()
    assert push(study, server).tasks == 0


def test_a_place_whose_value_still_counts_is_not_created_again(study: Study, server: Any) -> None:
    project = pushed(study, server, 2, constructs=["QR"])
    for task in project.tasks.values():
        server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    departs(study, "ls-5", "left")
    assert pull(study, server).withdrawn == 0
    assert push(study, server).tasks == 0
    for task in project.tasks.values():
        server.annotate(project.number, task, 6, "11:00", QR=50)
    assert pull(study, server).new == 2
    assert len(study.score_table()) == 4


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
    assert push(study, server).tasks == 0


def test_a_rater_who_returns_after_another_took_the_place_is_a_further_one(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, systems=1, constructs=["QR"])
    ((task, there),) = server.tasks[project.number].items()
    server.annotate(project.number, task, 5, "10:00", QR=50)
    pull(study, server)
    there["annotations"].clear()
    assert pull(study, server).withdrawn == 1
    server.annotate(project.number, task, 6, "10:01", QR=60)
    pull(study, server)
    server.annotate(project.number, task, 5, "10:02", QR=55)
    done = pull(study, server)
    assert (done.new, done.changed, done.further) == (1, 0, 1)
    done = pull(study, server)
    assert (done.stored_anything, done.unchanged, done.further) == (False, 2, 1)
    assert sorted(study.score_table()["value"].dropna()) == [55, 60]
    # The further one takes the place once it is free, and comes back as a further one after that.
    there["annotations"].pop(0)
    assert pull(study, server).further == 0
    assert push(study, server).tasks == 0
    server.annotate(project.number, task, 6, "10:03", QR=61)
    done = pull(study, server)
    assert (done.new, done.further) == (1, 1)
    there["annotations"].pop(1)
    assert (pull(study, server).withdrawn, pull(study, server).further) == (1, 0)
    server.annotate(project.number, task, 6, "10:04", QR=62)
    assert pull(study, server).further == 1
    assert pull(study, server).stored_anything is False
    assert sorted(study.score_table()["value"].dropna()) == [55, 62]
