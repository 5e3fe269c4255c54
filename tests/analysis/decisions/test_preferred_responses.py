"""Answers on judges that compare two responses, beside people who compared them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from analysis import PreferenceTable
from analysis.cli.report import report
from analysis.topics.agreement.preferences_beside_raters import majority

PAIRS = 120


def rows(choices: dict[str, np.ndarray], **more: np.ndarray) -> pd.DataFrame:
    parts = [
        pd.DataFrame(
            {
                "query_id": [f"q{i // 2}" for i in range(PAIRS)],
                "response_a": [f"a{i}" for i in range(PAIRS)],
                "response_b": [f"b{i}" for i in range(PAIRS)],
                "construct": "QR",
                "scorer": name,
                "scorer_kind": "human" if name.startswith("rater") else "judge",
                "value": values,
            }
        ).assign(**(more if name == "judge" else {}))
        for name, values in choices.items()
    ]
    return pd.concat(parts, ignore_index=True)


def noisy(truth: np.ndarray, right: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(PAIRS) < right, truth, -truth)


@pytest.fixture
def truth() -> np.ndarray:
    return np.random.default_rng(1).choice([-1, 1], PAIRS)


def said(frame: pd.DataFrame, folder: Path) -> str:
    file = folder / "preferences.csv"
    frame.to_csv(file, index=False)
    done = CliRunner().invoke(report, [str(file), "--text"])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_majority_is_the_most_frequent_choice() -> None:
    choices = np.array([[1, 1, -1], [1, -1, 0], [0, 0, 1], [np.nan, 1, np.nan], [1, -1, np.nan]])
    np.testing.assert_array_equal(majority(choices), [1, np.nan, 0, 1, np.nan])


def test_a_judge_as_good_as_a_rater_may_choose(truth: np.ndarray, tmp_path: Path) -> None:
    choices = {f"rater-{i}": noisy(truth, 0.85, i) for i in range(3)}
    text = said(rows(choices | {"judge": noisy(truth, 0.9, 7)}), tmp_path)
    assert "Against the majority: 8" in text
    assert "Choose between two responses: yes. Accuracy against the majority minus" in text
    assert "correlate" not in text


def test_a_judge_that_guesses_may_not(truth: np.ndarray, tmp_path: Path) -> None:
    choices = {f"rater-{i}": noisy(truth, 0.85, i) for i in range(3)}
    text = said(rows(choices | {"judge": noisy(truth, 0.5, 7)}), tmp_path)
    assert "Choose between two responses: no." in text


@pytest.mark.parametrize(("right", "answer"), [(0.9, "yes"), (0.5, "no")])
def test_beside_one_rater_its_accuracy_decides(
    truth: np.ndarray, right: float, answer: str, tmp_path: Path
) -> None:
    text = said(rows({"rater": truth, "judge": noisy(truth, right, 7)}), tmp_path)
    assert f"Choose between two responses: {answer}. Its choice is that of the rater in" in text
    if answer == "yes":
        assert "the judge is compared with this one rater only" in text


def test_pairs_in_both_orders_are_averaged_and_a_preference_for_the_first_is_named(
    truth: np.ndarray, tmp_path: Path
) -> None:
    # Half of the pairs: the choice is always what is shown first, -1 with a first and 1 with b.
    first = np.arange(PAIRS) < PAIRS // 2
    a_first, b_first = np.where(first, -1, truth), np.where(first, 1, truth)
    judge = np.where(first, 0, truth)
    frame = rows({"rater": truth, "judge": judge}, value_a_first=a_first, value_b_first=b_first)
    text = said(frame, tmp_path)
    # Right in one order of two on these pairs, and in both on the others.
    assert "Its choice is that of the rater in 75% of the pairs" in text
    assert "it makes the same choice in both orders of 50% of the pairs only" in text
    assert "it prefers what is shown first by 50% of the pairs" in text


def test_the_table_is_read(truth: np.ndarray) -> None:
    assert PreferenceTable.from_frame(rows({"rater": truth})).constructs == ("QR",)
