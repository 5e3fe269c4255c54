"""What a push makes of projects and tasks that are not as it left them."""

import re
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from annotate_ui.cli.label_studio_output import pushed_lines
from annotate_ui.label_studio.client import ServerError
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.cli.root import cli
from study.errors import StudyError
from study.importing.import_store import import_rows
from study.importing.rows import LocatedRow, ScoreRow
from study.lifecycle.erase import erase
from study.schema.tables import constructs
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import projects, pushed, reserve
from tests.annotate_ui.rated_campaign import fill, give


class Interrupted(StandIn):
    """Goes away when it has made a project."""

    def create_project(self, **settings: Any) -> int:
        """Make it, and be gone."""
        super().create_project(**settings)
        raise ServerError("gone")


def test_a_project_of_another_configuration_is_not_taken_for_this(study: Study) -> None:
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["QR"])
    server: Any = Interrupted()
    with pytest.raises(ServerError, match="gone"):
        push(study, server)
    server.create_project = lambda **settings: StandIn.create_project(server, **settings)
    path = study.folder / "study.toml"
    before = path.read_text()
    path.write_text(f'{before}\n[[constructs]]\nkey = "QR"\nname = "QR"\nquestion = "Other?"\n')
    edited = Study.open(study.folder)
    assert push(edited, server).projects[0].is_new
    assert "Other?" in server.made[projects(edited)[0].number]["xml"]
    assert len(server.made) == 2


def test_a_project_that_an_interrupted_push_made_is_known_again(study: Study) -> None:
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["QR"])
    server: Any = Interrupted()
    with pytest.raises(ServerError, match="gone"):
        push(study, server)
    assert push(study, server).tasks == 1
    assert len(server.made) == 1


def test_tasks_of_an_interrupted_push_are_counted_once(study: Study, server: Any) -> None:
    fill(study, queries=3, systems=2)
    reserve(study, constructs=["QR"])
    send = server.import_tasks

    def lost(number: int, tasks: Any) -> None:
        send(number, tasks[:4])
        raise ServerError("lost reply", 400)

    server.import_tasks = lost
    with pytest.raises(ServerError, match="lost reply"):
        push(study, server)
    server.import_tasks = send
    done = push(study, server)
    assert (done.tasks, done.existing, done.adopted) == (6, 0, 4)
    assert "2 tasks were sent; 0 existed already." in pushed_lines(done)
    done = push(study, server)
    assert (done.tasks, done.existing, done.adopted) == (0, 6, 0)


def test_unrated_copies_of_tasks_are_deleted_by_every_push(study: Study, server: Any) -> None:
    project = pushed(study, server, systems=2, constructs=["QR"])
    there = server.tasks[project.number]
    first, second = sorted(project.tasks.values())
    _, rated = server.import_tasks(project.number, [there[first], there[second]])
    server.annotate(project.number, rated, 5, "10:00", QR=70)
    done = push(study, server)
    assert (done.tasks, done.duplicates) == (0, 1)
    assert "Unrated tasks that were on the server twice and were deleted: 1." in pushed_lines(done)
    assert there.keys() == {first, second, rated}
    assert push(study, server).duplicates == 0


def test_a_command_under_way_keeps_the_constructs_of_its_start(study: Study, server: Any) -> None:
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["QR"])
    pinned = study.pinned()
    path = study.folder / "study.toml"
    before = path.read_text()
    path.write_text(f'{before}\n[[constructs]]\nkey = "QR"\nname = "QR"\nquestion = "Other?"\n')
    Study.open(study.folder)
    push(pinned, server)
    (project,) = projects(study)
    assert project.controls["QR"]["construct_version"] == 1
    assert "Other?" not in server.made[project.number]["xml"]
    with study.read() as connection:
        versions = connection.execute(
            select(func.count()).select_from(constructs).where(constructs.c.key == "QR")
        ).scalar_one()
    assert versions == 2


def rated(study: Study, server: Any) -> Any:
    """Push two responses, of which user 5 rates the first; return the project."""
    project = pushed(study, server, constructs=["QR"])
    server.annotate(project.number, min(project.tasks.values()), 5, "10:00", QR=70)
    pull(study, server)
    return project


def test_a_task_that_was_deleted_is_sent_again(study: Study, server: Any) -> None:
    project = rated(study, server)
    first, second = sorted(project.tasks.values())
    server.delete_task(second)
    done = push(study, server)
    assert (done.deleted, done.tasks) == (1, 1)
    server.delete_task(first)
    assert pull(study, server).withdrawn == 1
    done = push(study, server)
    assert (done.deleted, done.tasks) == (1, 1)
    again = projects(study)[0]
    for task in again.tasks.values():
        server.annotate(again.number, task, 6, "11:00", QR=20)
    assert pull(study, server).new == 2
    assert pull(study, server).stored_anything is False
    assert (push(study, server).deleted, push(study, server).tasks) == (0, 0)


