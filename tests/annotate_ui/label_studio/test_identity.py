"""A server is known by the marks of its projects, not by numbers that another may give too."""

from pathlib import Path
from typing import Any

import pytest

from annotate_ui.label_studio.moving import give_up, move
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.server import ServerError
from study import Study
from study.assigning import assign
from study.errors import StudyError
from tests.annotate_ui.label_studio.stand_in import StandIn
from tests.annotate_ui.label_studio.test_storing import projects, pushed


def rated(study: Study, server: Any) -> Any:
    """Push two responses, both rated by user 5 and pulled; return the project."""
    project = pushed(study, server, constructs=["QR"])
    for task in project.tasks.values():
        server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    return project


def test_a_server_set_up_anew_gives_nothing_of_another_study(study: Study, tmp_path: Path) -> None:
    before: Any = StandIn()
    project = rated(study, before)
    other = Study.create(tmp_path / "other")
    anew: Any = StandIn()
    theirs = pushed(other, anew, constructs=["QR"])
    assert (theirs.server, theirs.number) == (project.server, project.number)
    for task in theirs.tasks.values():
        anew.annotate(theirs.number, task, 6, "12:00", QR=11)
    for command in (pull, push):
        with pytest.raises(StudyError, match=r"is not the one that was pushed.*--give-up 1`"):
            command(study, anew)
    assert study.score_table()["value"].tolist() == [70.0, 70.0]
    assert give_up(study, anew, [project.number]) == 2
    # Both studies go on there, beside each other, and under the same numbers as before.
    assign(study, per_item=2, open_slots=True, channel="label_studio", constructs=["QR"])
    assert push(study, anew).tasks == 2
    mine = projects(study)[1]
    assert mine.number != theirs.number
    for task in mine.tasks.values():
        anew.annotate(mine.number, task, 6, "12:00", QR=50)
    assert (pull(study, anew).new, pull(other, anew).new) == (2, 2)
    assert sorted(study.score_table()["value"]) == [50.0, 50.0, 70.0, 70.0]
    assert other.score_table()["value"].tolist() == [11.0, 11.0]
    other.close()


def test_a_number_that_a_project_given_up_had_may_come_again(study: Study) -> None:
    before: Any = StandIn()
    project = rated(study, before)
    anew: Any = StandIn()
    with pytest.raises(ServerError, match=f"--give-up {project.number}"):
        pull(study, anew)
    give_up(study, anew, [project.number])
    assign(study, per_item=2, open_slots=True, channel="label_studio", constructs=["QR"])
    push(study, anew)
    again = projects(study)[1]
    assert (again.number, again.server) == (project.number, project.server)
    anew.annotate(again.number, min(again.tasks.values()), 5, "10:00", QR=10)
    anew.annotate(again.number, min(again.tasks.values()), 6, "10:00", QR=20)
    done = pull(study, anew)
    # User 5 of the server before is user 5 of this one: they have rated this already.
    assert (done.new, done.withdrawn) == (1, 0)
    assert pull(study, anew).anything is False


def test_a_server_has_one_address(study: Study) -> None:
    server: Any = StandIn()
    project = rated(study, server)
    known, server.url = server.url, "http://alias.example.org"
    for command in (push, pull):
        with pytest.raises(StudyError, match=f"knows as {known}, under another address"):
            command(study, server)
    assert move(study, server, known) == 1
    assert pull(study, server).anything is False
    assert [one.server for one in projects(study)] == [server.url]
    assert len(study.score_table()) == len(project.tasks)


def test_a_project_given_up_does_not_keep_a_server_from_moving(study: Study) -> None:
    server: Any = StandIn()
    project = rated(study, server)
    server.delete_project(project.number)
    known, server.url = server.url, "http://moved.example.org"
    with pytest.raises(StudyError, match=f"--moved-from {known} --give-up {project.number}`"):
        move(study, server, known)
    assert move(study, server, known, given_up=[project.number]) == 1
    assert give_up(study, server, [project.number]) == 2
    again, server.url = server.url, "http://third.example.org"
    assert move(study, server, again) == 1
    assert len(study.score_table()) == 2


def test_a_deleted_project_is_told_by_a_push(study: Study) -> None:
    server: Any = StandIn()
    project = rated(study, server)
    server.delete_project(project.number)
    done = push(study, server)
    assert (done.missing, done.tasks) == ([project.number], 0)
