"""Projects that were made in Label Studio are followed: each value exactly once."""

from typing import Any

import pytest
from sqlalchemy import select

from annotate_ui.label_studio.export_file import DRAFTS, EDITED_BY_OTHER, USERS_LEFT_OUT
from annotate_ui.label_studio.follow import (
    ANOTHER_TASK,
    NOT_IN_STUDY,
    OTHER_TEXTS,
    FollowOptions,
    follow,
)
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from annotate_ui.label_studio.reasons import GROUND_TRUTH, LEFT_OUT
from study import Study
from study.errors import InputError, StudyError
from study.importing import import_store
from study.lifecycle.erase import erase
from study.schema.tables import imported_files, responses
from tests.annotate_ui.label_studio.fake_server import StandIn
from tests.annotate_ui.label_studio.pushed_study import departs, edited as with_settings, reserve
from tests.annotate_ui.rated_campaign import fill

XML = """<View><Text name="r" value="$answer"/><Header value="$question"/>
<Rating name="stars" toName="r"/><TextArea name="why" toName="r"/>
<Choices name="verdict" toName="r"><Choice value="good"/><Choice value="bad"/></Choices></View>"""
PAIRS = """<View><Text name="a" value="$answer_a"/><Text name="b" value="$answer_b"/>
<Pairwise name="better" toName="a,b"/></View>"""
RANKS = '<View><List name="l" value="$items"/><Ranker name="rank" toName="l"/></View>'
PLAIN = FollowOptions({"stars": "AC"}, {}, {"stars": (1, 5)})
STARS = PLAIN.updated(FollowOptions({}, {"model": "system"}))


class Foreign(StandIn):
    """A server with projects that people made there."""

    def make(self, xml: str, *data: dict[str, Any]) -> tuple[int, list[int]]:
        """Make a project with tasks of these data; return its number and those of its tasks."""
        number = self.create_project(description="", xml=xml)
        return number, self.import_tasks(number, [{"data": one} for one in data])

    def give(self, project: int, task: int, user: int, at: str, **values: Any) -> dict[str, Any]:
        """Annotate a task; a value is that of a control, as the server stores it."""
        made = self.annotate(project, task, user, at)
        kinds = {"stars": "rating", "verdict": "choices", "why": "textarea", "better": "pairwise"}
        made["result"] = [
            {"from_name": name, "type": kinds.get(name, "ranker"), "value": value}
            for name, value in values.items()
        ]
        return made


def data(number: int, **other: Any) -> dict[str, Any]:
    return {"question": f"Q{number}?", "answer": f"A{number}.", "model": "m", **other}


def table(study: Study) -> dict[tuple[str, str], float]:
    rows = study.score_table()
    rows = rows[rows["value"].notna()]
    return {(row.scorer, row.response_id): row.value for row in rows.itertuples()}


def compared(study: Study) -> dict[tuple[str, str, str], float]:
    rows = study.preference_table()
    rows = rows[rows["value"].notna()]
    return {(r.scorer, r.response_a, r.response_b): r.value for r in rows.itertuples()}


