"""`evaluate` without names of columns: those that are evident, and else what to name."""

import pandas as pd
import pytest

from analysis.core.errors import TableError
from ccrs_study.recognized_frame import evident_columns


def test_evident_columns_are_those_of_the_commands() -> None:
    frame = pd.DataFrame(
        {"q": [0, 0, 1, 1], "h0": [10, 20, 30, 40], "h1": [10, 30, 30, 50], "llm": [10, 20, 40, 50]}
    )
    assert evident_columns(frame) == {"judge": "llm", "human": ["h0", "h1"], "query": "q"}
    named = frame.rename(columns={"h0": "human_QR", "h1": "human_AC", "llm": "llm_QR"})
    both = named.assign(llm_AC=named["llm_QR"])
    assert evident_columns(both) == {
        "judge": {"QR": ["llm_QR"], "AC": ["llm_AC"]},
        "human": {"QR": ["human_QR"], "AC": ["human_AC"]},
        "query": "q",
    }


def test_a_long_table_names_its_scorers() -> None:
    frame = pd.DataFrame(
        {"response_id": ["a"], "scorer": ["x"], "construct": ["QR"], "value": [1.0]}
    )
    assert evident_columns(frame) == {}


def test_what_is_not_evident_is_named_in_python() -> None:
    frame = pd.DataFrame({"anna": [1, 2, 2, 1], "llm": [1, 2, 1, None]})
    with pytest.raises(TableError, match=r"evaluate\(data, judge='llm', human='COLUMN'\)"):
        evident_columns(frame)
