"""Sentences are marked in projects that were pushed, and in those that are followed."""

from typing import Any

import pytest
from sqlalchemy import select

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.follow import FollowOptions, follow
from annotate_ui.label_studio.page import NOTHING_TO_MARK
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.schema.tables import responses, sentence_marks
from tests.annotate_ui.label_studio.pushed_study import edited, projects, rejections, reserve
from tests.annotate_ui.rated_campaign import fill, give

SETTINGS = """
[[constructs]]
key = "QR"
name = "Relevance"
question = "Is it relevant?"
sees = ["question", "response"]
mark_question = "Mark what is beside the question."
"""
TEXT = "response-0-0"


LABELS = (
    '<View><Text name="text" value="$response"/><Labels name="QR_marks" toName="text">'
    '<Label value="beside"/><Label value="nice"/></Labels></View>'
)
FOLLOWED = FollowOptions(controls={"beside": "QR"})


def marked(start: int, end: int, text: str = TEXT, label: str = "Relevance") -> dict[str, Any]:
    place = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    return {"from_name": "QR_marks", "type": "labels", "value": place}


NOTHING = {"from_name": "QR_unmarked", "type": "choices", "value": {"choices": [NOTHING_TO_MARK]}}


def revisions(study: Study) -> list[tuple[int, Any]]:
    with study.read() as connection:
        rows = connection.execute(select(sentence_marks).order_by(sentence_marks.c.id)).all()
    return [(row.revision, row.ranges) for row in rows]


@pytest.fixture
def asked(any_study: Study) -> Study:
    study = edited(any_study, SETTINGS)
    fill(study, queries=1, systems=1)
    reserve(study, 2)
    return study


def test_another_request_to_mark_reaches_the_projects_that_are_there(
    asked: Study, server: Any
) -> None:
    push(asked, server)
    path = asked.folder / "study.toml"
    path.write_text(path.read_text().replace("what is beside the question", "what is wrong"))
    edited = Study.open(asked.folder)
    assert push(edited, server).tasks == 0
    (project,) = projects(edited)
    assert "Mark what is wrong." in server.made[project.number]["xml"]


def test_a_first_request_to_mark_reaches_the_projects_that_are_there(
    any_study: Study, server: Any
) -> None:
    path = any_study.folder / "study.toml"
    before, request = path.read_text(), SETTINGS.splitlines()[-1]
    path.write_text(before + SETTINGS.replace(request, ""))
    study = Study.open(any_study.folder)
    fill(study, queries=1, systems=1)
    reserve(study, 2)
    push(study, server)
    path.write_text(before + SETTINGS)
    edited = Study.open(any_study.folder)
    assert push(edited, server).tasks == 0
    (project,) = projects(edited)
    made = server.annotate(project.number, min(project.tasks.values()), 5, "10:00", QR=70)
    made["result"].append(marked(0, 8))
    done = pull(edited, server)
    assert (done.new, done.marks, push(edited, server).tasks) == (1, 1, 0)


def test_marks_follow_every_change(asked: Study, server: Any) -> None:
    push(asked, server)
    (project,) = projects(asked)
    xml = server.made[project.number]["xml"]
    assert "Mark what is beside the question." in xml
    assert '<Label value="Relevance" hotkey=' in xml
    (task,) = project.tasks.values()
    made = server.annotate(project.number, task, 5, "10:00", lead=9, QR=70)
    silent = server.annotate(project.number, task, 6, "10:00", QR=60)
    made["result"] += [marked(9, 12), marked(0, 8), marked(4, 9)]
    done = pull(asked, server)
    # An annotation that says nothing about marks has none.
    assert (done.new, done.marks, done.rejected) == (2, 1, [])
    assert pull(asked, server).stored_anything is False
    assert revisions(asked) == [(1, [[0, 9], [9, 12]])]
    table = asked.marks_table()
    assert (table["scorer"].tolist(), table["marked"].tolist()) == (["ls-5"], [1])

    silent["result"].append(NOTHING)
    made["result"][1:] = [marked(0, 8)]
    made["updated_at"] = "2026-01-01T11:00:00Z"
    assert pull(asked, server).marks == 2
    made["result"].append(NOTHING)
    done = pull(asked, server)
    assert (done.marks, rejections(done)) == (1, [reasons.MARKED_AND_NONE])
    made["result"][1:] = [marked(0, 8, "another text")]
    done = pull(asked, server)
    assert (done.marks, done.withdrawn, done.unchanged) == (0, 0, 2)
    assert "but the response has" in done.rejected[0].reason
    server.tasks[project.number][task]["annotations"].remove(silent)
    assert pull(asked, server).marks == 1
    assert revisions(asked)[1:] == [(2, [[0, 8]]), (1, []), (3, None), (2, None)]
    assert pull(asked, server).stored_anything is False