def test_a_project_is_pulled_as_it_grows(any_study: Study) -> None:
    study, server = any_study, Foreign()
    number, (first, second) = server.make(XML, data(1), data(2, item_id="ä/2"))
    assert follow(study, server, number, STARS).imported["responses"] == 2
    one = server.give(
        number, first, 5, "10:00", stars={"rating": 5}, why={"text": ["good", "fine"]}
    )
    server.give(number, first, 6, "10:01", stars={"rating": 1}, verdict={"choices": ["bad"]})
    server.give(number, second, 5, "10:02", stars={"rating": 9})
    skip = server.give(number, second, 6, "10:03")
    skip["was_cancelled"] = True
    server.give(number, second, 7, "10:04", stars={"rating": 2})["ground_truth"] = True
    done = follow(study, server)
    # One was skipped and one is outside the scale: both are missing, with their reasons.
    assert (done.new, done.rules["a value treated as missing: 9 is outside the scale 1 to 5"]) == (
        4,
        1,
    )
    assert dict(done.left_out) == {
        LEFT_OUT[GROUND_TRUTH]: 1,
        "results of the control 'verdict', which gives choices rather than numbers": 1,
        "results of the control 'why', which gives textarea rather than numbers": 1,
    }
    assert follow(study, server).stored_anything is False
    assert table(study) == {("ls-5", "task-2"): 100, ("ls-6", "task-2"): 0}
    assert set(study.score_table()["source"]) == {"label_studio"}
    (task,) = server.import_tasks(number, [{"data": data(3)}])
    server.give(number, task, 5, "11:00", stars={"rating": 3})
    one["result"][0]["value"] = {"rating": 4}
    one["updated_at"] = "2026-01-01T12:00:00Z"
    server.tasks[number][first]["annotations"].pop()
    done = follow(study, server)
    assert (done.new, done.changed, done.withdrawn) == (1, 1, 1)
    assert table(study) == {("ls-5", "task-2"): 75, ("ls-5", f"task-{task}"): 50}
    assert follow(study, server).stored_anything is False
    server.delete_project(number)
    done = follow(study, server)
    assert (done.missing_projects, done.stored_anything) == ([number], False)
    assert len(table(study)) == 2


def test_numbers_that_only_a_pull_has_are_not_reported(study: Study) -> None:
    server = Foreign()
    number, (task,) = server.make(XML, data(1))
    server.give(number, task, 5, "10:00", stars={"rating": 3})["updated_by"] = 6
    server.give(number, task, 6, "10:01")["was_cancelled"] = True
    server.give(number, task, 7, "10:02", stars={"rating": 9})
    server.tasks[number][task]["drafts"] = [{"id": 1}]
    reported = follow(study, server, number, STARS).as_json()
    absent = {"skipped", "drafts", "edited_by_other", "rejected", "rejected_new", "doubtful"}
    absent |= {"outdated", "marks", "further", "erased"}
    assert not absent & reported.keys()
    assert (reported["new"], reported["left_out"][DRAFTS], reported["rules"][EDITED_BY_OTHER]) == (
        3,
        1,
        1,
    )


