"""Rows at the end of a table that sum up the others."""

import statistics
from typing import Any

import pytest

from study.importing.score_columns.row_checks import summary_rows

LLM, HUMAN = [4, 5, 3, 1, 2, 4, 4], [5, 5, 3, 2, 2, 3, 4]


def places(question: list[Any] | None, llm: list[Any], human: list[Any]) -> list[int]:
    columns: dict[str, list[Any]] = {"llm": [*LLM, *llm], "human": [*HUMAN, *human]}
    if question is not None:
        columns = {"question": [*(f"q{n}" for n in range(7)), *question], **columns}
    return [row.place for row in summary_rows(columns, ["llm", "human"])]


MEANS = round(statistics.fmean(LLM), 2), round(statistics.fmean(HUMAN), 2)


@pytest.mark.parametrize("blank", ["", " ", None, float("nan")])
def test_means_without_a_label(blank: Any) -> None:
    assert places([blank], [MEANS[0]], [MEANS[1]]) == [7]
    assert places([blank], [str(MEANS[0])], [f"{MEANS[1]:.1f}"]) == [7]
    assert places([blank], [statistics.fmean(LLM)], [statistics.fmean(HUMAN)]) == [7]


def test_means_of_a_table_without_texts_have_further_decimals() -> None:
    assert places(None, [MEANS[0]], [MEANS[1]]) == [7]
    assert places(None, [3], [3]) == []


def test_sums_and_what_follows_a_summary() -> None:
    assert places([""], [sum(LLM)], [sum(HUMAN)]) == [7]
    assert places(["", ""], [MEANS[0], 1.35], [MEANS[1], 1.27]) == [7, 8]


@pytest.mark.parametrize("label", ["mean", "Std", "MIN", "max:", "count", "Median", "Average"])
def test_labels_in_the_last_rows(label: str) -> None:
    assert places([label, "std"], [1, 1.2], [2, 1.3]) == [7, 8]
    assert places([label, "min", "max"], [1, 1, 5], [2, 2, 5]) == [7, 8, 9]


def test_describe_of_pandas() -> None:
    labels = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]
    assert places(labels, [1] * 8, [2] * 8) == list(range(7, 15))


@pytest.mark.parametrize(
    ("question", "llm", "human"),
    [
        ([""], [3], [3]),  # a response whose text is missing
        ([""], [3.5], [4.5]),
        (["q8"], [MEANS[0]], [MEANS[1]]),  # a response, by chance with the means
        (["what is the mean?"], [3], [4]),
        (["n"], [3], [4]),
        (["q8"], ["good"], ["bad"]),
    ],
)
def test_responses_are_none(question: list[str], llm: list[Any], human: list[Any]) -> None:
    assert places(question, llm, human) == []


def test_a_label_beside_other_texts_is_a_cell_of_a_response() -> None:
    columns: dict[str, list[Any]] = {
        "topic": ["sum", "max", "count", "sum"],
        "question": ["a", "b", "c", "d"],
        "llm": [1, 2, 3, 4],
        "human": [2, 2, 3, 4],
    }
    assert [row.place for row in summary_rows(columns, ["llm", "human"])] == [3]
    columns["topic"][-1] = "other"
    assert summary_rows(columns, ["llm", "human"]) == []


@pytest.mark.parametrize("cells", [[1, 2, 3, 4, 5], [0, 0, 1, 1], [1, 2, 1.5], [2, 1, 2, 5]])
def test_few_grades_are_no_sums_or_means(cells: list[float]) -> None:
    assert summary_rows({"llm": cells, "human": cells}, ["llm", "human"]) == []
    assert len(summary_rows({"llm": [*LLM, 23], "human": [*HUMAN, 24]}, ["llm", "human"])) == 1
