"""Words and scales as they are written in Python."""

import pandas as pd
import pytest

import ccrs_study as ccrs
from analysis.core.errors import AnalysisError, TableError
from analysis.core.scales import Scale

WORDS = ["good", "ok", "bad", "ok", "good", "bad"] * 5


def table(judge: list[object], human: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"llm": judge, "anna": human, "q": [i // 2 for i in range(len(judge))]})


def scores(data: pd.DataFrame, **options: object) -> ccrs.ScoreTable:
    result = ccrs.evaluate(data, "llm", "anna", query="q", **options)  # type: ignore[arg-type]
    return result.analysis.scores


def values(of: ccrs.ScoreTable, scorer: str) -> list[float]:
    return [float(value) for value in of.frame.loc[of.frame["scorer"] == scorer, "value"]]


def test_words_are_read_as_in_files() -> None:
    read = scores(table(list(WORDS), list(reversed(WORDS))))
    assert values(read, "llm")[:3] == [2, 1, 0]
    assert read.scale("score") == Scale(0, 2, 1, "ordinal")
    assert any("good read as 2, ok as 1 and bad as 0 (60)" in line for line in read.warnings)


def test_words_of_a_long_table_are_read() -> None:
    rows = [
        {"response_id": f"r{i}", "query_id": f"q{i // 2}", "construct": "c", "scorer": scorer,
         "scorer_kind": kind, "value": WORDS[(i + shift) % 30]}
        for scorer, kind, shift in (("llm", "judge", 0), ("anna", "human", 1))
        for i in range(30)
    ]  # fmt: skip
    read = ccrs.evaluate(pd.DataFrame(rows)).analysis.scores
    assert values(read, "llm")[:3] == [2, 1, 0]


def test_numbers_of_words_are_declared() -> None:
    read = scores(
        table(list(WORDS), [*WORDS[:-1], "dunno maybe"]),
        values={"good": 5, "ok": 3, "bad": 1, "dunno maybe": None},
        scale="1-5",
    )
    assert values(read, "llm")[:3] == [5, 3, 1]
    assert pd.isna(values(read, "anna")[-1])
    assert read.scale("score") == Scale(1, 5)


def test_json_ratios_and_booleans_are_read() -> None:
    judge = [{"score": 4, "reasoning": "x"}, '{"rating": 2}', "3/5", 5] * 8
    assert values(scores(table(judge, [4, 2, 3, 5] * 8), scale="1:5:1"), "llm")[:4] == [4, 2, 3, 5]
    read = scores(table([True, False] * 16, ["yes", "no"] * 16))
    assert values(read, "llm")[:2] == [1, 0]


@pytest.mark.parametrize(
    ("judge", "options", "message"),
    [
        (["good", "so-so"], {}, r"llm on score, row 1: 'so-so' .*values=\{.*'so-so': NUMBER"),
        (["good", "bad"], {"values": {"great": 1}}, "no column of scores has a word"),
        (["good", "bad"], {"values": {"3": 1}}, "'3' is a number"),
        (["4/5", "3/5"], {}, 'scale="0:5"'),
        (["good", 3], {}, "row 1: 3 is among good and bad"),
        (["good", "ok"], {"scale": (1, 5)}, "the words are 0 to 2, and the scale is 1 to 5"),
    ],
)
def test_faults_name_arguments(
    judge: list[object], options: dict[str, object], message: str
) -> None:
    people = ["good", "ok", "bad", "ok"] if "ok" in judge else ["good", "bad"] * 2
    with pytest.raises(TableError, match=message) as caught:
        scores(table(judge * 2, list(people)), **options)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ((1, 5), Scale(1, 5)),
        ((1, 5, 1), Scale(1, 5, 1)),
        ("1-5", Scale(1, 5)),
        ("-2 to 2", Scale(-2, 2)),
        ("1:5:1", Scale(1, 5, 1)),
        ("1:5:1:ordinal", Scale(1, 5, 1, "ordinal")),
        (Scale(0, 10), Scale(0, 10)),
        ({"score": "0-10"}, Scale(0, 10)),
    ],
)
def test_scales(scale: object, expected: Scale) -> None:
    low, high = expected.min, expected.max
    middle = (low + high) / 2
    data = table([low, high, middle, high] * 8, [low, high, middle, low] * 8)
    assert scores(data, scale=scale).scale("score") == expected


@pytest.mark.parametrize("scale", ["five", (1, 2, 3, 4, 5), {"other": (1, 5)}])
def test_wrong_scales(scale: object) -> None:
    with pytest.raises(AnalysisError, match="scale"):
        scores(table([1, 2], [1, 2]), scale=scale)
