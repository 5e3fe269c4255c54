import numpy as np
import pytest
from sqlalchemy import create_engine, insert, text

from study import Study, study_status
from study.columns import PREFERENCE_COLUMNS, SCORE_COLUMNS
from study.facts.score_table import compact_score_table, score_rows
from study.schema.database import read_frame
from study.schema.tables import outputs, responses
from tests.study.populated_study import fill


@pytest.fixture
def filled(any_study: Study) -> Study:
    fill(any_study)
    return any_study


def test_rows_of_the_score_table_are_those_of_the_compact_table(
    filled: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.facts.score_table._ROWS_AT_ONCE", 2)
    with filled.read() as connection:
        compact = compact_score_table(connection, filled.construct_versions(connection))
    rows = list(score_rows(compact))
    whole = filled.score_table()
    assert len(rows) > 3
    assert repr(rows) == repr(list(whole.itertuples(index=False, name=None)))
    assert list(whole) == list(SCORE_COLUMNS)


def test_each_kind_of_score_is_in_the_table_once_for_each_system(filled: Study) -> None:
    table_ = filled.score_table()
    aside = [
        "query_id",
        "rule",
        "inclusion_prob",
        "stratum",
        "response_words",
        "position",
        "layout",
        "domain",
        "passages_opened",
        "text_format",
    ]
    shown = table_.drop(columns=aside)
    rows = shown.to_numpy().tolist()
    nan = np.nan
    expected = [
        ["r1", "A", "AC", "EM", "metric", 0, 100.0, None, "file"],
        ["r1", "B", "AC", "EM", "metric", 0, 100.0, None, "file"],
        # The last revision of the rating, and nothing of the training assignment.
        ["r2", "C", "AC", "anna", "human", 0, 20.0, None, "own"],
        # The first attempt of the judge, though a later one could be read.
        ["r2", "C", "AC", "judge-1", "judge", 0, nan, "unparsed", "own"],
        ["r2", "C", "IR", "anna", "human", 0, nan, "skipped", "own"],
    ]
    assert [[str(cell) for cell in row] for row in rows] == [
        [str(cell) for cell in row] for row in expected
    ]
    anna = table_[table_["scorer"] == "anna"]
    assert anna["inclusion_prob"].tolist() == [0.5, 0.5]
    assert anna["stratum"].tolist() == ["s", "s"]


def test_the_columns_and_their_types_are_the_same_when_the_study_is_empty(
    filled: Study, study: Study
) -> None:
    for made, columns in (
        (study.score_table(), SCORE_COLUMNS),
        (filled.score_table(), SCORE_COLUMNS),
        (study.preference_table(), PREFERENCE_COLUMNS),
        (filled.preference_table(), PREFERENCE_COLUMNS),
    ):
        assert list(made.columns) == list(columns)
        kinds = {name: "object" if kind == "str" else kind for name, kind in columns.items()}
        assert made.dtypes.astype(str).to_dict() == kinds


def test_a_preference_names_both_responses(filled: Study) -> None:
    row = filled.preference_table().iloc[0]
    assert (row["query_id"], row["response_a"], row["response_b"]) == ("q1", "r2", "r1")
    assert (row["scorer"], row["value"], row["missing_reason"]) == ("anna", 1.0, None)


def test_what_a_later_output_replaced_leaves_the_table_and_is_counted(filled: Study) -> None:
    with filled.write() as connection:
        connection.execute(
            insert(responses).values(
                id=3, key="r2", version=2, text="maybe", query_id=1, content_hash=b"3" * 16
            )
        )
        connection.execute(
            insert(outputs).values(query_id=1, system="C", revision=2, response_id=3)
        )
    left = filled.score_table()
    assert left["response_id"].unique().tolist() == ["r1"]
    assert left.attrs["left_out"] == {"given to a response that a later one replaced": 3}
    preferences = filled.preference_table()
    assert len(preferences) == 0
    assert preferences.attrs["left_out"] == {"comparing a response that a later one replaced": 1}


def test_values_on_an_earlier_version_of_a_construct_are_counted(filled: Study) -> None:
    path = filled.folder / "study.toml"
    section = '[[constructs]]\nkey="AC"\nname="Another"\nquestion="?"\n'
    path.write_text(path.read_text() + section)
    changed = Study.open(filled.folder)
    assert len(changed.score_table()) == 0
    assert changed.score_table().attrs["left_out"] == {
        "given to a construct that study.toml no longer has": 1,
        "given to an earlier version of a construct": 3,
    }
    assert changed.preference_table().attrs["left_out"] == {
        "given to an earlier version of a construct": 1
    }
    changed.close()


def test_status_counts_what_is_there(filled: Study) -> None:
    status = study_status(filled)
    assert (status.queries, status.responses, status.preferences) == (1, 2, 1)
    assert status.systems == {"A": 1, "B": 1, "C": 1}
    assert (status.responses_without_passages, status.queries_without_reference) == (2, 0)
    by_scorer = {(s.construct, s.scorer): (s.values, s.missing) for s in status.scorers}
    assert by_scorer == {
        ("AC", "EM"): (1, {}),
        ("AC", "anna"): (1, {}),
        ("AC", "judge-1"): (0, {"unparsed": 1}),
        ("IR", "anna"): (0, {"skipped": 1}),
    }
    # Of the training assignment, IR is not rated, and anna has no link.
    assert status.next_step.startswith("ccrs invite")


def test_status_of_an_empty_study_says_what_comes_next(study: Study) -> None:
    assert study_status(study).next_step.startswith("ccrs import")


def test_equal_texts_of_a_frame_are_one_object() -> None:
    engine = create_engine("sqlite://")
    rows = "SELECT 'a long reason' AS reason, 1 AS n UNION ALL SELECT 'a long reason', NULL"
    with engine.connect() as connection:
        frame = read_frame(connection, text(rows))
    engine.dispose()
    assert frame["reason"].dtype == object
    assert frame["reason"][0] is frame["reason"][1]
    assert frame["n"].isna().tolist() == [False, True]


def test_the_domain_is_an_attribute_of_the_query(filled: Study) -> None:
    assert set(filled.score_table()["domain"]) == {"law"}
