"""Which of a judge's answers is the score, and how it was read."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import insert

from study import Study, export_study, import_file
from study.schema import JudgeAnswer, JudgeRun, Noun, Output, Query, Reading, Response, table

CUT = "truncated_by_server"


def add(study: Study, noun: type[Noun], *rows: dict[str, Any]) -> None:
    with study.write() as connection:
        connection.execute(insert(table(noun)), list(rows))


@pytest.fixture
def judged(any_study: Study) -> Study:
    """A study with one response of a query, and a run that has judged nothing yet."""
    add(any_study, Query, {"id": 1, "key": "q", "text": "?", "references": ["!"], "attributes": {}})
    content = {"query_id": 1, "version": 1, "context_hash": None, "content_hash": b"1" * 16}
    add(any_study, Response, {**content, "id": 1, "key": "r", "text": "yes"})
    add(any_study, Output, {"query_id": 1, "system": "A", "revision": 1, "response_id": 1})
    run = {
        "engine": "files",
        "model": "m",
        "prompt_version": "p",
        "prompt_hash": "h",
        "decoding": {},
        "software": {},
        "observed": {},
        "repeats": 1,
        "config_hash": "x",
    }
    add(any_study, JudgeRun, {**run, "id": 1, "name": "one"}, {**run, "id": 2, "name": "two"})
    return any_study


def judgment(number: int, attempt: int, answer: float | str, **changes: Any) -> dict[str, Any]:
    """A value that was a bare number, or a reason."""
    value = answer if isinstance(answer, float) else None
    return {
        "id": number,
        "run_id": 1,
        "response_id": 1,
        "construct_key": "QR",
        "construct_version": 1,
        "repeat": 0,
        "attempt": attempt,
        "value": value,
        "missing_reason": None if value is not None else answer,
        "rule": "bare" if value is not None else None,
        "flags": [],
        **changes,
    }


def reading(of: int, revision: int, answer: float | str, rule: str | None = None) -> dict[str, Any]:
    value = answer if isinstance(answer, float) else None
    reason = None if value is not None else answer
    return {
        "judgment_id": of,
        "revision": revision,
        "parser_version": str(revision),
        "value": value,
        "missing_reason": reason,
        "rule": rule,
    }


def scores_of(study: Study) -> list[tuple[object, ...]]:
    rows = study.score_table()[["scorer", "construct", "repeat", "value", "missing_reason", "rule"]]
    return [tuple(None if pd.isna(cell) else cell for cell in row) for row in rows.to_numpy()]


@pytest.mark.parametrize(
    ("attempts", "value", "reason"),
    [
        # An answer without a score stays the score: a further one would select the parseable.
        (["no_score", 70.0], None, "no_score"),
        ([60.0, 70.0], 60.0, None),
        # An answer to a prompt that was cut is none to the prompt.
        ([CUT, 70.0], 70.0, None),
        ([CUT, CUT, "refusal", 70.0], None, "refusal"),
        ([CUT, CUT], None, CUT),
        ([CUT], None, CUT),
    ],
)
def test_the_first_answer_to_a_whole_prompt_is_the_score(
    judged: Study, attempts: list[float | str], value: float | None, reason: str | None
) -> None:
    rows = [judgment(n, n, answer) for n, answer in enumerate(attempts, start=1)]
    # The order in which rows come from the database is no order of attempts.
    add(judged, JudgeAnswer, *reversed(rows))
    rule = None if value is None else "bare"
    assert scores_of(judged) == [("one", "QR", 0, value, reason, rule)]


def test_each_run_construct_and_repeat_has_a_score_of_its_own(judged: Study) -> None:
    add(
        judged,
        JudgeAnswer,
        judgment(1, 1, CUT),
        judgment(2, 2, 10.0),
        judgment(3, 1, 20.0, repeat=1),
        judgment(4, 1, 30.0, construct_key="CC", rule="labelled"),
        judgment(5, 1, 40.0, run_id=2),
        judgment(6, 2, 50.0, run_id=2),
    )
    assert scores_of(judged) == [
        ("one", "CC", 0, 30.0, None, "labelled"),
        ("one", "QR", 0, 10.0, None, "bare"),
        ("one", "QR", 1, 20.0, None, "bare"),
        ("two", "QR", 0, 40.0, None, "bare"),
    ]


def test_the_last_reading_of_an_answer_replaces_what_was_read_before(judged: Study) -> None:
    constructs = ("QR", "CC", "ID", "AC")
    answers: list[float | str] = ["no_score", 10.0, 20.0, 30.0]
    add(
        judged,
        JudgeAnswer,
        *(
            judgment(n, 1, value, construct_key=key)
            for n, (key, value) in enumerate(zip(constructs, answers, strict=True), start=1)
        ),
        judgment(5, 2, 99.0),
    )
    add(
        judged,
        Reading,
        reading(1, 1, "several_scores"),
        reading(1, 2, 85.0, "labelled"),
        reading(2, 1, 10.0, "decorated"),
        # A later parser may also find that there is no score.
        reading(3, 1, "out_of_range"),
        reading(5, 1, 1.0, "json"),
    )
    assert scores_of(judged) == [
        ("one", "AC", 0, 30.0, None, "bare"),
        ("one", "CC", 0, 10.0, None, "decorated"),
        ("one", "ID", 0, None, "out_of_range", None),
        ("one", "QR", 0, 85.0, None, "labelled"),
    ]


def test_how_answers_were_read_survives_an_export(judged: Study, tmp_path: Any) -> None:
    rows = [judgment(1, 1, 85.0, rule="labelled"), judgment(2, 1, "refusal", construct_key="CC")]
    add(judged, JudgeAnswer, *rows, judgment(3, 1, 0.0, construct_key="ID", rule="empty_response"))
    done = export_study(judged, tmp_path / "export")
    again = Study.create(tmp_path / "again")
    for file in done.files:
        import_file(again, tmp_path / "export" / file)
    pd.testing.assert_frame_equal(again.score_table(), judged.score_table())
    assert again.score_table()["rule"].tolist() == [None, "empty_response", "labelled"]
    assert np.isnan(again.score_table()["value"].iloc[0])
    again.close()
