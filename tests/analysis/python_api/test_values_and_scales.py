"""Words and scales as they are written in Python."""

import pandas as pd
import pytest

import ccrs_study as ccrs
from analysis.core.errors import AnalysisError, TableError
from analysis.topics.agreement.categories import confusions
from study.base.scales import Scale

WORDS = ["good", "ok", "bad", "ok", "good", "bad"] * 5


def table(judge: list[object], human: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"llm": judge, "anna": human, "q": [i // 2 for i in range(len(judge))]})


def scores(data: pd.DataFrame, **options: object) -> ccrs.ScoreTable:
    result = ccrs.evaluate(data, "llm", "anna", query="q", **options)  # type: ignore[arg-type]  # options of any type
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


@pytest.mark.parametrize("words", [["spam", "ham"], ["tea", "milk", "beer"]])
def test_names_have_a_kappa_and_keep_their_words(words: list[str]) -> None:
    human = [words[row % len(words)] for row in range(60)]
    judge = [words[row % len(words)] if row % 5 else words[0] for row in range(60)]
    result = ccrs.evaluate(pd.DataFrame({"llm": judge, "anna": human}), "llm", "anna")
    assert result.analysis.scores.value_names == {"score": dict(enumerate(sorted(words)))}
    assert "agrees with a rater by a kappa of" in str(result.verdict)
    assert "pass" not in str(result.verdict)
    headings = [
        heading
        for table in confusions(result.analysis)
        for heading in table.columns
        if heading.startswith("Judge: ")
    ]
    assert headings == [f"Judge: {word}" for word in sorted(words)]


def test_numbers_are_missing_where_that_is_declared() -> None:
    data = table([4, -1, 3, 5] * 8, [4, 2, 99, 5] * 8)
    read = scores(data, values={"-1": None, "99": None}, scale=(1, 5))
    assert pd.isna(values(read, "llm")[1])
    assert pd.isna(values(read, "anna")[2])
    with pytest.raises(TableError, match="no column of scores has the number 98"):
        scores(data, values={"98": None})


def test_summary_rows_of_a_frame_are_refused() -> None:
    data = table([4, 1, 3, 5], [4, 2, 3, 5])[["llm", "anna"]]
    means = pd.concat([data, data.mean().to_frame().T])
    with pytest.raises(TableError, match="row 4: has the mean of the rows above"):
        ccrs.evaluate(means, "llm", "anna")
    with pytest.raises(TableError, match="row 5, column 'index': 'mean' in one of the last"):
        ccrs.evaluate(pd.concat([data, data.describe()]), "llm", "anna")


def test_the_direction_of_a_failure_is_noted() -> None:
    data = pd.DataFrame({"llm_error": ["yes", "no"] * 20, "human_error": ["no", "yes"] * 20})
    warnings = ccrs.evaluate(data, "llm_error", "human_error").analysis.scores.warnings
    assert any("values={'yes': 0, 'no': 1} reads it so" in line for line in warnings)
    numbers = (data == "yes").astype(int)
    warnings = ccrs.evaluate(numbers, "llm_error", "human_error").analysis.scores.warnings
    assert any(line.startswith("1 counts as pass") for line in warnings)