def test_labels_of_a_followed_project_are_marks(study: Study, server: Any) -> None:
    project = server.create_project(description="", xml=LABELS)
    (task,) = server.import_tasks(project, [{"data": {"question": "?", "response": TEXT}}])
    made = server.annotate(project, task, 5, "10:00")
    made["result"] = [marked(0, 8, label="beside"), marked(9, 10, label="nice")]
    done = follow(study, server, project, FOLLOWED)
    assert (done.new, done.imported["responses"]) == (1, 1)
    assert done.left_out["labels 'nice' without a construct"] == 1
    assert study.marks_table()["marked"].tolist() == [1]
    made["result"] = []
    assert follow(study, server).changed == 1
    assert study.marks_table()["marked"].tolist() == [0]
    server.tasks[project][task]["annotations"].clear()
    assert follow(study, server).withdrawn == 1
    assert follow(study, server).stored_anything is False
    assert len(study.marks_table()) == 0
    with study.read() as connection:
        assert connection.execute(select(responses.c.text)).scalars().all() == [TEXT]


def unticked(*choices: str) -> dict[str, Any]:
    return {**NOTHING, "value": {"choices": [*choices]}}


def test_only_the_box_that_is_ticked_says_that_nothing_is_marked(asked: Study, server: Any) -> None:
    push(asked, server)
    (project,) = projects(asked)
    (task,) = project.tasks.values()
    made = server.annotate(project.number, task, 5, "10:00", QR=70)
    made["result"].append(unticked())
    assert (pull(asked, server).marks, revisions(asked)) == (0, [])
    made["result"][1] = unticked("another")
    done = pull(asked, server)
    assert [(one.value, one.reason) for one in done.rejected] == [
        ('["another"]', reasons.UNKNOWN_CHOICE)
    ]
    assert revisions(asked) == []
    made["result"][1] = NOTHING
    assert (pull(asked, server).rejected, revisions(asked)) == ([], [(1, [])])


def test_marks_are_rejected_with_the_value_that_counts_elsewhere(study: Study, server: Any) -> None:
    path = study.folder / "study.toml"
    second = SETTINGS.replace("QR", "ID").replace("Relevance", "Integration")
    path.write_text(f"{path.read_text()}{SETTINGS}{second}")
    with Study.open(study.folder) as asked:
        fill(asked, queries=1, systems=1)
        keys = ["QR", "ID"]
        reserve(asked, constructs=keys)
        push(asked, server)
        give(asked, "anna", keys=["QR"])
        (project,) = projects(asked)
        (task,) = project.tasks.values()
        made = server.annotate(project.number, task, 5, "10:00", QR=70, ID=30)
        made["result"].append(marked(0, 8))
        done = pull(asked, server, raters={5: "anna"})
        assert (done.new, done.marks, revisions(asked)) == (1, 0, [])
        assert {(one.construct, one.reason) for one in done.rejected} == {
            ("QR", reasons.OTHER_CHANNEL)
        }
        assert (done.rejected_new, pull(asked, server).stored_anything) == (2, False)
