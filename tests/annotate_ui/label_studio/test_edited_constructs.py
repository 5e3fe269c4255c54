"""What becomes of tasks that are over there when a construct is edited in study.toml."""

from pathlib import Path
from typing import Any

from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from tests.annotate_ui.label_studio.pushed_study import projects, pushed

_CONSTRUCT = """
[[constructs]]
key = "FL"
name = "Fluency"
question = "How {} does it read?"
sees = ["question", "response"]
scale = {{ min = 1, max = 5, step = 1, level = "ordinal" }}
"""


def asking(study: Study, word: str) -> Study:
    """Return the study with a construct that asks with this word."""
    path: Path = study.folder / "study.toml"
    before = path.read_text().partition("\n[[constructs]]")[0]
    path.write_text(before + _CONSTRUCT.format(word))
    return Study.open(study.folder)


def test_unrated_tasks_ask_for_the_constructs_of_the_current_study_toml(
    study: Study, server: Any
) -> None:
    first = asking(study, "wel")
    project = pushed(first, server, systems=3, constructs=["FL"])
    rated, begun, _ = sorted(project.tasks.values())
    server.annotate(project.number, rated, 5, "10:00", FL=3)
    server.tasks[project.number][begun]["drafts"].append({"id": 1})
    assert pull(first, server).drafts == 1

    edited = asking(study, "well")
    done = push(edited, server)
    assert (done.replaced, done.outdated, done.tasks) == (1, 2, 1)
    assert set(server.tasks[project.number]) == {rated, begun}
    again = push(edited, server)
    assert (again.replaced, again.tasks) == (0, 0)
    after = projects(edited)[1]
    (task,) = after.tasks.values()
    server.annotate(after.number, task, 5, "11:00", FL=4)
    server.annotate(project.number, begun, 5, "11:10", FL=2)
    done = pull(edited, server)
    assert (done.new, done.outdated, done.rejected) == (2, 2, [])
    assert edited.score_table()["value"].tolist() == [4.0]
    assert pull(edited, server).stored_anything is False


def test_a_task_that_is_rated_at_that_moment_stays(study: Study, server: Any) -> None:
    first = asking(study, "wel")
    project = pushed(first, server, systems=1, constructs=["FL"])
    (task,) = project.tasks.values()
    export, times = server.export, []

    def rated_meanwhile(number: int) -> Any:
        times.append(number)
        # Between the first look and the last.
        if times.count(project.number) == 2:
            server.annotate(project.number, task, 5, "10:00", FL=3)
        return export(number)

    server.export = rated_meanwhile
    edited = asking(study, "well")
    done = push(edited, server)
    assert (done.replaced, done.tasks) == (0, 1)
    assert (list(server.tasks[project.number]), pull(edited, server).new) == ([task], 1)


def test_what_runs_with_an_earlier_study_toml_leaves_later_tasks(study: Study, server: Any) -> None:
    running = asking(study, "wel").pinned()
    pushed(running, server, constructs=["FL"])
    edited = asking(study, "well")
    assert (push(edited, server).replaced, push(running, server).replaced) == (2, 0)
    assert (push(running, server).tasks, push(edited, server).tasks) == (0, 0)


def test_new_tasks_are_there_before_the_others_go(study: Study, server: Any) -> None:
    first = asking(study, "wel")
    pushed(first, server, constructs=["FL"])
    there = []
    delete = server.delete_tasks

    def looked_at(number: int, tasks: Any) -> None:
        there.append(sum(len(some) for some in server.tasks.values()))
        delete(number, tasks)

    server.delete_tasks = looked_at
    assert push(asking(study, "well"), server).replaced == 2
    assert there == [4]
