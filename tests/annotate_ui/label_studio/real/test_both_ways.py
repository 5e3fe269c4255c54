"""A campaign on a real server: push, rate, skip, edit, delete, pull, and both again."""

from typing import Any

from sqlalchemy import select

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.assignment.planner import assign
from study.schema.tables import assignments, raters, ratings, rejected_values
from tests.annotate_ui.label_studio.pushed_study import pushed
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import (
    annotate,
    delete,
    edit,
    projects,
    rate_all,
)
from tests.annotate_ui.label_studio.test_edited_constructs import asking
from tests.annotate_ui.rated_campaign import fill, give

Two = tuple[Member, Member]


def revisions(study: Study, member: Member, response: int, construct: str) -> list[Any]:
    """Return the revisions of a rater on a response, the first first."""
    with study.read() as connection:
        return list(
            connection.execute(
                select(ratings)
                .join_from(ratings, assignments, ratings.c.assignment_id == assignments.c.id)
                .join(raters, assignments.c.rater_id == raters.c.id)
                .where(
                    raters.c.code == f"ls-{member.id}",
                    assignments.c.response_id == response,
                    ratings.c.construct_key == construct,
                )
                .order_by(ratings.c.id)
            )
        )


def test_stages_come_one_after_another_and_show_nothing_of_the_next(
    campaign: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    first = push(campaign, server)
    assert (first.tasks, first.waiting, first.slots) == (4, 16, 24)
    (stage_one,) = projects(campaign)
    assert (stage_one.stage, stage_one.overlap) == (1, 2)

    for member in members:
        rate_all(label_studio, member, stage_one, 70)
    assert pull(campaign, server).new == 8
    second = push(campaign, server)
    assert (second.tasks, second.waiting) == (4, 8)

    for member in members:
        rate_all(label_studio, member, projects(campaign)[1], 60)
    assert pull(campaign, server).new == 16
    assert push(campaign, server).waiting == 0
    for member in members:
        rate_all(label_studio, member, projects(campaign)[2], 50)
    done = pull(campaign, server)

    assert (done.new, done.unchanged, done.rejected) == (16, 24, [])
    shown = []
    for project in projects(campaign):
        (number, *_) = project.tasks.values()
        with label_studio.client() as owner:
            shown.append(owner.get(f"/api/tasks/{number}/").json()["data"])
    assert [sorted(set(data) - {"ccrs_id"}) for data in shown] == [
        ["question", "response"],
        ["passages", "question", "response"],
        ["passages", "question", "reference", "response"],
    ]
    assert "system" not in str(shown)
    scores = campaign.score_table()
    assert len(scores) == 2 * 4 * 5
    assert set(scores["source"]) == {"label_studio"}
    assert scores.groupby("construct")["value"].unique().map(list).to_dict() == {
        "QR": [70.0],
        "CC": [60.0],
        "ID": [60.0],
        "AC": [50.0],
        "IR": [50.0],
    }
    rating = revisions(campaign, members[0], 1, "AC")[0]
    assert rating.revealed == ["question", "response", "context", "reference"]
    assert (rating.after_reveal, rating.seen_more, rating.wall_seconds) == (False, False, 12.5)
    assert (rating.channel, rating.external_at is not None) == ("label_studio", True)


def test_an_edit_a_skip_and_a_deletion(
    campaign: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    ada, bo = members
    push(campaign, server)
    (project,) = projects(campaign)
    mine = rate_all(label_studio, ada, project, 40)
    first, second, *_ = sorted(project.tasks)
    annotate(label_studio, bo, project.tasks[first], {}, skip=True)
    assert (pull(campaign, server).new, pull(campaign, server).stored_anything) == (5, False)

    edit(label_studio, ada, mine[first], {"QR": 45})
    delete(label_studio, ada, mine[second])
    done = pull(campaign, server)
    assert (done.new, done.changed, done.withdrawn) == (0, 1, 1)
    assert pull(campaign, server).stored_anything is False

    assert [r.value for r in revisions(campaign, ada, first, "QR")] == [40, 45]
    taken = revisions(campaign, ada, second, "QR")
    assert [(r.status, r.reason) for r in taken] == [
        ("rated", None),
        ("withdrawn", reasons.DELETED),
    ]
    (skip,) = revisions(campaign, bo, first, "QR")
    assert (skip.status, skip.value, skip.reason) == ("skipped", None, reasons.SKIPPED)

    annotate(label_studio, ada, project.tasks[second], {"QR": 99})
    # The place was open again, and the value in it is a new one.
    assert pull(campaign, server).new == 1
    assert [r.value for r in revisions(campaign, ada, second, "QR")] == [40, None, 99]


def test_values_that_only_the_server_accepts_are_stored_as_rejected(
    campaign: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    ada, bo = members
    push(campaign, server)
    (project,) = projects(campaign)
    tasks = [project.tasks[response] for response in sorted(project.tasks)]
    for task, value in zip(tasks, (250, "77", None), strict=False):
        annotate(label_studio, ada, task, {"QR": value})
    annotate(label_studio, ada, tasks[3], {})
    annotate(label_studio, bo, tasks[0], {"QR": 10})
    annotate(label_studio, bo, tasks[0], {"QR": 20})

    done = pull(campaign, server)
    assert done.new == 1
    assert sorted(
        (rejected.value, rejected.reason) for rejected in done.rejected if rejected.value
    ) == [
        ('"77"', reasons.NO_NUMBER),
        ("10.0", reasons.DUPLICATE),
        ("250", "250 is outside the scale 0 to 100"),
        ("null", reasons.NO_NUMBER),
    ]
    assert [rejected.reason for rejected in done.rejected if rejected.value is None] == [
        reasons.MISSING
    ]
    again = pull(campaign, server)
    assert (again.stored_anything, len(again.rejected), again.rejected_new) == (False, 5, 0)
    with campaign.read() as connection:
        rows = connection.execute(select(rejected_values)).all()
    assert len(rows) == 5
    assert "example.org" not in str(rows)


def test_a_rating_that_becomes_impossible_is_taken_back(
    campaign: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    push(campaign, server)
    (project,) = projects(campaign)
    (response, task), *_ = sorted(project.tasks.items())
    made = annotate(label_studio, members[0], task, {"QR": 40})
    pull(campaign, server)
    edit(label_studio, members[0], made, {"QR": 400})
    assert pull(campaign, server).withdrawn == 1
    last = revisions(campaign, members[0], response, "QR")[-1]
    assert (last.status, last.reason) == ("withdrawn", reasons.CHANGED_TO_INVALID)


def test_new_responses_and_new_slots_come_with_the_next_push(
    study: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    project = pushed(study, server, constructs=["QR"])
    rate_all(label_studio, members[0], project, 30)
    pull(study, server)

    fill(study, queries=2, systems=2)
    assign(study, per_item=1, open_slots=True, channel="label_studio", constructs=["QR"])
    second = push(study, server)
    assert (second.tasks, len(projects(study))) == (2, 1)
    rate_all(label_studio, members[1], projects(study)[0], 80)
    done = pull(study, server)
    # Two of the four tasks had a rater already, and one planned place.
    assert (done.new, done.further, done.rejected) == (4, 2, [])

    assign(study, per_item=2, open_slots=True, channel="label_studio", constructs=["QR"])
    assert push(study, server).tasks == 2
    assert pull(study, server).stored_anything is False


def test_the_own_pages_go_before_a_rating_of_the_same_response_over_there(
    campaign: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    ada, bo = members
    push(campaign, server)
    (project,) = projects(campaign)
    give(campaign, "anna", keys=["QR"])
    rate_all(label_studio, ada, project, 30)
    rate_all(label_studio, bo, project, 35)
    done = pull(campaign, server, raters={ada.id: "anna"})
    assert done.raters == {f"ls-{bo.id}": bo.id}
    assert done.new == 4
    assert [(rejected.rater, rejected.reason) for rejected in done.rejected] == [
        ("anna", reasons.OTHER_CHANNEL)
    ] * 4
    assert set(campaign.score_table()["scorer"]) == {f"ls-{bo.id}"}


def test_a_skip_holds_its_place_and_a_deleted_task_comes_again(
    study: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    ada, bo = members
    project = pushed(study, server, constructs=["QR"])
    first, second = sorted(project.tasks.values())
    annotate(label_studio, ada, first, {}, skip=True)
    with label_studio.client(bo.token) as client:
        handed = client.get(f"/api/projects/{project.number}/next").json()
        assert handed["id"] == second
        client.get(f"/api/projects/{project.number}/").raise_for_status()
    with label_studio.client() as owner:
        assert owner.delete(f"/api/tasks/{second}/").status_code == 204
    done = push(study, server)
    assert (done.deleted, done.tasks) == (1, 1)
    assert pull(study, server).new == 1


def test_a_deleted_project_is_named_and_its_rest_sent_again(
    study: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    project = pushed(study, server, constructs=["QR"])
    annotate(label_studio, members[0], min(project.tasks.values()), {"QR": 40})
    pull(study, server)
    with label_studio.client() as owner:
        assert owner.delete(f"/api/projects/{project.number}/").status_code == 204
    done = pull(study, server)
    assert (done.missing_projects, done.stored_anything) == ([project.number], False)
    assert push(study, server).tasks == 1
    assert study.score_table()["value"].tolist() == [40.0]


def test_a_relation_takes_no_rating_back(
    study: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    project = pushed(study, server, constructs=["QR"], systems=1)
    (task,) = project.tasks.values()
    relation = {"type": "relation", "from_id": "QR", "to_id": "QR", "direction": "right"}
    annotate(label_studio, members[0], task, {"QR": 40}, extra=[relation])
    done = pull(study, server)
    assert (done.new, done.rejected) == (1, [])


def test_unrated_tasks_follow_an_edited_construct(
    study: Study, server: Server, label_studio: LabelStudioServer, members: Two
) -> None:
    first = asking(study, "wel")
    project = pushed(first, server, systems=3, constructs=["FL"])
    rated, begun, untouched = sorted(project.tasks.values())
    annotate(label_studio, members[0], rated, {"FL": 3})
    with label_studio.client(members[0].token) as client:
        draft = {"result": [], "lead_time": 1}
        assert client.post(f"/api/tasks/{begun}/drafts", json=draft).status_code == 201
    pull(first, server)
    edited = asking(study, "well")
    done = push(edited, server)
    assert (done.replaced, done.outdated, done.tasks) == (1, 2, 1)
    assert {int(task["id"]) for task in server.export(project.number)} == {rated, begun}
    (task,) = projects(edited)[1].tasks.values()
    # Numbers are counted on from the last that is there: those of deleted tasks are not given again
    # once others were sent.
    assert task > untouched
    annotate(label_studio, members[0], task, {"FL": 4})
    assert pull(edited, server).new == 1
    assert edited.score_table()["value"].tolist() == [4.0]
    assert pull(edited, server).stored_anything is False
