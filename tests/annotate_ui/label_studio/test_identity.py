"""A server is known by its organization; numbers of projects and tasks are used again."""

from pathlib import Path
from typing import Any

import pytest

from annotate_ui.label_studio import NAME, reasons
from annotate_ui.label_studio.follow import follow
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.errors import StudyError
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ResponseRow
from study.lifecycle.backup import backup
from study.lifecycle.restore import restore
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import projects, pushed, rejections, reserve
from tests.annotate_ui.rated_campaign import fill


def rated(study: Study, server: Any) -> Any:
    """Push two responses, both rated by user 5 and pulled; return the project."""
    project = pushed(study, server, constructs=["QR"])
    for task in project.tasks.values():
        server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    return project


@pytest.mark.parametrize("command", [push, pull, follow])
def test_another_server_is_refused_and_the_same_is_known_at_any_address(
    study: Study, command: Any, server: Any
) -> None:
    rated(study, server)
    anew: Any = StandIn()
    with pytest.raises(StudyError, match=r"set up anew.* at any address.* in a new study"):
        command(study, anew)
    assert anew.made == {}
    server.url = "http://alias.example.org"
    assert (pull(study, server).stored_anything, push(study, server).tasks) == (False, 0)
    assert study.score_table()["value"].tolist() == [70.0, 70.0]


def test_a_project_that_is_only_not_listed_is_not_taken_for_deleted(
    study: Study, server: Any
) -> None:
    project = rated(study, server)
    server.unlisted = {project.number}
    assert pull(study, server).missing_projects == []
    done = push(study, server)
    assert (done.missing_projects, done.tasks) == ([], 0)


def test_other_texts_under_the_same_numbers_are_other_tasks(
    study: Study, tmp_path: Path, server: Any
) -> None:
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
    reserve(restored, constructs=["QR"])
    assert (push(restored, server).adopted, len(server.tasks[project.number])) == (0, 4)
    done = pull(restored, server)
    assert (done.new, set(rejections(done))) == (
        0,
        {reasons.UNKNOWN_TASK},
    )
    restored.close()


def test_a_project_unknown_to_an_earlier_backup_is_reported(
    study: Study, tmp_path: Path, server: Any
) -> None:
    fill(study, queries=1, systems=2)
    reserve(study, constructs=["QR"])
    backup(study, tmp_path / "backup")
    reserve(study, 2, constructs=["QR"])
    assert push(study, server).unknown_projects == []
    (project,) = projects(study)
    restore(tmp_path / "backup", tmp_path / "restored")
    restored = Study.open(tmp_path / "restored")
    assert push(restored, server).unknown_projects == [project.number]
    restored.close()


def test_a_task_without_its_name_is_left_alone(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
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
    assert rejections(done) == [reasons.UNKNOWN_TASK] * 2
    assert study.score_table()["value"].tolist() == [70.0, 70.0]
