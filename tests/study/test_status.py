"""How far raters have come, by rater, and which step comes next."""

import json
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings, strategies as st
from sqlalchemy import select

from study import Study, study_status
from study.cli.commands import status
from study.cli.displays import show_status
from study.facts.rating_progress import RaterProgress, RatingProgress
from study.schema import Comparison, Invitation, Pause, Reveal, ScorerAnswer
from study.schema.tables import assignments, invitations
from tests.conftest import examples
from tests.study.rating_fixtures import (
    Rated,
    add,
    add_assignment,
    add_rater,
    add_ratings,
    add_responses,
)

KEYS = ["QR", "CC"]
NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)


def link(study: Study, rater: int, *, revoked: bool = False) -> None:
    with study.read() as connection:
        number = len(connection.execute(select(invitations)).all())
    row = {"rater_id": rater, "token_hash": f"{number:032}".encode()}
    add(study, Invitation, {**row, "revoked_at": NOON - timedelta(days=9999) if revoked else None})


def rating(study: Study) -> RatingProgress:
    progress = study_status(study).rating
    assert progress is not None
    return progress


def by_code(study: Study) -> dict[str, RaterProgress]:
    return {rater.rater: rater for rater in rating(study).raters}


def test_nothing_assigned_is_no_progress(study: Study) -> None:
    assert study_status(study).rating is None


def test_each_rater_is_counted_and_open_slots_are_left(any_study: Study) -> None:
    first, second, third = add_responses(any_study, queries=3)
    ten, two = add_rater(any_study, "rater-10"), add_rater(any_study, "rater-2")
    done = add_assignment(any_study, two, first, KEYS)
    begun = add_assignment(any_study, two, second, KEYS)
    add_assignment(any_study, ten, first, ["QR", "gone"])
    add_assignment(any_study, None, third, KEYS)
    add_ratings(any_study, done, "QR", [40.0, Rated("skipped", late=True, at=NOON)])
    add_ratings(any_study, done, "CC", ["cannot_judge"])
    add_ratings(any_study, begun, "QR", [Rated(10.0, at=NOON - timedelta(days=1))])
    add(any_study, Reveal, {"assignment_id": begun, "stage": 1, "fields": [], "created_at": NOON})
    link(any_study, two, revoked=True)
    link(any_study, two)
    link(any_study, ten, revoked=True)
    progress = rating(any_study)
    assert (progress.values, progress.values_expected, progress.open_slots) == (3, 7, 1)
    assert progress.raters == [
        RaterProgress("rater-2", 2, 1, 3, 4, 0, 1, 1, 1, 0, 0, NOON, "live", 1, 0),
        # A construct that study.toml has not is not asked for.
        RaterProgress("rater-10", 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, None, "revoked", 1, 0),
    ]


def test_a_slot_that_was_handed_on_counts_with_what_it_holds(any_study: Study) -> None:
    first, second = add_responses(any_study, queries=2)
    anna, ben = add_rater(any_study, "anna"), add_rater(any_study, "ben")
    empty = add_assignment(any_study, anna, first, KEYS, leased_until=NOON)
    half = add_assignment(any_study, anna, second, KEYS, leased_until=NOON)
    add_ratings(any_study, half, "QR", [Rated(5.0, late=True)])
    for expired, response in ((empty, first), (half, second)):
        add_assignment(any_study, ben, response, KEYS, replaces_id=expired)
    raters = by_code(any_study)
    assert (raters["anna"].responses, raters["anna"].values, raters["anna"].values_expected) == (
        1, 1, 1,
    )  # fmt: skip
    assert (raters["anna"].own_left, raters["ben"].own_left) == (0, 4)
    assert rating(any_study).values_expected == 5


