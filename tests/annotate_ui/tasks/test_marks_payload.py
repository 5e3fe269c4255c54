"""Marks are saved as values are: revisions, keys, stale bases, and what counts."""

from typing import Any

import pytest
from sqlalchemy import select

from annotate_ui.tasks.marks_payload import MarksPayload
from annotate_ui.tasks.passes import Step
from annotate_ui.tasks.refusals import InvalidError, KeyReusedError, NotYoursError, StaleError
from annotate_ui.tasks.save import save
from annotate_ui.tasks.workflow import open_next
from study import Study
from study.facts.counted_marks import counted_marks, marks_kept
from tests.annotate_ui.campaign_with_marks import (
    KEYS,
    fill,
    mark,
    marked,
    ranges,
    stored,
    with_marks,
)
from tests.annotate_ui.rated_campaign import finish_step, give

FIRST = ranges("It closes at 20!")
BOTH = ranges("It closes at 20!", "- Dogs stay out")


@pytest.fixture
def campaign(any_study: Study) -> tuple[Study, int, Step]:
    """Return a study on each database with a rater and their first step."""
    study = with_marks(any_study)
    fill(study)
    rater_id = give(study, "anna", keys=KEYS)
    assert rater_id is not None
    step = open_next(study, rater_id).step
    assert step is not None
    return study, rater_id, step


def counted(study: Study) -> dict[str, Any]:
    with study.read() as connection:
        rows: Any = connection.execute(select(counted_marks()))
        return {row.construct_key: row.ranges for row in rows}


def test_each_set_is_a_revision(campaign: tuple[Study, int, Step]) -> None:
    study, rater, step = campaign
    assert mark(study, rater, step, "QR", FIRST).revision == 1
    assert mark(study, rater, step, "QR", BOTH, base=1).revision == 2
    assert mark(study, rater, step, "QR", BOTH, base=2).unchanged
    assert mark(study, rater, step, "QR", [], base=2).ranges == ()
    assert mark(study, rater, step, "QR", None, base=3).ranges is None
    rows = stored(study)
    assert [row.ranges for row in rows] == [
        [list(one) for one in FIRST],
        [list(one) for one in BOTH],
        [],
        None,
    ]
    assert rows[0].revealed == ["question", "response"]
    assert (rows[0].input_kind, rows[0].channel, rows[0].late) == ("pointer", "own", False)
    # Taken back: neither marked nor answered that no sentence is to be marked.
    assert counted(study) == {}


def test_no_sentence_is_an_answer(campaign: tuple[Study, int, Step]) -> None:
    study, rater, step = campaign
    mark(study, rater, step, "QR", [])
    assert counted(study) == {"QR": []}


def test_a_key_is_stored_once_and_a_stale_base_overwrites_nothing(
    campaign: tuple[Study, int, Step],
) -> None:
    study, rater, step = campaign
    submission = marked("QR", FIRST)
    payload = MarksPayload(step.item.public_id, 1, submission)
    assert save(study, rater, payload) == save(study, rater, payload)
    other = marked("QR", BOTH, key=submission.key)
    with pytest.raises(KeyReusedError):
        save(study, rater, MarksPayload(step.item.public_id, 1, other))
    with pytest.raises(StaleError) as stale:
        mark(study, rater, step, "QR", BOTH, base=0)
    assert stale.value.current is not None
    assert stale.value.current.as_json()["ranges"] == tuple(FIRST)
    assert len(stored(study)) == 1


@pytest.mark.parametrize(
    ("construct", "marks", "words"),
    [
        ("QR", [(0, 1000)], "not a part of the text"),
        ("QR", [(3, 3)], "not a part of the text"),
        ("QR", [(0, 5), (4, 8)], "overlaps"),
        ("ID", FIRST, "not rated at this step"),
        ("XX", FIRST, "not rated here"),
    ],
)
def test_marks_that_cannot_be_are_refused(
    campaign: tuple[Study, int, Step], construct: str, marks: Any, words: str
) -> None:
    study, rater, step = campaign
    with pytest.raises(InvalidError, match=words):
        mark(study, rater, step, construct, marks)
    assert stored(study) == []


def test_marks_of_others_and_of_constructs_without_them_are_refused(
    campaign: tuple[Study, int, Step],
) -> None:
    study, rater, step = campaign
    other = give(study, "ben", keys=KEYS)
    assert other is not None
    with pytest.raises(NotYoursError):
        mark(study, other, step, "QR", FIRST)
    finish_step(study, rater)
    second = open_next(study, rater).step
    assert second is not None
    with pytest.raises(InvalidError, match="asks for no marks"):
        mark(study, rater, second, "ID", FIRST)


def test_marks_after_the_reveal_are_kept_and_do_not_count(
    campaign: tuple[Study, int, Step],
) -> None:
    study, rater, step = campaign
    mark(study, rater, step, "QR", FIRST)
    finish_step(study, rater)
    assert open_next(study, rater).step is not None
    mark(study, rater, step, "QR", BOTH, base=1)
    assert [row.after_reveal for row in stored(study)] == [False, True]
    assert counted(study) == {"QR": [list(one) for one in FIRST]}
    with study.read() as connection:
        assert marks_kept(connection, step.item.public_id) == {"QR"}
