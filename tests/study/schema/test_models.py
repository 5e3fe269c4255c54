from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError
from sqlalchemy import create_engine, insert, select

from study import Study
from study.schema import (
    JudgeAnswerBase,
    Noun,
    QueryBase,
    RaterAnswerBase,
    ResponseBase,
    ScorerAnswerBase,
    UTCDateTime,
    digest,
    table,
)
from tests import sqlite_tables

SCORE = {"construct_key": "AC", "scorer": "x", "scorer_kind": "judge"}


@pytest.mark.parametrize("key", ["", " ", " a", "a ", "a\nb", "a\x00", "x" * 501])
def test_a_key_is_one_clean_line(key: str) -> None:
    with pytest.raises(ValidationError):
        QueryBase(key=key, text="?")


def test_text_that_a_database_cannot_hold_is_refused() -> None:
    with pytest.raises(ValidationError, match="NUL"):
        ResponseBase(key="r", text="a\x00b")
    with pytest.raises(ValidationError, match="surrogate pair at character 2"):
        ResponseBase(key="r", text="a\ud800")


def test_an_empty_response_is_a_response() -> None:
    assert ResponseBase(key="r", text="").text == ""


def test_missing_is_null_with_a_reason_never_both_never_neither() -> None:
    assert ScorerAnswerBase(**SCORE, missing_reason="skipped").value is None
    assert ScorerAnswerBase(**SCORE, value=0.0).missing_reason is None
    for wrong in ({}, {"value": 1.0, "missing_reason": "skipped"}):
        with pytest.raises(ValidationError, match="either a value, marks or a missing_reason"):
            ScorerAnswerBase(**SCORE, **wrong)
        with pytest.raises(ValidationError, match="either a value or a missing_reason"):
            JudgeAnswerBase(construct_key="AC", **wrong)


def test_a_rating_has_a_value_exactly_when_rated() -> None:
    assert RaterAnswerBase(construct_key="AC", value=3.0).status == "rated"
    assert RaterAnswerBase(construct_key="AC", status="skipped").value is None
    for wrong in ({"status": "rated"}, {"status": "skipped", "value": 3.0}):
        with pytest.raises(ValidationError, match="exactly when"):
            RaterAnswerBase(construct_key="AC", **wrong)


def test_scorer_kinds_are_four() -> None:
    with pytest.raises(ValidationError, match="'human', 'adjudicated', 'judge' or 'metric'"):
        ScorerAnswerBase(**{**SCORE, "scorer_kind": "robot"}, value=1.0)


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_digests_differ_where_the_parts_do(a: list[bytes], b: list[bytes]) -> None:
    assert (digest(*a) == digest(*b)) == (a == b)


def test_times_are_utc_in_and_out() -> None:
    from sqlalchemy import Column, MetaData, Table

    times = Table("times", MetaData(), Column("at", UTCDateTime))
    engine = create_engine("sqlite://")
    tokyo = datetime(2026, 1, 1, 9, tzinfo=timezone(timedelta(hours=9)))
    with engine.begin() as connection:
        times.create(connection)
        connection.execute(insert(times).values(at=tokyo))
        stored = connection.execute(select(times.c.at)).scalar_one()
        with pytest.raises(Exception, match="has no time zone"):
            connection.execute(insert(times).values(at=datetime(2026, 1, 1)))
    engine.dispose()
    assert stored == datetime(2026, 1, 1, tzinfo=UTC)
    assert stored.tzinfo is UTC


def test_every_constraint_has_a_name() -> None:
    for noun in Noun.__subclasses__():
        for sub in [noun, *noun.__subclasses__()]:
            if hasattr(sub, "__tablename__") and hasattr(sub, "__table__"):
                assert all(c.name for c in table(sub).constraints), sub


def test_the_tables_of_the_studies_of_tests_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study.create(tmp_path / "first").close()
    monkeypatch.setattr(sqlite_tables, "_create_schema", None)
    Study.create(tmp_path / "second").close()