def test_a_pull_that_is_killed_leaves_nothing(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Foreign()
    number, (task,) = server.make(XML, data(1))
    server.give(number, task, 5, "10:00", stars={"rating": 5})
    store = import_store.store_rows

    def killed(*arguments: Any, **options: Any) -> None:
        store(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("annotate_ui.label_studio.follow.store_rows", killed)
        with pytest.raises(KeyboardInterrupt):
            follow(study, server, number, STARS)
    assert len(study.score_table()) == 0
    with pytest.raises(StudyError, match="follows no project"):
        follow(study, server)
    assert follow(study, server, number, STARS).new == 1
    assert table(study) == {("ls-5", f"task-{task}"): 100}


def test_comparisons_and_rankings_are_preferences_that_change(any_study: Study) -> None:
    study, server = any_study, Foreign()
    of_pair = {"question": "Q?", "answer_a": "One.", "answer_b": "Two."}
    pairs, (pair,) = server.make(PAIRS, of_pair)
    items = [{"id": f"i{n}", "body": f"Text {n}."} for n in range(3)]
    ranks, (ranked,) = server.make(RANKS, {"question": "R?", "items": items})
    options = FollowOptions({"better": "AC"})
    assert follow(study, server, pairs, options).imported["responses"] == 2
    one = server.give(pairs, pair, 5, "10:00", better={"selected": "left"})
    server.give(pairs, pair, 6, "10:00")["was_cancelled"] = True
    server.give(ranks, ranked, 5, "10:00", rank={"ranker": {"rank": ["i2", "i0", "i1"]}})
    done = follow(study, server, ranks, FollowOptions({"rank": "AC"}))
    assert done.new == 5
    name, sides = f"task-{ranked}", (f"task-{pair}/a", f"task-{pair}/b")
    ranking = {
        ("ls-5", f"{name}/i0", f"{name}/i1"): -1,
        ("ls-5", f"{name}/i0", f"{name}/i2"): 1,
        ("ls-5", f"{name}/i1", f"{name}/i2"): 1,
    }
    assert compared(study) == {("ls-5", *sides): -1, **ranking}
    assert follow(study, server).stored_anything is False
    one["result"][0]["value"] = {"selected": "right"}
    server.tasks[ranks][ranked]["annotations"].clear()
    done = follow(study, server)
    assert (done.changed, done.withdrawn) == (1, 3)
    assert compared(study) == {("ls-5", *sides): 1}
    one["result"][0]["value"] = {"selected": "both"}
    done = follow(study, server)
    assert (done.changed, done.rules["a value treated as missing: not a number"]) == (1, 1)
    assert compared(study) == {}
    assert follow(study, server).stored_anything is False
    erase(study, "ls-5")
    assert len(study.preference_table()) == 1
    # An erased person is left out from now on.
    done = follow(study, server)
    assert (done.stored_anything, done.left_out[USERS_LEFT_OUT]) == (False, 1)


def test_what_is_not_mapped_is_asked_for_and_may_be_corrected(study: Study) -> None:
    server = Foreign()
    number, (task,) = server.make(XML, data(1))
    with pytest.raises(InputError, match="which construct does the control 'stars' rate"):
        follow(study, server, number, FollowOptions())
    chosen = FollowOptions({"stars": "", "verdict": "AC"}, {}, {}, {"good": 80, "bad": 0})
    follow(study, server, number, chosen)
    server.give(number, task, 5, "10:00", verdict={"choices": ["good"]})
    assert follow(study, server).new == 1
    done = follow(study, server, number, FollowOptions({}, {}, {}, {"good": 100}))
    assert (done.new, done.changed) == (0, 1)
    assert list(table(study).values()) == [100]
    # Another construct: the values move to it.
    follow(study, server, number, FollowOptions({"verdict": "QR"}))
    assert study.score_table().query("value == value")["construct"].tolist() == ["QR"]
    server.give(number, task, 6, "11:00", verdict={"choices": ["odd"]})
    with pytest.raises(InputError, match="which number is the choice 'odd'"):
        follow(study, server)
    assert len(table(study)) == 1


def test_a_task_whose_id_has_another_text_is_left_out_and_counted(study: Study) -> None:
    server = Foreign()
    first, (one,) = server.make(XML, data(1, item_id="x", query_id="q"))
    second, (two,) = server.make(XML, data(2, item_id="x", query_id="q"))
    third, (three,) = server.make(XML, data(1, item_id="x", query_id="q"))
    counts = []
    for number, task, stars in ((first, one, 1), (second, two, 3), (third, three, 5)):
        server.give(number, task, number, f"1{stars}:00", stars={"rating": stars})
        counts.append(follow(study, server, number, STARS).left_out[OTHER_TEXTS])
    assert counts == [0, 1, 1]
    assert table(study) == {(f"ls-{first}", "x"): 0, (f"ls-{third}", "x"): 100}
    assert follow(study, server).stored_anything is False
    # The task's own number is its id where its field is given another name.
    follow(study, server, second, FollowOptions({}, {"item_id": "item", "query_id": "other"}))
    assert table(study)[f"ls-{second}", f"task-{two}"] == 50


def test_responses_of_the_study_are_matched(study: Study) -> None:
    server = Foreign()
    fill(study, queries=2, systems=1)
    number, (one, two) = server.make(
        XML, {"query_id": "q0", "system": "system-0"}, {"query_id": "q9", "system": "system-0"}
    )
    for task in (one, two):
        server.give(number, task, 5, "10:00", stars={"rating": 5})
    done = follow(study, server, number, PLAIN)
    assert (done.new, done.left_out[NOT_IN_STUDY]) == (1, 1)
    other, (task,) = server.make(XML, {"prompt": "x"})
    server.give(other, task, 5, "10:00", stars={"rating": 5})
    with pytest.raises(InputError, match="neither the id of a response nor its texts"):
        follow(study, server, other, PLAIN)


def test_a_task_whose_text_is_changed_keeps_what_was_pulled(study: Study) -> None:
    server = Foreign()
    number, (task,) = server.make(XML, data(1))
    made = server.give(number, task, 5, "10:00", stars={"rating": 5})
    follow(study, server, number, STARS)
    server.tasks[number][task]["data"]["answer"] = "Another."
    made["result"][0]["value"] = {"rating": 1}
    server.give(number, task, 6, "12:00", stars={"rating": 1})
    done = follow(study, server)
    assert (done.left_out[OTHER_TEXTS], done.new, done.changed, done.withdrawn) == (1, 0, 0, 0)
    assert list(table(study).values()) == [100]
    server.tasks[number][task]["data"]["answer"] = "A1."
    done = follow(study, server)
    assert (done.new, done.changed, list(table(study).values())) == (1, 1, [0, 0])


def test_values_of_a_project_without_tasks_go(any_study: Study) -> None:
    study, server = any_study, Foreign()
    number, (one, two) = server.make(XML, data(1), data(2))
    server.give(number, one, 5, "10:00", stars={"rating": 5})
    server.give(number, two, 5, "10:00", stars={"rating": 1})
    follow(study, server, number, STARS)
    tasks, server.tasks[number] = server.tasks[number], {}
    done = follow(study, server)
    assert (done.withdrawn, done.annotations) == (2, 0)
    assert table(study) == {}
    assert follow(study, server).stored_anything is False
    server.tasks[number] = tasks
    assert follow(study, server).new == 2
    empty, _ = server.make(XML)
    assert follow(study, server, empty, STARS).stored_anything is False


def test_a_task_with_the_number_of_a_deleted_one_is_another_task(any_study: Study) -> None:
    study, server = any_study, Foreign()
    number, (task, other) = server.make(XML, data(1), data(2))
    for of in (task, other):
        server.give(number, of, 5, "10:00", stars={"rating": 5})
    follow(study, server, number, STARS)
    new = {"id": task, "annotations": [], "drafts": [], "data": data(3)}
    server.tasks[number] = {task: new, other: server.tasks[number][other]}
    server.give(number, task, 5, "11:00", stars={"rating": 3})
    done = follow(study, server)
    assert (done.new, done.withdrawn, done.unchanged) == (1, 1, 1)
    assert (done.rules[ANOTHER_TASK], done.left_out[OTHER_TEXTS]) == (1, 0)
    assert not [warning for warning in done.warnings if "no ratings" in warning]
    assert {value: rater for (rater, _), value in table(study).items()} == {50: "ls-5", 100: "ls-5"}
    (name,) = (response for (_, response), value in table(study).items() if value == 50)
    assert name.startswith(f"task-{task}-")
    assert follow(study, server).stored_anything is False
    new["annotations"][0]["result"][0]["value"] = {"rating": 4}
    assert follow(study, server).changed == 1
    assert table(study) == {("ls-5", name): 75, ("ls-5", f"task-{other}"): 100}


def test_compared_responses_of_a_reused_number_are_others(study: Study) -> None:
    server = Foreign()
    number, (task,) = server.make(PAIRS, {"question": "Q?", "answer_a": "A.", "answer_b": "B."})
    server.give(number, task, 5, "10:00", better={"selected": "left"})
    follow(study, server, number, FollowOptions({"better": "AC"}))
    server.tasks[number][task]["data"] = {"question": "R?", "answer_a": "C.", "answer_b": "D."}
    done = follow(study, server)
    assert (done.new, done.withdrawn, done.rules[ANOTHER_TASK]) == (1, 1, 1)
    ((_, first, second),) = compared(study)
    assert first.startswith(f"task-{task}-")
    assert (first[-2:], second[-2:]) == ("/a", "/b")


def test_the_warning_of_tasks_that_are_all_left_out_is_true(study: Study) -> None:
    server = Foreign()
    number, (task,) = server.make(XML, data(1))
    server.give(number, task, 5, "10:00", stars={"rating": 5})
    follow(study, server, number, STARS)
    server.tasks[number][task]["data"]["answer"] = "Another."
    done = follow(study, server)
    warning = "the export has no ratings: its tasks that can be used have no annotations."
    assert (done.warnings, done.left_out[OTHER_TEXTS]) == ([warning], 1)


def test_two_tasks_with_one_response_and_users_left_out(study: Study) -> None:
    server = Foreign()
    number, (one, two) = server.make(XML, data(1), data(1))
    server.give(number, one, 5, "10:00", stars={"rating": 1})
    server.give(number, two, 5, "11:00", stars={"rating": 5})
    server.give(number, two, 6, "11:00", stars={"rating": 5})
    options = STARS.updated(FollowOptions(users_left_out=(6,)))
    done = follow(study, server, number, options, raters={5: "anna"})
    assert (done.new, done.left_out[USERS_LEFT_OUT]) == (2, 1)
    # A rater's second value of a response is its repeat, as in an import.
    rows = study.score_table()
    assert rows[["scorer", "repeat", "value"]].values.tolist() == [["anna", 0, 0], ["anna", 1, 100]]
    server.tasks[number][one]["annotations"].clear()
    done = follow(study, server)
    assert (done.changed, done.withdrawn) == (1, 1)
    assert table(study) == {("anna", f"task-{one}"): 100}


def test_values_of_a_rater_who_left_stay_as_they_are(study: Study) -> None:
    server = Foreign()
    number, (one, two) = server.make(XML, data(1), data(2))
    made = server.give(number, one, 5, "10:00", stars={"rating": 5})
    follow(study, server, number, STARS)
    departs(study, "ls-5", "removed")
    made["result"][0]["value"] = {"rating": 1}
    server.give(number, two, 5, "11:00", stars={"rating": 1})
    done = follow(study, server)
    assert (done.stored_anything, done.left_out[USERS_LEFT_OUT]) == (False, 2)
    assert list(table(study).values()) == [100]


def test_a_construct_that_was_edited_needs_a_decision(study: Study) -> None:
    server = Foreign()
    number, (task,) = server.make(XML, data(1))
    server.give(number, task, 5, "10:00", stars={"rating": 5})
    follow(study, server, number, STARS)
    edited = with_settings(study, '[[constructs]]\nkey = "AC"\nname = "AC"\nquestion = "Other?"\n')
    with pytest.raises(StudyError, match=r"construct AC was edited .*--control NAME=AC"):
        follow(edited, server)
    assert follow(edited, server, number, FollowOptions({"stars": "AC"})).new == 1
    assert list(table(edited).values()) == [100]
    assert follow(edited, server).stored_anything is False


def test_pushed_and_followed_projects_do_not_disturb_each_other(study: Study) -> None:
    server = Foreign()
    fill(study, queries=1, systems=1)
    reserve(study, constructs=["AC"])
    push(study, server)
    (pushed,) = server.made
    number, (task,) = server.make(XML, {"query_id": "q0", "system": "system-0"})
    server.give(number, task, 5, "10:00", stars={"rating": 5})
    follow(study, server, number, PLAIN)
    assert push(study, server).tasks == 0
    (own,) = server.tasks[pushed]
    server.annotate(pushed, own, 6, "11:00", AC=20)
    server.annotate(pushed, own, 5, "11:00", AC=30)
    assert pull(study, server).new == 2
    assert pull(study, server).stored_anything is False
    assert follow(study, server).stored_anything is False
    scores = study.score_table()
    # Of the two values of a rater the one of the pushed project counts.
    assert scores.set_index("scorer")["value"].to_dict() == {"ls-5": 30, "ls-6": 20}
    with pytest.raises(StudyError, match="was pushed from this study"):
        follow(study, server, pushed, PLAIN)
    with study.read() as connection:
        assert len(connection.execute(select(responses.c.id)).all()) == 1
        files = connection.execute(select(imported_files.c.importer)).scalars().all()
        assert files.count("label_studio") == 1