@pytest.mark.parametrize("same_number", [False, True])
def test_a_deleted_task_is_noticed_where_another_was_imported(
    study: Study, same_number: bool, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    task = max(project.tasks.values())
    server.delete_task(task)
    (other,) = server.import_tasks(project.number, [{"data": {"response": "of someone else"}}])
    if same_number:
        # As Label Studio numbers a task that follows a deleted one.
        of_project = server.tasks[project.number]
        of_project[task] = {**of_project.pop(other), "id": task}
    done = push(study, server)
    assert (done.deleted, done.tasks) == (1, 1)
    assert (push(study, server).deleted, push(study, server).tasks) == (0, 0)


def test_a_project_of_an_earlier_push_is_protected_by_the_next(study: Study, server: Any) -> None:
    made = server.made[pushed(study, server, constructs=["QR"]).number]
    protected = made["xml"]
    made["xml"] = re.sub(r' hotkey="."|<Style>.*?</Style>', "", protected)
    push(study, server)
    assert made["xml"].count("hotkey=") == protected.count("hotkey=") > 0
    assert "<Style>" in made["xml"]
    mended = made["xml"]
    push(study, server)
    assert made["xml"] is mended


def test_projects_have_the_title_of_their_push(study: Study, server: Any) -> None:
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["QR", "CC"])
    push(study, server, title="Pilot: of May")
    (project,) = projects(study)
    (task,) = project.tasks.values()
    server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    push(study, server)
    titles = [made["title"] for made in server.made.values()]
    assert titles == ["Pilot: of May: 1 (1)", f"{study.config.name[:30]}: 2 (1)"]


def test_settings_that_label_studio_cannot_keep_are_refused_or_named(
    tmp_path: Path, server: Any
) -> None:
    settings = "[design]\ncalibration = 1\nchecks = 2\ntraining = 3\nrepeats = 0.1\n"
    study = Study.create(tmp_path / "own", f'{settings}layout = "side_by_side"\n')
    fill(study, queries=2, systems=1)
    plan: dict[str, Any] = {"per_item": 1, "open_slots": True, "channel": "label_studio"}
    with pytest.raises(StudyError, match=r"calibration = 1: .*--calibration 0 --layout single"):
        assign(study, **plan)
    assign(study, **plan, calibration=0, layout="single", constructs=["QR"])
    done = push(study, server)
    assert done.tasks == 2
    named = ["calibration", "training", "checks", "repeats", "layout"]
    assert done.ignored_settings == named
    lines = pushed_lines(done)
    assert lines[-5:] == [f"design.{name} of study.toml does not apply here." for name in named]
    study.close()


class Opened(StandIn):
    """Is opened as the client of a real server is."""

    def __init__(self, url: str, *_: Any, **__: Any) -> None:
        super().__init__()
        self.url = url
        self.identity = url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_the_printed_commands_reach_the_same_server(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers: dict[str, Opened] = {}
    monkeypatch.setattr(
        "annotate_ui.label_studio.client.Server",
        lambda url, *_, **__: servers.setdefault(url, Opened(url)),
    )
    fill(study, queries=1, systems=1)

    def next_command(*words: str) -> str:
        done = CliRunner().invoke(cli, words, env={"LABEL_STUDIO_API_KEY": "x"})
        assert done.exit_code == 0, done.output
        return done.output.splitlines()[-1].removeprefix("Next: ccrs ")

    folder = str(study.folder)
    slots = ("assign", folder, "--open", "--channel", "label_studio", "--per-item")
    assert next_command(*slots, "1") == f"label-studio push {folder} --url URL"
    printed = next_command("label-studio", "push", folder, "--url", "http://one.example.org")
    assert printed == f"label-studio sync {folder}"
    assert next_command(*printed.split(), "--rounds", "1") == f"report {folder}"
    assert list(servers) == ["http://one.example.org"]
    assert next_command(*slots, "2") == f"label-studio push {folder}"
    path = study.folder / "study.toml"
    path.write_text(path.read_text() + '\n[label_studio]\nurl = "http://two.example.org"\n')
    printed = next_command("label-studio", "push", folder, "--url", "http://one.example.org")
    assert printed == f"label-studio sync {folder} --url http://one.example.org"


def test_unrated_tasks_of_a_deleted_project_are_sent_again(any_study: Study, server: Any) -> None:
    study = any_study
    project = rated(study, server)
    server.delete_project(project.number)
    done = pull(study, server)
    assert (done.missing_projects, done.withdrawn) == ([project.number], 0)
    again = push(study, server)
    assert (again.missing_projects, again.tasks) == ([project.number], 1)
    assert again.projects[0].is_new
    assert study.score_table()["value"].tolist() == [70.0]
    assert pull(study, server).stored_anything is False


def test_responses_rated_in_a_deleted_project_are_not_asked_again(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, 3, constructs=["QR"])
    task = min(project.tasks.values())
    server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    server.delete_project(project.number)
    done = push(study, server)
    assert sorted((project.overlap, project.tasks) for project in done.projects) == [(2, 1), (3, 1)]
    assert push(study, server).tasks == 0


def test_a_user_who_may_be_a_known_rater_needs_a_decision(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    give(study, "anna", keys=["CC"])
    server.annotate(project.number, min(project.tasks.values()), 5, "10:00", QR=70)
    score = ScoreRow(
        query_id="q0",
        system="system-0",
        construct_key="QR",
        scorer="ls-5",
        scorer_kind="human",
        value=30,
    )
    import_rows(study, [LocatedRow(1, score)], source="s", sha256="0" * 64, importer="test")
    met = []

    def stop(users: list[int], here: list[str]) -> None:
        met.append((users, here))
        # While one rater thinks, others save.
        with Study.open(study.folder).write():
            pass
        raise StudyError("stopped")

    with pytest.raises(StudyError, match="stopped"):
        pull(study, server, confirm_new_raters=stop)
    assert met == [([5], ["anna", "ls-5"])]
    done = pull(study, server, raters={5: "anna"}, confirm_new_raters=stop)
    assert (done.new, done.raters) == (1, {})
    erase(study, "anna")
    with pytest.raises(StudyError, match=r"User 5 of .* was erased"):
        pull(study, server, raters={5: "anna"})
