"""Saves: revisions, keys, stale bases, and what counts."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError
from sqlalchemy import update

from annotate_ui.tasks.answers import RatingInput
from annotate_ui.tasks.comparisons import ComparisonPayload
from annotate_ui.tasks.passes import Step
from annotate_ui.tasks.rating_payload import RatingPayload
from annotate_ui.tasks.refusals import InvalidError, KeyReusedError, NotYoursError, StaleError
from annotate_ui.tasks.save import rules_hash, save
from annotate_ui.tasks.workflow import open_next
from study import Study, study_status
from study.schema.tables import assignments
from study.settings.constructs import CCRS
from tests.annotate_ui.compared_campaign import choice, open_one, pair_up
from tests.annotate_ui.rated_campaign import commit, fill, finish_step, give, rate, ratings


def opened(study: Study, rater_id: int) -> Step:
    step = open_next(study, rater_id).step
    assert step is not None
    return step


@pytest.fixture
def rater(any_study: Study) -> int:
    """Return a rater of a study on each database, with one query of two responses."""
    fill(any_study, queries=1, systems=2)
    rater_id = give(any_study, "anna")
    assert rater_id is not None
    return rater_id


def test_a_save_is_a_revision_with_all_that_is_known_of_it(any_study: Study, rater: int) -> None:
    step = opened(any_study, rater)
    payload = commit("QR", 85.0, comment="fine", active_seconds=4.5)
    stored = save(any_study, rater, RatingPayload(step.item.public_id, 1, payload))
    assert (stored.revision, stored.value, stored.comment) == (1, 85.0, "fine")
    (row,) = ratings(any_study)
    assert row.revealed == ["question", "response"]
    assert (row.input_kind, row.active_seconds, row.channel) == ("typed", 4.5, "own")
    assert (row.late, row.after_reveal, row.construct_version) == (False, False, 1)
    assert row.rules_hash == rules_hash(CCRS[0])
    assert row.config_hash == any_study.config_hash


def test_a_key_sent_again_is_answered_again_and_stored_once(any_study: Study, rater: int) -> None:
    step = opened(any_study, rater)
    payload = commit("QR", 85.0)
    first = save(any_study, rater, RatingPayload(step.item.public_id, 1, payload))
    rate(any_study, rater, step, "QR", 90.0, base=1)
    assert save(any_study, rater, RatingPayload(step.item.public_id, 1, payload)) == first
    assert [row.value for row in ratings(any_study)] == [85.0, 90.0]


@pytest.mark.parametrize(
    "change",
    [
        {"value": 86.0},
        {"comment": "other"},
        {"base_revision": 1},
        {"value": None, "status": "cannot_judge"},
        {"input_kind": "slider"},
    ],
)
def test_a_key_with_another_body_is_refused(
    any_study: Study, rater: int, change: dict[str, Any]
) -> None:
    step = opened(any_study, rater)
    payload = commit("QR", 85.0)
    save(any_study, rater, RatingPayload(step.item.public_id, 1, payload))
    other = RatingInput.model_validate({**payload.model_dump(by_alias=True), **change})
    with pytest.raises(KeyReusedError):
        save(any_study, rater, RatingPayload(step.item.public_id, 1, other))
    assert len(ratings(any_study)) == 1


def test_an_unchanged_value_writes_nothing(any_study: Study, rater: int) -> None:
    step = opened(any_study, rater)
    rate(any_study, rater, step, "QR", 85.0)
    again = rate(any_study, rater, step, "QR", 85.0, base=1)
    other_tab = rate(any_study, rater, step, "QR", 85.0, base=0)
    assert again.unchanged
    assert other_tab.unchanged
    assert len(ratings(any_study)) == 1


def test_a_stale_base_is_answered_with_the_stored_rating(any_study: Study, rater: int) -> None:
    step = opened(any_study, rater)
    rate(any_study, rater, step, "QR", 80.0)
    with pytest.raises(StaleError) as caught:
        rate(any_study, rater, step, "QR", 85.0)
    assert caught.value.current is not None
    assert (caught.value.current.revision, caught.value.current.value) == (1, 80.0)
    with pytest.raises(StaleError):
        rate(any_study, rater, step, "QR", 85.0, base=2)
    assert rate(any_study, rater, step, "QR", 85.0, base=1).revision == 2


def test_many_saves_at_once_make_one_rating_and_no_error(any_study: Study, rater: int) -> None:
    step = opened(any_study, rater)
    same = commit("QR", 70.0)

    def send(number: int) -> str:
        payload = same if number % 2 else commit("QR", float(number))
        try:
            return save(any_study, rater, RatingPayload(step.item.public_id, 1, payload)).status
        except StaleError:
            return "stale"

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(send, range(24)))
    rows = ratings(any_study)
    assert len(rows) == 1
    assert rows[0].revision == 1
    assert set(answers) <= {"rated", "stale"}


def test_only_a_raters_opened_steps_can_be_rated(any_study: Study, rater: int) -> None:
    ben = give(any_study, "ben")
    assert ben is not None
    step = opened(any_study, rater)
    for who, public_id, stage in (
        (ben, step.item.public_id, 1),
        (rater, "0" * 32, 1),
        (rater, step.item.public_id, 2),
        (rater, step.item.public_id, 99),
    ):
        with pytest.raises(NotYoursError):
            save(any_study, who, RatingPayload(public_id, stage, commit("QR", 1.0)))
    # Another rater's page and one that does not exist get the same answer.
    messages = []
    for public_id in (step.item.public_id, "0" * 32):
        with pytest.raises(NotYoursError) as caught:
            save(any_study, ben, RatingPayload(public_id, 1, commit("QR", 1.0)))
        messages.append(str(caught.value))
    assert messages == ["This page was not opened for you. Go on from the start page."] * 2
    with pytest.raises(InvalidError, match="not rated at this step"):
        save(any_study, rater, RatingPayload(step.item.public_id, 1, commit("AC", 1.0)))
    with pytest.raises(InvalidError, match="'XX' is not rated here"):
        save(any_study, rater, RatingPayload(step.item.public_id, 1, commit("XX", 1.0)))
    assert ratings(any_study) == []


def test_a_slot_of_another_channel_cannot_be_rated(any_study: Study, rater: int) -> None:
    step = opened(any_study, rater)
    with any_study.write() as connection:
        connection.execute(update(assignments).values(channel="label_studio"))
    with pytest.raises(NotYoursError):
        rate(any_study, rater, step, "QR", 50.0)
    assert ratings(any_study) == []


def test_an_equal_value_under_a_new_construct_version_is_a_new_revision(
    any_study: Study, rater: int
) -> None:
    step = opened(any_study, rater)
    rate(any_study, rater, step, "QR", 85.0)
    path = any_study.folder / "study.toml"
    another = '[[constructs]]\nkey = "QR"\nname = "Relevance"\nquestion = "How relevant?"\n'
    path.write_text(path.read_text() + another + 'sees = ["question", "response"]\n')
    changed = Study.open(any_study.folder)
    again = rate(changed, rater, step, "QR", 85.0, base=1)
    assert (again.unchanged, again.revision) == (False, 2)
    stored = [(row.value, row.construct_version) for row in ratings(changed)]
    assert stored == [(85.0, 1), (85.0, 2)]
    assert changed.score_table()["value"].tolist() == [85.0]
    changed.close()


@pytest.mark.parametrize(
    ("entered", "message"),
    [
        (commit("QR", 101.0), "101 is outside the scale 0 to 100"),
        (commit("QR", -1.0), "outside"),
        (commit("QR"), "Give a value"),
        (commit("QR", 5.0, status="cannot_judge"), "Give a value"),
        (commit("QR", status="skipped"), "Give a short reason"),
        (commit("QR", 5.0, reason="why"), "only without a value"),
        (commit("QR", 5.0, flags=["too long"]), "Question Relevance has no remark"),
    ],
)
def test_an_invalid_rating_is_refused(study: Study, entered: RatingInput, message: str) -> None:
    fill(study, queries=1, systems=1)
    anna = give(study, "anna")
    assert anna is not None
    step = opened(study, anna)
    with pytest.raises(InvalidError, match=message):
        save(study, anna, RatingPayload(step.item.public_id, 1, entered))
    assert ratings(study) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": "85"},
        {"value": True},
        {"value": float("nan")},
        {"value": float("inf")},
        {"comment": "x" * 5001},
        {"comment": "a\x00b"},
        {"comment": "a\ud800"},
        {"key": "short"},
        {"key": "x" * 65},
        {"key": "white space in the key"},
        {"base_revision": -1},
        {"base_revision": "0"},
        {"active_seconds": -1},
        {"status": "withdrawn"},
        {"input_kind": ""},
        {"input_kind": "x" * 41},
        {"rater": "ben"},
    ],
)
def test_a_commit_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        commit("QR", **{"value": 5.0, **wrong})


def test_flags_reasons_and_comments_are_kept(study: Study) -> None:
    fill(study, queries=1, systems=1)
    anna = give(study, "anna")
    assert anna is not None
    step = opened(study, anna)
    save(
        study,
        anna,
        RatingPayload(step.item.public_id, 1, commit("QR", status="cannot_judge", comment=" ")),
    )
    step = opened(study, anna)
    save(study, anna, RatingPayload(step.item.public_id, 2, commit("ID", 10.0, flags=["too long"])))
    save(
        study,
        anna,
        RatingPayload(step.item.public_id, 2, commit("CC", status="skipped", reason=" cut off ")),
    )
    rows = {row.construct_key: row for row in ratings(study)}
    assert (rows["QR"].status, rows["QR"].comment) == ("cannot_judge", None)
    assert rows["ID"].flags == ["too long"]
    assert rows["CC"].reason == "cut off"


def test_a_scale_with_steps_takes_its_points_only(tmp_path: Any) -> None:
    made = Study.create(
        tmp_path / "stepped",
        '[[constructs]]\nkey = "FL"\nname = "Fluency"\nquestion = "?"\n'
        'sees = ["response"]\nscale = { min = 1, max = 5, step = 1, level = "ordinal" }\n',
    )
    fill(made, queries=1, systems=1)
    anna = give(made, "anna", keys=["FL"])
    assert anna is not None
    step = opened(made, anna)
    with pytest.raises(
        InvalidError, match=r"3\.5 is not a point of the scale 1 to 5 in steps of 1"
    ):
        rate(made, anna, step, "FL", 3.5)
    assert rate(made, anna, step, "FL", 4.0).value == 4.0
    made.close()


def test_an_edit_after_more_was_shown_is_kept_and_marked(any_study: Study, rater: int) -> None:
    first = finish_step(any_study, rater, 40.0)
    second = opened(any_study, rater)
    corrected = rate(any_study, rater, first, "QR", 45.0, base=1)
    assert corrected.revision == 2
    rate(any_study, rater, second, "QR", 50.0)
    opened(any_study, rater)
    rate(any_study, rater, first, "QR", 99.0, base=2)
    values = [(row.value, row.after_reveal, row.revealed[-1]) for row in ratings(any_study)]
    assert values == [
        (40.0, False, "response"),
        (45.0, False, "response"),
        (50.0, False, "response"),
        (99.0, True, "context"),
    ]


def test_a_response_that_comes_later_counts_though_more_was_seen(study: Study) -> None:
    fill(study, queries=1, systems=1)
    anna = give(study, "anna")
    assert anna is not None
    for _ in range(3):
        finish_step(study, anna)
    fill(study, queries=1, systems=2)
    from sqlalchemy import insert, select

    from study.schema.tables import assignments, responses

    with study.write() as connection:
        newest = connection.execute(
            select(responses.c.id).order_by(responses.c.id.desc()).limit(1)
        ).scalar_one()
        connection.execute(
            insert(assignments).values(
                rater_id=anna,
                response_id=newest,
                construct_keys=["QR", "AC"],
                purpose="main",
                position=9,
                repeat=0,
                channel="own",
                inclusion_prob=1.0,
                config_hash="0",
            )
        )
    step = opened(study, anna)
    assert step.stage.number == 1
    rate(study, anna, step, "QR", 10.0)
    rate(study, anna, step, "QR", 20.0, base=1)
    last = ratings(study)[-1]
    assert (last.after_reveal, last.revealed[-1]) == (False, "reference")
    # It is marked, and counted in the status.
    assert [row.seen_more for row in ratings(study)] == [False] * 5 + [True] * 2
    rating = study_status(study).rating
    assert rating is not None
    assert rating.seen_more == 1


def test_keys_are_those_of_one_assignment(any_study: Study, rater: int) -> None:
    key = uuid4().hex
    first = finish_step(any_study, rater)
    second = opened(any_study, rater)
    for step, value in ((first, 1.0), (second, 2.0)):
        base = 1 if step is first else 0
        save(
            any_study,
            rater,
            RatingPayload(step.item.public_id, 1, commit("QR", value, base, key=key)),
        )
    assert [row.value for row in ratings(any_study)] == [50.0, 1.0, 2.0]


def test_a_key_of_another_construct_is_refused(any_study: Study, rater: int) -> None:
    for _ in range(2):
        finish_step(any_study, rater)
    step = opened(any_study, rater)
    key = uuid4().hex
    save(any_study, rater, RatingPayload(step.item.public_id, 2, commit("CC", 1.0, key=key)))
    with pytest.raises(KeyReusedError):
        save(any_study, rater, RatingPayload(step.item.public_id, 2, commit("ID", 1.0, key=key)))


def test_an_address_may_hold_anything(any_study: Study, rater: int) -> None:
    for public_id in ("a\x00b", "\ud800", "x" * 5000, "%", ""):
        with pytest.raises(NotYoursError):
            save(any_study, rater, RatingPayload(public_id, 1, commit("QR", 1.0)))


def test_ratings_record_what_a_comparison_of_the_query_has_shown(any_study: Study) -> None:
    fill(any_study, queries=1, systems=2)
    rater = give(any_study, "anna", keys=["QR"])
    assert rater is not None
    step = opened(any_study, rater)
    rate(any_study, rater, step, "QR", 40.0)
    pair_up(any_study, "anna", ["QR", "AC"])
    for construct in ("QR", "AC"):
        # The first shows no more than the step did, the second the reference.
        place = open_one(any_study, rater)
        current = ratings(any_study)[-1]
        rate(any_study, rater, step, "QR", current.value + 10, base=current.revision)
        save(any_study, rater, ComparisonPayload(place, choice(construct, 1.0)))
    rate(any_study, rater, step, "QR", 70.0, base=3)
    finish = open_next(any_study, rater).step
    assert finish is not None
    assert finish.item.public_id != step.item.public_id
    rate(any_study, rater, finish, "QR", 20.0)
    rate(any_study, rater, finish, "QR", 30.0, base=1)
    revisions = ratings(any_study)
    assert [(row.value, row.after_reveal, row.seen_more) for row in revisions] == [
        (40.0, False, False),
        (50.0, False, False),
        (60.0, True, True),
        (70.0, True, True),
        # Compared before it was rated: not too late, but not blind either.
        (20.0, False, True),
        (30.0, False, True),
    ]
    assert "reference" not in revisions[1].revealed
    assert all("reference" in row.revealed for row in revisions[2:])
