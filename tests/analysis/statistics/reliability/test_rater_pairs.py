import numpy as np
import pytest

from analysis.statistics.reliability.rater_pairs import mean_absolute_difference, raw_agreement
from tests.analysis.ragged import ratings, repeated

NA = float("nan")
# Pairs: |1-2|, |1-4|, |2-4| of mean 2; |5-5| of 0; a response rated once; one not rated.
VALUES = np.array([[1, 2, 4], [5, 5, NA], [3, NA, NA], [NA, NA, NA]])


def test_each_response_counts_once() -> None:
    apart = mean_absolute_difference(VALUES, range(4))
    assert apart.point == pytest.approx((2 + 0) / 2)
    assert (apart.n_responses, apart.n_dropped) == (2, 1)
    assert raw_agreement(VALUES, range(4)).point == pytest.approx((0 + 1) / 2)
    assert raw_agreement(VALUES, range(4), 1).point == pytest.approx((1 / 3 + 1) / 2)


def test_float_noise_is_no_disagreement() -> None:
    values = np.array([[0.1 + 0.2, 0.3], [0.7, 0.8]])
    assert raw_agreement(values, range(2)).point == 0.5
    assert raw_agreement(values, range(2), 0.1).point == 1


def test_a_weight_is_a_repetition() -> None:
    values, query = ratings(1, n=20), np.arange(20) // 2
    weights = np.array([1, 2, 0, 1, 1, 1, 1, 0, 3, 1])
    codes, (again,) = repeated(weights, query, values)
    for statistic in (raw_agreement, mean_absolute_difference):
        result = statistic(values, query)(weights[None, :])[0]
        assert result == pytest.approx(statistic(again, codes).point)


def test_no_pair_and_wrong_arguments() -> None:
    for empty in (np.full((3, 2), NA), np.empty((3, 0)), np.array([[1.0], [2], [3]])):
        assert raw_agreement(empty, range(3)).reason == "no response has two ratings"
    with pytest.raises(ValueError, match="tolerance -1"):
        raw_agreement(VALUES, range(4), -1)
    with pytest.raises(ValueError, match="expected \\(items, raters\\)"):
        raw_agreement([1.0, 2], range(2))
