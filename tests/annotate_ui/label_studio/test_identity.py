"""A server is known by what it is: addresses change hands, and numbers are given again."""

from pathlib import Path
from typing import Any

import pytest

from annotate_ui.label_studio.annotation_store import UNKNOWN_TASK
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.task_data import NAME
from study import Study
from study.assignment.planner import assign
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow
from study.lifecycle.backup import backup
from study.lifecycle.restore import restore
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.test_annotation_store import projects, pushed
from tests.annotate_ui.rated_campaign import fill


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
    done = pull(study, anew)
    assert (done.missing_projects, done.stored_anything) == ([project.number], False)
    assert push(study, anew).missing_projects == [project.number]
    assert study.score_table()["value"].tolist() == [70.0, 70.0]
    # Both studies continue on this server, independently.
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


def test_users_of_a_server_set_up_anew_are_other_people(study: Study) -> None:
    before: Any = StandIn()
    project = rated(study, before)
    anew: Any = StandIn()
    assert pull(study, anew).missing_projects == [project.number]
    assign(study, per_item=2, open_slots=True, channel="label_studio", constructs=["QR"])
    push(study, anew)
    again = projects(study)[1]
    assert (again.number, again.server) == (project.number, project.server)
    for task in again.tasks.values():
        anew.annotate(again.number, task, 5, "10:00", QR=10)
    met = []
    done = pull(study, anew, confirm_new_raters=lambda users, here: met.append((users, here)))
    assert met == [([5], ["ls-5"])]
    assert (done.new, done.changed, done.raters) == (2, 0, {"ls-5-2": 5})
    assert pull(study, anew).stored_anything is False
    assert sorted(study.score_table()["value"]) == [10.0, 10.0, 70.0, 70.0]


@pytest.mark.parametrize("command", [push, pull])
def test_a_server_is_the_same_at_another_address(study: Study, command: Any) -> None:
    server: Any = StandIn()
    project = rated(study, server)
    for address in ("http://alias.example.org", "http://third.example.org"):
        server.url = address
        command(study, server)
        assert [project.server for project in projects(study)] == [address]
        assert (pull(study, server).stored_anything, push(study, server).tasks) == (False, 0)
    assert len(study.score_table()) == len(project.tasks)


def test_a_server_is_known_without_any_project_and_moves_without(study: Study) -> None:
    server: Any = StandIn()
    project = rated(study, server)
    server.delete_project(project.number)
    server.url = "http://moved.example.org"
    assert push(study, server).missing_projects == [project.number]
    assert push(study, server).missing_projects == []
    assert [project.server for project in projects(study)] == [server.url]
    assert len(study.score_table()) == 2


def test_a_project_that_is_only_not_listed_is_not_taken_for_deleted(study: Study) -> None:
    server: Any = StandIn()
    project = rated(study, server)
    server.unlisted = {project.number}
    assert pull(study, server).missing_projects == []
    done = push(study, server)
    assert (done.missing_projects, done.tasks) == ([], 0)


def test_a_push_reports_a_deleted_project(study: Study) -> None:
    server: Any = StandIn()
    project = rated(study, server)
    server.delete_project(project.number)
    done = push(study, server)
    assert (done.missing_projects, done.tasks) == ([project.number], 0)


def test_other_texts_under_the_same_numbers_are_other_tasks(study: Study, tmp_path: Path) -> None:
    server: Any = StandIn()
    backup(study, tmp_path / "backup")
    project = pushed(study, server, constructs=["QR"])
    for task in project.tasks.values():
        server.annotate(project.number, task, 5, "10:00", QR=7)
    study.close()
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = Study.open(tmp_path / "restored")
    rows = [
        LocatedRow(
            n, ResponseRow(query_id="q0", query="question-0", system=f"system-{n}", response=text)
        )
        for n, text in enumerate(["one", "two"])
    ]
    import_rows(restored, rows, source="s", sha256="0" * 64, importer="test")
    assign(restored, per_item=1, open_slots=True, channel="label_studio", constructs=["QR"])
    assert (push(restored, server).adopted, len(server.tasks[project.number])) == (0, 4)
    done = pull(restored, server)
    assert (done.new, {rejected.reason for rejected in done.rejected}) == (0, {UNKNOWN_TASK})
    restored.close()


def test_a_project_unknown_to_an_earlier_backup_is_reported(study: Study, tmp_path: Path) -> None:
    server: Any = StandIn()
    fill(study, queries=1, systems=2)
    assign(study, per_item=1, open_slots=True, channel="label_studio", constructs=["QR"])
    backup(study, tmp_path / "backup")
    assign(study, per_item=2, open_slots=True, channel="label_studio", constructs=["QR"])
    assert push(study, server).unknown_projects == []
    (project,) = projects(study)
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = Study.open(tmp_path / "restored")
    assert push(restored, server).unknown_projects == [project.number]
    restored.close()


def test_a_task_without_its_name_is_left_alone(study: Study) -> None:
    server: Any = StandIn()
    fill(study, queries=1, systems=2)
    assign(study, per_item=1, open_slots=True, channel="label_studio", constructs=["QR"])
    push(study, server)
    (project,) = projects(study)
    made = [
        server.annotate(project.number, task, 5, "10:00", QR=70)
        for task in sorted(project.tasks.values())
    ]
    pull(study, server)
    for task in project.tasks.values():
        del server.tasks[project.number][task]["data"][NAME]
    made[0]["result"][0]["value"]["number"] = 10
    done = pull(study, server)
    assert (done.withdrawn, done.changed) == (0, 0)
    assert [rejected.reason for rejected in done.rejected] == [UNKNOWN_TASK] * 2
    assert study.score_table()["value"].tolist() == [70.0, 70.0]
