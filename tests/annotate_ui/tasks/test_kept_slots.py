"""Open slots that are kept for some raters, and raters who stop at the end of their own work."""

import json
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select

from annotate_ui.participants.enrolment import EnrolmentRefusedError, enrol
from annotate_ui.participants.enrolment_links import close_link, make_link
from annotate_ui.participants.withdrawal import leave
from annotate_ui.tasks.workflow import open_next
from study import Study, StudyError
from study.cli import assignment_commands
from study.cli.root import cli
from study.schema.tables import assignments
from tests.annotate_ui.rated_campaign import fill, finish_step, give
from tests.annotate_ui.tasks.test_slot_queue import raters


def run(study: Study, *words: str, typed: str = "") -> str:
    arguments = [words[0], str(study.folder), *words[1:]]
    result = CliRunner().invoke(cli, arguments, input=typed)
    if isinstance(result.exception, StudyError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def work_to_the_end(study: Study, rater: int) -> str:
    """Rate all that a rater is given; return what comes after it."""
    while (opened := open_next(study, rater)).step is not None:
        finish_step(study, rater)
    return opened.kind


def slots_of(study: Study, rater: int) -> int:
    with study.read() as connection:
        mine = select(func.count()).where(assignments.c.rater_id == rater)
        return int(connection.execute(mine).scalar_one())


def token(study: Study, name: str, **other: Any) -> str:
    _, address = make_link(study, name, 10, **other)
    return address.rpartition("/")[2]


def test_a_rater_stops_at_the_end_of_assigned_work(any_study: Study) -> None:
    fill(any_study, queries=3, systems=1)
    anna = give(any_study, "anna", queries=["q0"])
    assert anna is not None
    run(any_study, "assign", "--open", "--per-item", "2")
    assert work_to_the_end(any_study, anna) == "end"
    assert slots_of(any_study, anna) == 1


def test_more_is_allowed_to_named_raters_or_to_everyone(any_study: Study) -> None:
    fill(any_study, queries=2, systems=1)
    anna = give(any_study, "anna", queries=["q0"])
    ben = give(any_study, "ben", queries=["q0"])
    assert anna is not None
    assert ben is not None
    run(any_study, "assign", "--open", "--per-item", "2", "--for", "anna")
    assert work_to_the_end(any_study, ben) == "end"
    assert slots_of(any_study, ben) == 1
    work_to_the_end(any_study, anna)
    assert slots_of(any_study, anna) == 2
    run(any_study, "assign", "--open", "--per-item", "3", "--for", "everyone")
    work_to_the_end(any_study, ben)
    assert slots_of(any_study, ben) == 2


def test_the_owner_is_asked_once_at_a_terminal(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=2, systems=1)
    anna = give(study, "anna", queries=["q0"])
    assert anna is not None
    monkeypatch.setattr(assignment_commands, "_at_a_terminal", lambda: True)
    shown = run(study, "assign", "--open", "--per-item", "2", typed="y\ny\n")
    assert "Raters with assigned work stop at its end (anna). May they take these" in shown
    work_to_the_end(study, anna)
    assert slots_of(study, anna) == 2


def test_slots_of_a_link_are_not_taken_by_others_and_watch_counts_them(any_study: Study) -> None:
    fill(any_study, queries=2, systems=2)
    spring, autumn = token(any_study, "spring"), token(any_study, "autumn")
    run(any_study, "assign", "--open", "--per-item", "1", "--for", "spring")
    (somebody,) = raters(any_study, 1)
    assert open_next(any_study, somebody).kind == "waiting"
    shown = run(any_study, "watch")
    assert ["spring", "open", "0/10", "4"] in [line.split() for line in shown.splitlines()]
    links = {link["name"]: link for link in json.loads(run(any_study, "watch", "--json"))["links"]}
    assert (links["spring"]["free_slots"], links["autumn"]["free_slots"]) == (4, 0)
    with pytest.raises(EnrolmentRefusedError, match="No open slot is left"):
        enrol(any_study, autumn)
    joined = enrol(any_study, spring).rater_id
    assert open_next(any_study, joined).step is not None
    assert "2" in run(any_study, "enrol", "--list").split()


def test_a_link_that_ended_keeps_no_slots(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    token(any_study, "spring")
    run(any_study, "assign", "--open", "--per-item", "1", "--for", "spring")
    (somebody,) = raters(any_study, 1)
    assert open_next(any_study, somebody).step is None
    close_link(any_study, "spring")
    assert open_next(any_study, somebody).step is not None


def test_raters_who_left_keep_no_slots(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    first, second = raters(any_study, 2)
    run(any_study, "assign", "--open", "--per-item", "1", "--for", "r1")
    assert open_next(any_study, second).step is None
    leave(any_study, first, "removed")
    assert open_next(any_study, second).step is not None


def test_who_joins_when_nothing_is_left_is_told_at_once(any_study: Study) -> None:
    fill(any_study, queries=1, systems=1)
    link = token(any_study, "spring")
    run(any_study, "assign", "--open", "--per-item", "1", "--for", "spring")
    first = enrol(any_study, link).rater_id
    assert open_next(any_study, first).step is not None
    with pytest.raises(EnrolmentRefusedError, match="No open slot is left"):
        enrol(any_study, link)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--for", "sprang"),
            "is neither an enrolment link nor a rater. Did you mean 'spring'",
        ),
        (("--for", "spring", "--channel", "label_studio"), "Label Studio shows tasks to all"),
    ],
)
def test_slots_are_kept_for_those_alone_who_exist(
    study: Study, words: tuple[str, ...], message: str
) -> None:
    fill(study)
    token(study, "spring")
    with pytest.raises(StudyError, match=message):
        run(study, "assign", "--open", *words)
