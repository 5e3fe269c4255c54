"""Values that were pulled stay whose they are: two accounts, edits of study.toml."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from annotate_ui.label_studio import reasons
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.errors import StudyError
from study.lifecycle.erase import erase
from study.schema.tables import rejected_values
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import (
    change,
    edited,
    projects,
    pushed,
    rejections,
    reserve,
    revisions_of,
)
from tests.annotate_ui.rated_campaign import fill, give, open_next, rate


def construct(key: str, more: str = "") -> str:
    return f'[[constructs]]\nkey = "{key}"\nname = "{key}"\nquestion = "?"\n{more}\n'


def test_a_deleted_account_takes_no_values_along(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["QR"])
    first, second = sorted(project.tasks.values())
    made = server.annotate(project.number, first, 5, "10:00", QR=70)
    pull(study, server)
    server.annotate(project.number, second, 6, "10:00", QR=5)["completed_by"] = None
    made["completed_by"] = None
    done = pull(study, server)
    assert (done.withdrawn, rejections(done)) == (
        0,
        [reasons.NO_ACCOUNT],
    )
    assert pull(study, server).stored_anything is False
    assert study.score_table()["value"].tolist() == [70.0]


@pytest.mark.parametrize("twice", ["deleted and given anew", "given twice"])
def test_the_account_of_a_value_given_anew_is_known_by_it(
    study: Study, twice: str, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    task = min(project.tasks.values())
    server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server)
    if twice == "deleted and given anew":
        server.tasks[project.number][task]["annotations"].clear()
    server.annotate(project.number, task, 5, "11:00", QR=70)
    assert pull(study, server).changed == 1
    assert pull(study, server).stored_anything is False
    for annotation in server.tasks[project.number][task]["annotations"]:
        annotation["completed_by"] = None
    assert pull(study, server).withdrawn == 0
    assert study.score_table()["value"].tolist() == [70.0]


def test_an_annotation_that_cannot_be_read_is_named_and_nothing_is_stored(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    first, second = sorted(project.tasks.values())
    server.annotate(project.number, first, 5, "10:00", QR=70)
    broken = server.annotate(project.number, second, 6, "10:00", QR=70)
    server.annotate(project.number, second, 7, "10:00", QR=70)
    place = f"^Annotation 1 in the list of task {second} of project {project.number}, by user 6,"
    for broken_by, problem in (
        ({"result": 7}, "result is not a list of results. Submit it again or delete it"),
        ({"id": None}, r"no number \(id\)"),
        ({"updated_at": 1767520800000}, "its time is 1767520800000"),
    ):
        server.tasks[project.number][second]["annotations"][0] = {**broken, **broken_by}
        with pytest.raises(StudyError, match=f"{place} cannot be read: {problem}"):
            pull(study, server)
    assert study.score_table().empty
    # A time without a zone is in UTC.
    server.tasks[project.number][second]["annotations"][0] = broken
    broken["updated_at"] = "2026-01-03 10:00:00"
    assert pull(study, server).new == 3
    assert revisions_of(study, "ls-6", "QR")[0].external_at == datetime(2026, 1, 3, 10, tzinfo=UTC)


def test_values_of_an_erased_rater_do_not_return_when_the_account_is_deleted(
    any_study: Study, server: Any
) -> None:
    study = any_study
    project = pushed(study, server, constructs=["QR"])
    made = server.annotate(project.number, min(project.tasks.values()), 5, "10:00", QR=70)
    pull(study, server)
    erase(study, "ls-5")
    made["completed_by"] = None
    done = pull(study, server)
    assert [(rejected.value, rejected.construct) for rejected in done.rejected] == [(None, None)]
    with study.read() as connection:
        kept = connection.execute(select(rejected_values.c.value)).scalars().all()
    assert kept == [None]


def test_a_narrower_scale_does_not_change_earlier_projects(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["AC"])
    for task in project.tasks.values():
        server.annotate(project.number, task, 5, "10:00", AC=70)
    pull(study, server)
    later = edited(study, construct("AC", "scale = { min = 0, max = 10 }"))
    done = pull(later, server)
    assert (done.withdrawn, done.rejected, done.unchanged) == (0, [], 2)


def test_a_project_with_a_removed_construct_is_still_pulled(study: Study, server: Any) -> None:
    project = pushed(study, server, constructs=["AC", "IR"])
    first, second = sorted(project.tasks.values())
    made = server.annotate(project.number, first, 5, "10:00", AC=70, IR=60)
    pull(study, server)
    server.tasks[project.number][second]["drafts"].append({"id": 1})
    later = edited(study, construct("AC"))
    assert push(later, server).tasks == 0
    made["result"][0]["value"]["number"] = 30
    server.annotate(project.number, second, 6, "10:00", AC=20, IR=10)
    done = pull(later, server)
    assert (done.new, done.changed, done.rejected) == (2, 1, [])
    fill(later, queries=2, systems=2)
    reserve(later, constructs=["AC"])
    assert push(later, server).tasks == 2


def test_a_slot_with_a_removed_construct_asks_for_the_others(study: Study, server: Any) -> None:
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["AC", "IR"])
    later = edited(study, construct("AC"))
    push(later, server)
    (project,) = projects(later)
    server.annotate(project.number, min(project.tasks.values()), 5, "10:00", AC=20)
    done = pull(later, server)
    assert (done.new, done.further) == (1, 0)
    again = pull(later, server)
    assert (again.stored_anything, again.further) == (False, 0)


@pytest.mark.parametrize("first", ["staged", "all"])
def test_what_was_pushed_is_not_pushed_again_in_other_stages(study: Study, first: str) -> None:
    other = {"staged": "all", "all": "staged"}[first]
    path = study.folder / "study.toml"
    before = path.read_text()
    rating = '\n[rating]\ndisclosure = "{}"\n'
    path.write_text(before + rating.format(first))
    study, server = Study.open(study.folder), StandIn()
    project = pushed(study, server, constructs=["QR", "CC"])
    path.write_text(before + rating.format(other))
    edited: Any = Study.open(study.folder)
    keys = sorted(project.construct_keys)
    for task in project.tasks.values():
        server.annotate(project.number, task, 5, "10:00", **dict.fromkeys(keys, 70))
    assert pull(edited, server).new == 2 * len(keys)
    assert push(edited, server).tasks == (2 if first == "staged" else 0)
    asked = [project.construct_keys for project in projects(edited)]
    assert len(asked) == len(set(asked))


def test_two_accounts_of_a_rater_are_treated_as_one(study: Study, server: Any) -> None:
    project = pushed(study, server, per_item=2, constructs=["QR"])
    task = min(project.tasks.values())
    server.annotate(project.number, task, 5, "10:00", QR=70)
    server.annotate(project.number, task, 6, "11:00", QR=20)
    done = pull(study, server, raters={5: "anna", 6: "anna"})
    assert (done.new, rejections(done)) == (1, [reasons.DUPLICATE])
    assert pull(study, server).stored_anything is False
    assert [r.value for r in revisions_of(study, "anna", "QR")] == [20.0]


def test_a_response_assigned_later_stays_on_the_channel_where_it_was_rated(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    made = [server.annotate(project.number, t, 5, "10:00", QR=70) for t in project.tasks.values()]
    pull(study, server, raters={5: "anna"})
    give(study, "anna", keys=["QR"])
    change(made[0], "11:00", 30)
    done = pull(study, server)
    assert (done.changed, done.rejected) == (1, [])


def test_where_the_first_of_two_channels_is_taken_back_the_other_counts(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, constructs=["QR"])
    task = min(project.tasks.values())
    server.annotate(project.number, task, 5, "10:00", QR=70)
    pull(study, server, raters={5: "anna"})
    rater = give(study, "anna", keys=["QR"])
    while (step := open_next(study, rater).step) is not None:
        rate(study, rater, step, "QR", 11)

    (response,) = [r for r, number in project.tasks.items() if number == task]

    def counts() -> Any:
        table = study.score_table().set_index("response_id")
        return table.loc[f"q0/system-{response - 1}", ["value", "source"]].tolist()

    assert counts() == [70.0, "label_studio"]
    server.tasks[project.number][task]["annotations"].clear()
    assert pull(study, server).withdrawn == 1
    assert counts() == [11.0, "own"]
    server.annotate(project.number, task, 5, "12:00", QR=44)
    assert rejections(pull(study, server)) == [reasons.OTHER_CHANNEL]
    assert counts() == [11.0, "own"]


def test_only_the_values_of_a_task_that_count_elsewhere_are_rejected(
    study: Study, server: Any
) -> None:
    project = pushed(study, server, systems=1, constructs=["CC", "ID"])
    give(study, "anna", keys=["CC"])
    server.annotate(project.number, min(project.tasks.values()), 5, "10:00", CC=70, ID=30)
    done = pull(study, server, raters={5: "anna"})
    assert done.new == 1
    assert [(rejected.construct, rejected.reason) for rejected in done.rejected] == [
        ("CC", reasons.OTHER_CHANNEL)
    ]
    assert pull(study, server).stored_anything is False
