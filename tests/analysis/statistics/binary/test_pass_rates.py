"""Pass rates from a judge's verdicts and rates, by hand and against people."""

import numpy as np
import pytest

from analysis.core.query_statistic import QueryStatistic
from analysis.statistics.binary.pass_rates import BY_CHANCE, NO_RATES, pass_rate_by_rates

# Ten rated responses: of 6 that people pass the judge passes 5, of 4 that they fail 1.
PEOPLE = np.array([1.0] * 6 + [0.0] * 4 + [np.nan] * 10)
JUDGE = np.array([1.0] * 5 + [0.0] + [1.0] + [0.0] * 3 + [1.0] * 8 + [0.0] * 2)
QUERY = np.arange(20)


def of(judge: np.ndarray, people: np.ndarray, items: np.ndarray | None = None) -> QueryStatistic:
    return pass_rate_by_rates(judge, people, QUERY, items=items)


def test_the_value_is_that_of_rogan_and_gladen() -> None:
    unrated = np.isnan(PEOPLE)
    expected = (0.8 + 0.75 - 1) / (5 / 6 + 0.75 - 1)
    assert of(JUDGE, PEOPLE, unrated).point == pytest.approx(expected)


def test_on_the_rated_responses_it_is_peoples_share() -> None:
    assert of(JUDGE, PEOPLE, np.isfinite(PEOPLE)).point == pytest.approx(0.6)


def test_leaving_a_query_out_is_the_value_without_it() -> None:
    weights = np.ones((1, 20))
    weights[0, 3] = 0
    without = pass_rate_by_rates(np.delete(JUDGE, 3), np.delete(PEOPLE, 3), np.arange(19))
    assert of(JUDGE, PEOPLE)(weights)[0] == pytest.approx(without.point)


def test_reasons_of_undefined_pass_rates() -> None:
    assert of(JUDGE, np.where(PEOPLE == 0, np.nan, PEOPLE)).reason == NO_RATES
    assert of(1 - JUDGE, PEOPLE).reason == BY_CHANCE


def test_rated_responses_count_by_the_inverse_of_their_probability() -> None:
    # The fourth failed response, which the judge fails, was rated with a probability of one half.
    probability = np.ones(20)
    probability[9] = 0.5
    unrated = np.isnan(PEOPLE)
    weighted = pass_rate_by_rates(JUDGE, PEOPLE, QUERY, items=unrated, probability=probability)
    right = 4 / 5
    assert weighted.point == pytest.approx((0.8 + right - 1) / (5 / 6 + right - 1))
