"""A table with a column for each scorer becomes a long table of scores."""

import pandas as pd
import pytest

from analysis.core.errors import TableError
from ccrs_study.named_frames import long_scores

WIDE = pd.DataFrame(
    {
        "key": ["a", "b", "c"],
        "question": ["q1", "q1", "q2"],
        "system": ["s", "t", "s"],
        "llm": [80, None, 60],
        "anna": [70, 50, 40],
        "ben": [75, 55, None],
    }
)


def test_columns_become_scorers() -> None:
    table = long_scores(
        WIDE, "llm", ["anna", "ben"], id="key", query="question", system="system"
    ).set_index(["response_id", "scorer"])
    assert len(table) == 9
    assert table.loc[("c", "anna")].to_dict() == {
        "query_id": "q2",
        "system": "s",
        "construct": "score",
        "scorer_kind": "human",
        "value": 40,
    }
    assert table.loc[("a", "llm"), "scorer_kind"] == "judge"
    assert pd.isna(table.loc[("b", "llm"), "value"])


def test_without_id_a_row_is_a_response_with_a_question_of_its_own() -> None:
    table = long_scores(WIDE, "llm", "anna")
    assert table["response_id"].tolist() == ["row 1", "row 2", "row 3"] * 2
    assert (table["query_id"] == table["response_id"]).all()


def test_a_scorer_with_a_column_for_each_construct_is_named_by_what_they_share() -> None:
    wide = pd.DataFrame(
        {"llm_qr": [1, 2], "llm_cc": [3, 4], "QR:anna": [1, 1], "CC:anna": [2, 2], "x": [1, 1]}
    )
    table = long_scores(
        wide,
        judge={"QR": "llm_qr", "CC": "llm_cc"},
        human={"QR": ["QR:anna", "x"], "CC": "CC:anna"},
    )
    assert table.groupby("scorer")["construct"].unique().map(sorted).to_dict() == {
        "llm": ["CC", "QR"],
        "anna": ["CC", "QR"],
        "x": ["QR"],
    }
    assert table.loc[table["construct"] == "CC", "value"].tolist() == [3, 4, 2, 2]


def test_columns_without_anything_in_common_are_numbered() -> None:
    wide = pd.DataFrame({"a": [1], "b": [2], "c": [3], "d": [4]})
    table = long_scores(wide, {"QR": "a", "CC": "b"}, {"QR": "c", "CC": "d"})
    assert table["scorer"].tolist() == ["judge 1", "judge 1", "human 1", "human 1"]


def test_constructs_may_be_rows() -> None:
    wide = pd.DataFrame({"key": ["a", "a"], "about": ["QR", "CC"], "llm": [1, 2], "anna": [3, 4]})
    table = long_scores(wide, "llm", "anna", id="key", construct="about")
    assert table[["construct", "value"]].to_numpy().tolist() == [
        ["QR", 1],
        ["CC", 2],
        ["QR", 3],
        ["CC", 4],
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"judge": "lm", "human": "anna"}, "column 'lm' is missing.*Did you mean 'llm'"),
        ({"judge": "llm", "human": "llm"}, "column 'llm' is named for two purposes"),
        ({"judge": "llm", "human": "anna", "query": "anna"}, "'anna' is named for two purposes"),
        ({"judge": {"QR": "llm"}, "human": "anna"}, "both by construct, or neither"),
        ({"judge": "llm", "human": "anna", "construct": "system"}, "need its id"),
        ({"judge": "llm", "human": "anna", "id": "ben"}, "column 'ben' is blank in row 2"),
    ],
)
def test_faults_name_column_and_remedy(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(TableError, match=message):
        long_scores(WIDE, **arguments)  # type: ignore[arg-type]


def test_a_column_that_occurs_twice_is_a_fault() -> None:
    twice = pd.concat([WIDE, WIDE[["llm"]]], axis=1)
    with pytest.raises(TableError, match="column 'llm' occurs twice"):
        long_scores(twice, "llm", "anna")


def test_the_index_of_the_table_does_not_matter() -> None:
    moved = WIDE.set_axis([7, 7, 9])
    pd.testing.assert_frame_equal(
        long_scores(moved, "llm", "anna", query="question"),
        long_scores(WIDE, "llm", "anna", query="question"),
    )


def test_white_space_around_a_query_or_system_does_not_count() -> None:
    spaced = pd.DataFrame({"q": ["a", "a ", "b"], "s": ["A", "A", " A"], "llm": 1, "anna": 2})
    scores = long_scores(spaced, "llm", "anna", query="q", system="s")
    assert set(scores["query_id"]) == {"a", "b"}
    assert set(scores["system"]) == {"A"}


def test_a_column_that_is_named_by_a_number_is_given_as_text() -> None:
    numbered = WIDE.rename(columns={"llm": 0})
    assert set(long_scores(numbered, "0", "anna")["scorer"]) == {"0", "anna"}
