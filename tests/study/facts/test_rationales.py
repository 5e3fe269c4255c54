"""The reasons that judges write before their scores, read from the raw answers."""

import pytest
from sqlalchemy import insert

from study import Study
from study.facts.judgments import answers_that_count, judge_reasons, reason_before_score
from study.schema.tables import judge_answers, judgments, readings
from tests.study.populated_study import fill


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("It says so twice.\n85", "It says so twice."),
        ("First.\n\nSecond.\r\nScore: 85\n", "First.\n\nSecond."),
        ("<think>hm\n7</think>\nShort.\n85", "Short."),
        ("Short.\n85</s>", "Short."),
        ("Short.\n85\n<|eot_id|>\n", "Short."),
        ("<script>alert(1)</script>\n85", "<script>alert(1)</script>"),
        ("\u202eesrever\n85", "\u202eesrever"),
        ("a" * 1_000_000 + "\n85", "a" * 1_000_000),
        ('Short.\n```json\n{"score": 85}\n```', "Short."),
        ('Short.\n{\n"score": 85\n}', "Short."),
        ("Short.\n<score>\n85\n</score>", "Short."),
        ("85", None),
        ("\n85", None),
        (None, None),
    ],
    ids=["plain", "lines", "thought", "end", "end-alone", "script", "turned", "long", "fence",
         "object", "element", "bare", "blank", "none"],
)  # fmt: skip
def test_the_reason_is_what_stands_above_the_score(answer: str | None, reason: str | None) -> None:
    assert reason_before_score(answer, "last_line") == reason


def test_an_answer_read_by_another_rule_has_no_reason() -> None:
    assert reason_before_score("85\n\nIt says so.", "first_line") is None
    assert reason_before_score("no score\nhere", None) is None


def test_the_newest_reading_of_the_attempt_that_counts(any_study: Study) -> None:
    fill(any_study)
    on_ac = {"construct_key": "AC", "construct_version": 1, "run_id": 1, "response_id": 1}
    shared = {**on_ac, "flags": [], "parser_version": "1"}
    rows = [
        {"attempt": 1, "value": None, "missing_reason": "truncated_by_server", "rule": None,
         "raw_answer": "Cut.\n3"},
        {"attempt": 2, "value": 70.0, "missing_reason": None, "rule": "last_line",
         "raw_answer": "Because.\n70"},
        {"attempt": 3, "value": 90.0, "missing_reason": None, "rule": "last_line",
         "raw_answer": "Asked again.\n90"},
    ]  # fmt: skip
    repeat = {**shared, **rows[2], "repeat": 1, "attempt": 1, "raw_answer": "Repeat.\n90"}
    with any_study.write() as connection:
        every = [{**shared, **row, "repeat": 0} for row in rows]
        connection.execute(insert(judge_answers), [*every, repeat])
    places = [("judge-1", "r1", "AC"), ("judge-1 (expected)", "r1", "AC"), ("judge-1", "r9", "AC")]
    with any_study.read() as connection:
        reasons = judge_reasons(connection, {"AC": 1}, places)
        stale = judge_reasons(connection, {"AC": 2}, places)
        (answer,) = answers_that_count(connection, [1])
    assert reasons == {places[0]: "Because.", places[1]: "Because."}
    assert stale == {}
    assert (answer.value, answer.missing_reason, answer.reason) == (70.0, None, "Because.")
    with any_study.write() as connection:
        key = connection.execute(
            judgments.select()
            .where(judgments.c.raw_answer == "Because.\n70")
            .with_only_columns(judgments.c.id)
        ).scalar_one()
        reading = {"judgment_id": key, "parser_version": "2", "revision": 1, "value": None}
        connection.execute(
            insert(readings).values(**reading, missing_reason="several_scores", rule=None)
        )
    with any_study.read() as connection:
        assert judge_reasons(connection, {"AC": 1}, places) == {}
        (answer,) = answers_that_count(connection, [1])
    assert (answer.value, answer.missing_reason) == (None, "several_scores")
