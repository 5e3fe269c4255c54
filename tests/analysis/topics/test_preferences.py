import numpy as np
import pandas as pd
import pytest

from analysis import Options, PreferenceTable, Scale, analyse
from analysis.core.estimates import EstimateList
from analysis.topics.agreement.preferred_choices import _ac1, _kappa
from tests.analysis.scores import rows, table

SCORES = {"r1": 0.80, "r2": 0.50, "r3": 0.70, "r4": 0.10, "r5": 0.10, "r6": 0.40}


def analysed(
    preferences: list[tuple[str, str, float]], scores: dict[str, float] | None = None
) -> EstimateList:
    """One rater's preferences on pairs, and a metric's scores from 0 to 1."""
    values = scores or SCORES
    queries = {f"r{i}": f"q{(i + 1) // 2}" for i in range(1, 9)}
    metric = rows(
        *(
            {
                "response_id": name,
                "query_id": queries[name],
                "scorer": "metric",
                "scorer_kind": "metric",
                "value": value,
            }
            for name, value in values.items()
        )
    )
    compared = pd.DataFrame(
        {
            "query_id": [queries[a] for a, _, _ in preferences],
            "response_a": [a for a, _, _ in preferences],
            "response_b": [b for _, b, _ in preferences],
            "construct": "QR",
            "scorer": "ann",
            "scorer_kind": "human",
            "value": [value for _, _, value in preferences],
        }
    )
    passed = PreferenceTable.from_frame(compared, Scale(-2, 2))
    return analyse(table(metric, Scale(0, 1)), passed, Options(resamples=100)).estimates


def test_a_positive_preference_says_that_b_is_better() -> None:
    # The metric prefers a in the first two pairs, and b in the third.
    analysis = analysed([("r1", "r2", -2), ("r3", "r4", -1), ("r5", "r6", 2)])
    for statistic in ("pearson", "spearman"):
        r = analysis.first(statistic, scorer="metric", on="preferences")
        assert r is not None
        assert r.value > 0.4
    accuracy = analysis.first("preference_accuracy", scorer="metric")
    assert accuracy is not None
    assert (accuracy.value, accuracy.n_responses) == (1, 3)
    turned = analysed([("r2", "r1", -2), ("r4", "r3", -1), ("r6", "r5", 2)])
    reversed_ = turned.first("preference_accuracy", scorer="metric")
    assert reversed_ is not None
    assert reversed_.value == 0


def test_no_preference_is_right_only_with_equal_scores() -> None:
    values = {"r1": 0.5, "r2": 0.5, "r3": 0.1, "r4": 0.9, "r5": 0.1 + 0.2, "r6": 0.3}
    analysis = analysed([("r1", "r2", 0), ("r3", "r4", 0), ("r5", "r6", 0)], values)
    accuracy = analysis.first("preference_accuracy", scorer="metric")
    assert accuracy is not None
    # The third pair differs by float noise only.
    assert accuracy.value == pytest.approx(2 / 3)


def test_equal_differences_stay_ties_whatever_their_float_noise() -> None:
    values = {"r1": 0.1, "r2": 0.3, "r3": 0.6, "r4": 0.8, "r5": 0.7, "r6": 0.9, "r7": 0.2,
              "r8": 0.7}  # fmt: skip
    deltas = {round(values[b] - values[a], 17) for a, b in (("r1", "r2"), ("r3", "r4"))}
    assert len(deltas) == 2, "in floating point the two differences of .2 are not equal"
    pairs = [("r1", "r2", 0.0), ("r3", "r4", 1.0), ("r5", "r6", 2.0), ("r7", "r8", 2.0)]
    rho = analysed(pairs, values).first("spearman", scorer="metric", on="preferences")
    assert rho is not None
    # Mid-ranks 2, 2, 2, 4 against 1, 2, 3.5, 3.5: products of deviations sum up to 2.
    assert rho.value == pytest.approx(2 / (3 * 4.5) ** 0.5)


def test_without_scores_of_both_responses_the_accuracy_has_a_reason() -> None:
    unscored = analysed([("r1", "r2", 1.0)], {"r1": 0.5, "r3": 0.6})
    accuracy = unscored.first("preference_accuracy")
    assert accuracy is not None
    assert accuracy.reason == "no pair has a preference and a difference of scores"


def test_ac1_of_choices_is_that_of_gwet() -> None:
    # A table whose AC1 and kappa are .849331 and .796409.
    cells = np.array([[[13.0, 0, 0], [0, 20, 7], [0, 4, 56]]])
    assert _ac1(cells)[0] == pytest.approx(0.849331, abs=1e-6)
    assert _kappa(cells)[0] == pytest.approx(0.796409, abs=1e-6)
    # Without a tie there are two choices: chance is 2 p (1 - p).
    two = np.array([[[8.0, 0, 1], [0, 0, 0], [1, 0, 10]]])
    share = 9 / 20
    chance = 2 * share * (1 - share)
    assert _ac1(two)[0] == pytest.approx((18 / 20 - chance) / (1 - chance))
    # One choice throughout: full agreement, and no kappa.
    one = np.array([[[0.0, 0, 0], [0, 0, 0], [0, 0, 9]]])
    assert _ac1(one)[0] == 1
    assert np.isnan(_kappa(one)[0])