def test_a_rating_first_entered_after_the_reveal_is_done_but_not_counted(
    any_study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = add_responses(any_study, queries=2)
    anna = add_rater(any_study, "anna")
    mine = [add_assignment(any_study, anna, response, KEYS) for response in (first, second)]
    add_ratings(any_study, mine[0], "QR", [Rated(10.0), Rated(20.0, after_reveal=True)])
    add_ratings(any_study, mine[0], "CC", [Rated(70.0, after_reveal=True)])
    add_ratings(any_study, mine[1], "QR", [Rated(30.0, after_reveal=True)])
    progress = rating(any_study)
    assert (progress.values, progress.values_expected, progress.after_reveal) == (1, 4, 2)
    (rater,) = progress.raters
    assert (rater.values, rater.after_reveal, rater.responses_done, rater.own_left) == (1, 2, 1, 1)
    # The report counts the same.
    scores = any_study.score_table()
    assert scores["value"].notna().sum() == progress.values
    assert sum(scores.attrs["left_out"].values()) == progress.after_reveal
    show_status(study_status(any_study))
    shown = capsys.readouterr().out
    assert "1 of 4 values rated (25%)" in shown
    assert "2 values entered after the reveal, kept but not counted." in shown


def test_a_rating_that_was_withdrawn_is_to_do_again(any_study: Study) -> None:
    (response,) = add_responses(any_study)
    mine = add_assignment(any_study, add_rater(any_study, "anna"), response, ["QR"])
    add_ratings(any_study, mine, "QR", [10.0, "withdrawn"])
    rater = by_code(any_study)["anna"]
    assert (rater.values, rater.values_expected, rater.responses_done, rater.own_left) == (
        0,
        1,
        0,
        1,
    )


def test_a_released_slot_counts_with_what_it_holds(any_study: Study) -> None:
    first, second = add_responses(any_study, queries=2)
    anna = add_rater(any_study, "anna")
    half = add_assignment(any_study, anna, first, KEYS, released_at=NOON)
    add_assignment(any_study, anna, second, KEYS, released_at=NOON)
    add_ratings(any_study, half, "QR", [50.0])
    rater = by_code(any_study)["anna"]
    assert (rater.responses, rater.values, rater.values_expected, rater.own_left) == (1, 1, 1, 0)


def test_comparisons_left_are_work_left(any_study: Study) -> None:
    first, second = add_responses(any_study, systems=("A", "B"))
    anna = add_rater(any_study, "anna")
    add_ratings(any_study, add_assignment(any_study, anna, first, ["QR"]), "QR", [50.0])
    pair = {"query_id": 1, "response_a_id": first, "response_b_id": second, "config_hash": "x"}
    add(any_study, Comparison, {**pair, "construct_key": "QR", "rater_id": anna})
    rater = by_code(any_study)["anna"]
    assert (rater.comparisons, rater.comparisons_done, rater.own_left) == (1, 0, 1)
    assert study_status(any_study).next_step.startswith("ccrs invite")


def test_counts_add_up_whatever_was_saved(any_study: Study) -> None:
    responses = add_responses(any_study, queries=3)
    raters = count()
    answers = st.one_of(st.just(50.0), st.sampled_from(["cannot_judge", "skipped"]))
    work = st.dictionaries(
        st.sampled_from(responses), st.dictionaries(st.sampled_from(KEYS), answers), min_size=1
    )

    @settings(
        max_examples=examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(work)
    def holds(entered: dict[int, dict[str, float | str]]) -> None:
        code = f"rater-{next(raters)}"
        rater = add_rater(any_study, code)
        for response, values in entered.items():
            assignment = add_assignment(any_study, rater, response, KEYS)
            for key, value in values.items():
                add_ratings(any_study, assignment, key, [99.0, value])
        progress = rating(any_study)
        counts = by_code(any_study)[code]
        committed = [value for saved in entered.values() for value in saved.values()]
        assert (counts.values, counts.values_expected) == (len(committed), 2 * len(entered))
        assert counts.values + counts.own_left == counts.values_expected
        assert counts.cannot_judge + counts.skipped == sum(isinstance(v, str) for v in committed)
        assert counts.responses_done == sum(len(saved) == 2 for saved in entered.values())
        assert (counts.last_activity is None) == (not committed)
        assert progress.values == sum(r.values for r in progress.raters)
        assert [r.rater for r in progress.raters] == [
            f"rater-{n}" for n in range(len(progress.raters))
        ]

    holds()


def test_the_next_step_follows_the_campaign(study: Study) -> None:
    def step() -> str:
        return study_status(study).next_step

    assert step().startswith(f"ccrs import {study.folder} RESPONSES")
    first, second = add_responses(study, queries=2)
    assert step().startswith(f"ccrs judge {study.folder}")
    assert "ccrs assign" in step()
    slot = add_assignment(study, None, first, ["QR"])
    assert step().startswith(f"ccrs invite {study.folder} --new N")
    anna, ben = add_rater(study, "anna"), add_rater(study, "ben")
    mine = add_assignment(study, anna, second, ["QR"])
    assert step().startswith(f"ccrs invite {study.folder}   ")
    link(study, anna)
    assert step().startswith(f"ccrs serve {study.folder}")
    add_ratings(study, mine, "QR", [50.0])
    # The open slot is left, and anna may take it.
    assert step().startswith(f"ccrs serve {study.folder}")
    add(study, Pause, {"paused": True})
    assert step().startswith(f"ccrs pause {study.folder} --resume")
    add(study, Pause, {"paused": False})
    assert step().startswith(f"ccrs serve {study.folder}")
    with study.write() as connection:
        connection.execute(
            assignments.update().where(assignments.c.id == slot).values(rater_id=ben)
        )
    link(study, ben, revoked=True)
    # Nobody is left who could go on: ben's link was revoked on purpose.
    assert step().startswith(f"ccrs judge {study.folder}")
    assert "ccrs report" in step()


def test_a_judge_without_people_is_followed_by_assigning(study: Study) -> None:
    (response,) = add_responses(study)
    score = {"construct_key": "QR", "construct_version": 1, "scorer": "j", "scorer_kind": "judge"}
    more = {"repeat": 0, "inclusion_prob": 1.0, "value": 5.0}
    add(study, ScorerAnswer, {**score, **more, "response_id": response})
    assert study_status(study).next_step.startswith(f"ccrs assign {study.folder}")
    mine = add_assignment(study, add_rater(study, "anna"), response, ["QR"])
    add_ratings(study, mine, "QR", [50.0])
    assert study_status(study).next_step == f"ccrs report {study.folder}"


def test_the_command_shows_all_of_it_in_80_columns(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    responses = add_responses(study, queries=120, systems=("A", "B", "C"))
    long = "a-rater-with-quite-a-long-code"
    anna = add_rater(study, long)
    ids = [add_assignment(study, anna, responses[0], KEYS)]
    with study.write() as connection:
        row = {"rater_id": anna, "construct_keys": KEYS, "config_hash": "x", "purpose": "main"}
        connection.execute(assignments.insert(), [{**row, "response_id": r} for r in responses[1:]])
    add_ratings(
        study, ids[0], "QR", [Rated(40.0, at=NOON), Rated(50.0, after_reveal=True, at=NOON)]
    )
    add_assignment(study, None, responses[0], KEYS)
    link(study, anna)
    shown = CliRunner().invoke(status, [str(study.folder)], prog_name="status").output
    assert max(len(line) for line in shown.splitlines() if "Next:" not in line) <= 80
    assert "1 of 722 values rated (0%); 1 open slot left." in shown
    for cell in ("0/360", "1/720", "2030-06-01 12:00", "live"):
        assert cell in shown
    assert "".join(line.split(" ")[0] for line in shown.splitlines()).count(long) == 1
    assert "1 rating was changed after" in shown
    output = json.loads(CliRunner().invoke(status, [str(study.folder), "--json"]).output)
    assert output["edited"] == 1
    assert output["rating"]["open_slots"] == 1
    assert output["rating"]["raters"][0]["last_activity"] == "2030-06-01T12:00:00+00:00"
    assert output["rating"]["raters"][0]["link"] == "live"


def test_ratings_of_another_channel_need_no_link(study: Study) -> None:
    (response,) = add_responses(study)
    add_assignment(study, add_rater(study, "anna"), response, ["QR"], channel="label-studio")
    assert by_code(study)["anna"].own_left == 0
    assert study_status(study).next_step.startswith("ccrs judge")
