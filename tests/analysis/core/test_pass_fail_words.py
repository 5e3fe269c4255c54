"""Words for pass and fail in a table of scores, and scales that are seen to have two points."""

import numpy as np
import pandas as pd
import pytest

from analysis.core.cuts import gives_pass_or_fail, passing_without_cut
from analysis.core.errors import TableError
from analysis.core.pass_fail_words import PASS_FAIL_WORDS, PASS_OR_FAIL
from analysis.core.tables import ScoreTable
from study.base.scales import Scale
from study.importing.readers.value_words import is_verdict, vocabulary_of


def scores(**values: list[object]) -> pd.DataFrame:
    """A column of values for each scorer; those named judge are judges."""
    parts = [
        pd.DataFrame(
            {
                "response_id": [f"r{i}" for i in range(len(column))],
                "query_id": [f"q{i}" for i in range(len(column))],
                "construct": "QR",
                "scorer": scorer,
                "scorer_kind": "judge" if scorer.startswith("judge") else "human",
                "value": pd.Series(column, dtype=object),
            }
        )
        for scorer, column in values.items()
    ]
    return pd.concat(parts, ignore_index=True)


def values_of(table: ScoreTable, scorer: str) -> list[float]:
    rows = table.frame[table.frame["scorer"] == scorer]
    return [float(value) for value in rows["value"]]


def test_words_are_those_of_imports() -> None:
    for one, zero in PASS_FAIL_WORDS:
        assert is_verdict(one)
        assert is_verdict(zero)
        vocabulary = vocabulary_of([one, zero])
        assert vocabulary is not None
        assert (vocabulary.value(one), vocabulary.value(zero)) == (1, 0)


@pytest.mark.parametrize("words", PASS_FAIL_WORDS)
def test_words_are_one_and_zero(words: tuple[str, str]) -> None:
    one, zero = words
    table = ScoreTable.from_frame(
        scores(ann=[one.title(), zero, f" {one.upper()} "], judge=[1, 0, 1])
    )
    assert values_of(table, "ann") == [1, 0, 1]
    assert table.scale("QR") == PASS_OR_FAIL
    assert any(f"{one} is read as 1 and {zero} as 0" in warning for warning in table.warnings)
    assert any("0:1:1" in warning for warning in table.warnings)


def test_a_column_of_booleans_is_read() -> None:
    frame = scores(ann=[True, False, True])
    table = ScoreTable.from_frame(frame.assign(value=frame["value"].astype(bool)))
    assert values_of(table, "ann") == [1, 0, 1]


def test_missing_words_stay_missing() -> None:
    table = ScoreTable.from_frame(scores(ann=["pass", None, "fail"]))
    assert values_of(table, "ann") == pytest.approx([1, np.nan, 0], nan_ok=True)


@pytest.mark.parametrize("mixed", [["pass", "yes"], ["pass", "1"], [0, "fail"], ["pass", "good"]])
def test_mixed_ways_are_refused(mixed: list[object]) -> None:
    with pytest.raises(TableError, match=r"ann on QR: .* in row 1 is among"):
        ScoreTable.from_frame(scores(ann=mixed))


def test_words_are_refused_on_another_scale() -> None:
    with pytest.raises(TableError, match=r"scale is 0 to 100; declare a scale from 0 to 1"):
        ScoreTable.from_frame(scores(ann=["pass", "fail"]), {"QR": Scale(0, 100)})


def test_two_scorers_may_use_other_words() -> None:
    table = ScoreTable.from_frame(scores(ann=["pass", "fail"], judge=["yes", "no"]))
    assert values_of(table, "judge") == [1, 0]


def test_a_scale_from_0_to_1_has_two_points_where_people_use_no_others() -> None:
    table = ScoreTable.from_frame(scores(ann=[1, 0], judge=[0.3, 0.9]), {"QR": Scale(0, 1)})
    assert table.scale("QR", "ann") == PASS_OR_FAIL
    assert table.scale("QR", "judge") == Scale(0, 1)


@pytest.mark.parametrize("step", [1, None])
def test_codes_of_two_names_are_not_pass_and_fail(step: float | None) -> None:
    names = Scale(0, 1, step, "nominal")
    table = ScoreTable.from_frame(scores(ann=[1, 0, 1], judge=[1, 0, 0]), {"QR": names})
    assert table.scale("QR", "ann") == names
    assert table.scale("QR", "judge") == names
    assert not names.binary
    assert not any("pass" in warning for warning in table.warnings)
    assert not gives_pass_or_fail(table, "QR", "judge")
    assert not passing_without_cut(table, "QR", "judge")


def test_only_words_that_occur_are_named() -> None:
    table = ScoreTable.from_frame(scores(ann=["pass", "Pass"]))
    assert "ann on QR: pass is read as 1" in table.warnings


def test_words_of_values_are_kept() -> None:
    frame = scores(ann=[1, 0])
    frame.attrs["value_names"] = {"QR": {0.0: "ham", 1.0: "spam"}}
    table = ScoreTable.from_frame(frame)
    assert table.value_name("QR", 1) == "spam"
    assert table.value_name("QR", 0.5) == "0.5"
    assert table.on_constructs(["QR"]).value_names == {"QR": {0: "ham", 1: "spam"}}


def test_a_graded_judge_without_a_scale_stays_without_one() -> None:
    table = ScoreTable.from_frame(scores(ann=[1, 0], judge=[30, 90]))
    assert table.scale("QR", "ann") == PASS_OR_FAIL
    assert table.scale("QR", "judge") is None


@pytest.mark.parametrize("people", [[0.5, 1], [1, 1], [1, 2]])
def test_values_beside_0_and_1_without_a_scale_stay_without_one(people: list[object]) -> None:
    assert ScoreTable.from_frame(scores(ann=people)).scale("QR", "ann") is None
