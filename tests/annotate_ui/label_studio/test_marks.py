"""Sentences are marked in projects that were pushed, and in those that are followed."""

from typing import Any

import pytest
from sqlalchemy import select

from annotate_ui.label_studio.annotations import MARKED_AND_NONE
from annotate_ui.label_studio.follow import follow
from annotate_ui.label_studio.followed_project import FollowOptions
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.schema.tables import responses, sentence_marks
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.test_annotation_store import projects
from tests.annotate_ui.rated_campaign import fill

SETTINGS = """
[[constructs]]
key = "QR"
name = "Relevance"
question = "Is it relevant?"
sees = ["question", "response"]
mark_question = "Mark what is beside the question."
"""
TEXT = "response-0-0"


def marked(start: int, end: int, text: str = TEXT, label: str = "Relevance") -> dict[str, Any]:
    place = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
    return {"from_name": "QR_marks", "type": "labels", "value": place}


NOTHING = {"from_name": "QR_unmarked", "type": "choices", "value": {"choices": ["No sentence"]}}


def revisions(study: Study) -> list[tuple[int, Any]]:
    with study.read() as connection:
        rows = connection.execute(select(sentence_marks).order_by(sentence_marks.c.id)).all()
    return [(row.revision, row.ranges) for row in rows]


@pytest.fixture
def asked(any_study: Study) -> Study:
    path = any_study.folder / "study.toml"
    path.write_text(path.read_text() + SETTINGS)
    study = Study.open(any_study.folder)
    fill(study, queries=1, systems=1)
    assign(study, per_item=2, open_slots=True, channel="label_studio")
    return study


def test_marks_follow_every_change(asked: Study) -> None:
    server: Any = StandIn()
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
    assert (done.marks, [r.reason for r in done.rejected]) == (1, [MARKED_AND_NONE])
    made["result"][1:] = [marked(0, 8, "another text")]
    done = pull(asked, server)
    assert (done.marks, done.withdrawn, done.unchanged) == (0, 0, 2)
    assert "but the response has" in done.rejected[0].reason
    server.tasks[project.number][task]["annotations"].remove(silent)
    assert pull(asked, server).marks == 1
    assert revisions(asked)[1:] == [(2, [[0, 8]]), (1, []), (3, None), (2, None)]
    assert pull(asked, server).stored_anything is False


def test_labels_of_a_followed_project_are_marks(study: Study) -> None:
    server: Any = StandIn()
    xml = (
        '<View><Text name="text" value="$response"/><Labels name="QR_marks" toName="text">'
        '<Label value="beside"/><Label value="nice"/></Labels></View>'
    )
    project = server.create_project(description="", xml=xml)
    (task,) = server.import_tasks(project, [{"data": {"question": "?", "response": TEXT}}])
    made = server.annotate(project, task, 5, "10:00")
    made["result"] = [marked(0, 8, label="beside"), marked(9, 10, label="nice")]
    done = follow(study, server, project, FollowOptions(controls={"beside": "QR"}))
    assert (done.marks, done.imported["responses"]) == (1, 1)
    assert "labels 'nice' without a construct" in done.rejected[0].reason
    made["result"] = []
    assert follow(study, server).marks == 1
    server.tasks[project][task]["annotations"].clear()
    assert follow(study, server).marks == 1
    assert follow(study, server).stored_anything is False
    assert revisions(study) == [(1, [[0, 8]]), (2, []), (3, None)]
    with study.read() as connection:
        assert connection.execute(select(responses.c.text)).scalars().all() == [TEXT]
