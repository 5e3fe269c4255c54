"""A file is read as the commands read it, and faults of a table are named as the user has it."""

import random
from pathlib import Path

import pandas as pd
import pytest

import ccrs_study as ccrs
from analysis import AnalysisError


@pytest.fixture
def table() -> pd.DataFrame:
    draw = random.Random(2)
    people = [draw.randint(1, 5) for _ in range(60)]
    judge = [min(5, max(1, value + draw.choice([-1, 0, 0, 1]))) for value in people]
    return pd.DataFrame({"human": people, "llm": judge})


def test_a_path_is_read_as_the_table_in_it(table: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    of_table = ccrs.evaluate(table, judge="llm", human="human", scale="1-5")
    for source in (path, str(path)):
        of_path = ccrs.evaluate(source, judge="llm", human="human", scale="1-5")
        pd.testing.assert_frame_equal(of_path.to_frame(), of_table.to_frame())


def test_words_of_a_file_are_declared_as_those_of_a_table(tmp_path: Path) -> None:
    words = ["meh", "fine", "superb"] * 8
    path = tmp_path / "t.csv"
    pd.DataFrame({"human": words, "llm": [*words[:-1], "n/k"]}).to_csv(path, index=False)
    values = {"meh": 0, "fine": 1, "superb": 2, "n/k": None}
    assert "23 responses" in ccrs.evaluate(path, values=values).verdict


@pytest.mark.parametrize(
    ("value", "fault"),
    [(9, "llm: 9 is outside the scale from 1 to 5 in row 7"), (float("inf"), "row 7")],
)
def test_a_value_that_is_wrong_is_named_by_column_and_row(
    table: pd.DataFrame, value: float, fault: str
) -> None:
    table = table.astype("float64")
    table.loc[7, "llm"] = value
    with pytest.raises(AnalysisError, match=fault):
        ccrs.evaluate(table, judge="llm", human="human", scale=(1, 5))


def test_an_unknown_option_is_named_with_those_that_exist(table: pd.DataFrame) -> None:
    with pytest.raises(TypeError, match=r"no option 'ledger'.*The options are"):
        ccrs.evaluate(table, judge="llm", human="human", ledger=3)
    with pytest.raises(TypeError, match="give a DataFrame, or the path of a file"):
        ccrs.evaluate([1, 2, 3])  # type: ignore[arg-type]  # the wrong type is what is tested
