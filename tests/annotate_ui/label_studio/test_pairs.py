"""Pairs are compared in projects that were pushed, and by choices in others."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotate_ui.cli.label_studio_output import pushed_lines
from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.client import ServerError
from annotate_ui.label_studio.configuration import choice_values
from annotate_ui.label_studio.follow import follow
from annotate_ui.label_studio.followed_project import FollowOptions
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.base.scales import Scale
from study.errors import StudyError
from study.importing.file_import import import_file
from study.schema.tables import comparisons, decisions
from tests.annotate_ui.label_studio.export_builder import annotation, written
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import departs, projects, rejections, reserve
from tests.annotate_ui.rated_campaign import fill


def better(key: str, choice: str) -> dict[str, Any]:
    return {"from_name": key, "type": "choices", "value": {"choices": [choice]}}


@pytest.fixture
def compared(any_study: Study) -> Study:
    """Return a study in which two people rate each response, and compare half of the pairs."""
    path = any_study.folder / "study.toml"
    path.write_text(
        f'{path.read_text()}\n[design]\ncomparisons = 0.5\ncomparison_constructs = ["QR", "AC"]\n'
    )
    study = Study.open(any_study.folder)
    fill(study, queries=4, systems=2)
    options: dict[str, Any] = {"channel": "label_studio", "constructs": ["QR"]}
    assign(study, per_item=2, open_slots=True, **options)
    return study


def rate_all(study: Study, server: Any) -> None:
    push(study, server)
    (project,) = projects(study)
    for task in project.tasks.values():
        for user in (5, 6):
            server.annotate(project.number, task, user, "10:00", QR=70)
    pull(study, server)


def test_pairs_are_sent_after_the_ratings_and_come_back_as_preferences(
    compared: Study, server: Any
) -> None:
    rate_all(compared, server)
    assert server.made[projects(compared)[0].number]["instructions"].count("Give a number") == 1
    done = push(compared, server)
    assert "Answer every question" in server.made[done.projects[0].number]["instructions"]
    assert (done.tasks, push(compared, server).tasks) == (2, 0)
    assert pushed_lines(done)[0].startswith("Comparisons (QR, AC): 2 tasks with 2 places each, new")
    number = done.projects[0].number
    first, second = server.tasks[number].values()
    expected = {"question", "response_1", "response_2", "reference", "passages", "ccrs_id"}
    assert set(first["data"]) == expected
    assert "of response 2" in first["data"]["passages"][-1]["title"]
    made = server.annotate(number, first["id"], 5, "11:00", lead=7)
    made["result"] = [
        better("QR", "Response 2 is much better"),
        better("AC", "Both are equally good"),
        {"from_name": "comment", "value": {"text": ["close"]}},
    ]
    server.annotate(number, second["id"], 5, "11:00")["was_cancelled"] = True
    done_pull = pull(compared, server)
    assert (done_pull.new, done_pull.skipped, done_pull.rejected) == (4, 2, [])
    assert pull(compared, server).stored_anything is False
    made["completed_by"] = None  # The account was deleted.
    assert pull(compared, server).stored_anything is False
    made["completed_by"] = 5
    table = compared.preference_table().set_index("construct").query("value == value")
    assert table["value"].to_dict().keys() == {"QR", "AC"}
    row = table.loc["QR"]
    winner = row["response_b"] if row["value"] > 0 else row["response_a"]
    query, system = winner.split("/")
    shown = first["data"]["response_2"]
    assert (abs(row["value"]), shown) == (2.0, f"response-{query[1:]}-{system[-1]}")
    with compared.read() as connection:
        stored = connection.execute(select(comparisons)).all()
        values = select(decisions).where(decisions.c.value.is_not(None))
        decision: Any = connection.execute(values.order_by(decisions.c.id)).first()
    assert {(row.inclusion_prob, row.released_at is None) for row in stored} == {(0.5, False)}
    assert (decision.comment, decision.wall_seconds) == ("close", 7.0)
    assert decision.revealed == ["question", "response", "context", "reference"]

    made["result"][0] = better("QR", "Response 1 is better")
    made["result"][1] = better("AC", "Who knows")
    made["updated_at"] = "2026-01-01T12:00:00Z"
    done_pull = pull(compared, server)
    assert (done_pull.changed, done_pull.withdrawn, len(done_pull.rejected)) == (1, 1, 1)
    server.delete_task(first["id"])
    assert pull(compared, server).withdrawn == 1
    # It is sent again: nobody's comparison of it is left.
    again = push(compared, server)
    assert (again.tasks, again.projects[0].is_new) == (1, False)


def test_the_place_of_a_person_who_cannot_count_goes_to_another(
    compared: Study, server: Any
) -> None:
    rate_all(compared, server)
    number = push(compared, server).projects[0].number
    first, second = server.tasks[number]
    for user, choice in ((5, "Response 1 is better"), (6, "Response 2 is better")):
        made = server.annotate(number, first, user, "11:00")
        made["result"] = [better("QR", choice), better("AC", choice)]
    # A value that cannot be a preference keeps its place: its rater may correct it.
    server.annotate(number, second, 5, "11:00")["result"] = [better("QR", "Who knows")]
    assert pull(compared, server).new == 4
    assert push(compared, server).tasks == 0
    departs(compared, "ls-6", "left")
    server.annotate(number, second, 6, "12:00")["result"] = [
        better("QR", "Response 1 is better"),
        better("AC", "Response 1 is better"),
    ]
    done = pull(compared, server)
    assert {rejected.reason for rejected in done.rejected if rejected.rater == "ls-6"} == {
        reasons.LEFT
    }
    again = push(compared, server)
    # What ls-6 compared before leaving counts.
    assert (again.blocked, again.tasks, again.projects[0].overlap) == (1, 1, 1)
    assert push(compared, server).tasks == 0


def test_an_edited_construct_replaces_pairs_that_nobody_has_compared(
    compared: Study, server: Any
) -> None:
    rate_all(compared, server)
    number = push(compared, server).projects[0].number
    first, _ = server.tasks[number]
    server.annotate(number, first, 5, "11:00")["result"] = [
        better("QR", "Response 1 is better"),
        better("AC", "Response 1 is better"),
    ]
    path = compared.folder / "study.toml"
    edit = '\n[[constructs]]\nkey = "AC"\nname = "Correctness"\nquestion = "Is it correct?"\n'
    path.write_text(path.read_text() + edit)
    edited = Study.open(compared.folder)
    done = push(edited, server)
    assert (done.replaced, list(server.tasks[number])) == (1, [first])


def test_pairs_are_compared_without_ratings(any_study: Study, server: Any) -> None:
    path = any_study.folder / "study.toml"
    path.write_text(
        path.read_text() + "\n[design]\ncomparisons = 1.0\nratings = false\nper_item = 2\n"
        'sample = 3\ncomparison_constructs = ["AC"]\n'
    )
    study = Study.open(any_study.folder)
    fill(study, queries=4, systems=2)
    with pytest.raises(StudyError, match="no slots are needed"):
        assign(study, open_slots=True, channel="label_studio")
    (made,) = push(study, server).projects
    assert (made.tasks, made.overlap, push(study, server).tasks) == (3, 2, 0)
    for task in list(server.tasks[made.number]):
        made_by = server.annotate(made.number, task, 5, "11:00")
        made_by["result"] = [better("AC", "Both are equally good")]
    assert pull(study, server).new == 3
    with study.read() as connection:
        chances = connection.execute(select(comparisons.c.inclusion_prob)).scalars().all()
    assert chances == [0.75] * 3


def test_an_interrupted_push_of_pairs_is_continued(compared: Study) -> None:
    class Lossy(StandIn):
        """Stores tasks and loses the reply."""

        lost = False

        def import_tasks(self, number: int, tasks: Any) -> list[int]:
            """Fail once, after the tasks arrived."""
            numbers = super().import_tasks(number, tasks)
            if "response_1" in tasks[0]["data"] and not self.lost:
                self.lost = True
                raise ServerError("refused", 400)
            return numbers

    server: Any = Lossy()
    rate_all(compared, server)
    with pytest.raises(ServerError):
        push(compared, server)
    again = push(compared, server)
    assert (again.tasks, again.adopted, push(compared, server).tasks) == (2, 2, 0)
    pair_project = projects(compared)[1]
    assert len(server.tasks[pair_project.number]) == 2
    # One more person for each response: one more for each pair, in a project of one place.
    reserve(compared, 3, constructs=["QR"])
    push(compared, server)
    further = projects(compared)[2]
    for task in further.tasks.values():
        server.annotate(further.number, task, 7, "11:00", QR=70)
    pull(compared, server)
    (made,) = push(compared, server).projects
    assert (made.overlap, made.tasks, push(compared, server).tasks) == (1, 2, 0)


def test_choices_follow_the_scale_of_preferences() -> None:
    default = choice_values(Scale(min=-2, max=2, step=1))
    assert list(default.values()) == [-2, -1, 0, 1, 2]
    assert list(default)[:3] == [
        "Response 1 is much better",
        "Response 1 is better",
        "Both are equally good",
    ]
    assert len(choice_values(Scale(min=-5, max=5, step=1))) == 11
    assert list(choice_values(Scale(min=-1, max=1, step=2)).values()) == [-1, 1]


VALUES = {"A is better": -1.0, "tie": 0.0, "B is better": 1.0}
PAIR = {"prompt": "?", "answer_a": "one", "answer_b": "two"}
CHOICES = "".join(f'<Choice value="{label}"/>' for label in VALUES)
XML = f'<View><Choices name="which" toName="x">{CHOICES}</Choices></View>'


def tasks(*choices: str) -> list[dict[str, Any]]:
    return [
        {
            "id": number,
            "data": {**PAIR, "prompt": f"{number}?"},
            "annotations": [{**annotation(number, 1), "result": [better("which", choice)]}],
        }
        for number, choice in enumerate(choices, 1)
    ]


def preferences(study: Study) -> list[float]:
    return study.preference_table().sort_values("query_id")["value"].tolist()


@pytest.mark.parametrize("way", ["import", "follow"])
def test_choices_between_two_responses_are_preferences(
    study: Study, tmp_path: Path, way: str
) -> None:
    exported = tasks("A is better", "tie", "B is better")
    options: Any = {"controls": {"which": "AC"}, "columns": {"prompt": "query"}, "values": VALUES}
    if way == "import":
        import_file(study, written(tmp_path, *exported), **options)
    else:
        server: Any = StandIn()
        number = server.create_project(description="", xml=XML)
        server.tasks[number] = {task["id"]: {**task, "drafts": []} for task in exported}
        assert follow(study, server, number, FollowOptions(**options)).new == 3
    assert sorted(preferences(study)) == [-1.0, 0.0, 1.0]
    table = study.preference_table()
    assert table.loc[table["value"] == 1.0, "response_b"].tolist() == ["task-3/b"]


@pytest.mark.parametrize("way", ["import", "follow"])
def test_a_choice_between_the_points_of_the_scale_is_no_preference(
    study: Study, tmp_path: Path, way: str
) -> None:
    exported = tasks("A is slightly better", "B is better")
    values = {"A is better": -1.0, "A is slightly better": -0.5, "B is better": 1.0}
    options: Any = {"controls": {"which": "AC"}, "columns": {"prompt": "query"}, "values": values}
    reason = "-0.5 is not a point of the scale -2 to 2 in steps of 1"
    if way == "import":
        path = written(tmp_path, *exported)
        options["values"] = {label: values[label] for label in list(values)[1:]}
        report = import_file(study, path, **options)
        assert report.rules[f"a value treated as missing: {reason}"] == 1
        missing = study.preference_table().query("value != value")["missing_reason"].tolist()
        assert missing == ["out_of_range"]
    else:
        server: Any = StandIn()
        number = server.create_project(
            description="", xml=XML.replace("tie", "A is slightly better")
        )
        server.tasks[number] = {task["id"]: {**task, "drafts": []} for task in exported}
        done = follow(study, server, number, FollowOptions(**options))
        assert (done.new, rejections(done)) == (1, [reason])
    assert study.preference_table()["value"].dropna().tolist() == [1.0]


def test_a_value_in_a_task_whose_responses_are_only_compared_is_rejected(
    study: Study, server: Any
) -> None:
    number = server.create_project(
        description="", xml=XML.replace("<View>", '<View><Number name="stars" toName="x"/>')
    )
    (exported,) = tasks("tie")
    exported["data"]["response_id"] = "elsewhere"
    exported["annotations"][0]["result"].append(
        {"from_name": "stars", "type": "number", "value": {"number": 70}}
    )
    server.tasks[number] = {exported["id"]: {**exported, "drafts": []}}
    controls = {"which": "AC", "stars": "QR"}
    options = FollowOptions(controls=controls, columns={"prompt": "query"}, values=VALUES)
    done = follow(study, server, number, options)
    assert (done.new, preferences(study)) == (1, [0.0])
    (rejected,) = done.rejected
    assert (rejected.construct, rejected.value, rejected.reason) == (
        "QR",
        "70.0",
        reasons.UNKNOWN_RESPONSE,
    )


def test_preferences_of_a_changed_task_are_rejected(study: Study, server: Any) -> None:
    number = server.create_project(description="", xml=XML)
    (exported,) = tasks("tie")
    server.tasks[number] = {exported["id"]: {**exported, "drafts": []}}
    options = FollowOptions(controls={"which": "AC"}, columns={"prompt": "query"}, values=VALUES)
    assert follow(study, server, number, options).new == 1
    exported["data"]["answer_a"] = "another"
    later = server.annotate(number, exported["id"], 6, "12:00")
    later["result"] = [better("which", "B is better")]
    done = follow(study, server)
    assert (done.kept, rejections(done)) == (1, [reasons.TASK_CHANGED])
    assert (done.rejected[0].construct, preferences(study)) == ("AC", [0.0])
