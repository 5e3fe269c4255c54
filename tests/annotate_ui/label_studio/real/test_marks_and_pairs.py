"""The server takes the pages for marks and pairs, and gives back what raters do on them."""

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import annotate, projects
from tests.annotate_ui.label_studio.test_marks import SETTINGS, marked
from tests.annotate_ui.label_studio.test_pairs import better
from tests.annotate_ui.rated_campaign import fill


def test_marks_and_pairs_come_back(
    study: Study, server: Server, label_studio: LabelStudioServer, members: tuple[Member, Member]
) -> None:
    path = study.folder / "study.toml"
    path.write_text(f"{path.read_text()}{SETTINGS}\n[design]\ncomparisons = 1.0\n")
    asked = Study.open(study.folder)
    fill(asked, queries=1, systems=2)
    assign(asked, per_item=1, open_slots=True, channel="label_studio")
    push(asked, server)
    (project,) = projects(asked)
    for (response,), task in sorted(project.tasks.items()):
        text = f"response-0-{response - 1}"
        mark = {"id": "m1", "to_name": "response", **marked(0, 8, text)}
        annotate(label_studio, members[0], task, {"QR": 40}, extra=[mark])
    done = pull(asked, server)
    assert (done.new, done.marks, done.rejected) == (2, 2, [])
    assert asked.marks_table()["marked"].tolist() == [1, 1]

    (pairs,) = push(asked, server).projects
    (task,) = server.export(pairs.number)
    choice = {"id": "c1", "to_name": "response_1", **better("QR", "Response 2 is much better")}
    annotate(label_studio, members[0], int(task["id"]), {}, extra=[choice])
    assert pull(asked, server).new == 1
    assert abs(asked.preference_table()["value"].item()) == 2.0
    assert pull(asked, server).stored_anything is False
    assert push(asked, server).tasks == 0
