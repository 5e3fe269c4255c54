import numpy as np
import pytest
from scipy import stats

from analysis.statistics.agreement.alternative_annotator import (
    Alignment,
    alternative_annotator,
    constant_judge,
)

NA = float("nan")


def simulated(
    seed: int, n: int = 120, raters: int = 3, error: float = 1.0, judge: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 2, n)
    ratings = truth[:, None] + rng.normal(0, error, (n, raters))
    return truth + rng.normal(0, judge, n), ratings


def closeness(value: float, others: np.ndarray, alignment: str) -> float:
    others = others[np.isfinite(others)]
    if alignment == "equality":
        return float(np.mean(others == value))
    if alignment == "rmse":
        return -float(np.sqrt(np.mean((others - value) ** 2)))
    return -float(np.mean(np.abs(others - value)))


@pytest.mark.parametrize("alignment", ["rmse", "absolute_error", "equality"])
def test_with_one_response_a_query_it_is_the_papers_test(alignment: Alignment) -> None:
    judge, ratings = simulated(0)
    judge, ratings = judge.round(), ratings.round()
    ratings[:15, 1] = NA
    judge[100:103] = NA
    test = alternative_annotator(judge, ratings, np.arange(120), 0.2, alignment)
    shares, ps = [], []
    for column in range(3):
        wins, losses = [], []
        for score, row in zip(judge, ratings, strict=True):
            others = np.delete(row, column)
            if np.isnan(score) or np.isnan(row[column]) or not np.isfinite(others).any():
                continue
            its, of_rater = (closeness(v, others, alignment) for v in (score, row[column]))
            wins.append(its >= of_rater or np.isclose(its, of_rater))
            losses.append(of_rater >= its or np.isclose(its, of_rater))
        lead = np.array(losses, dtype=float) - np.array(wins, dtype=float)
        ps.append(stats.ttest_1samp(lead, 0.2, alternative="less").pvalue)
        shares.append(np.mean(wins))
    assert test.advantage.point == pytest.approx(np.mean(shares))
    assert test.p == pytest.approx(ps)
    adjusted = stats.false_discovery_control(ps, method="by")
    assert test.replaced == tuple(adjusted <= 0.05)
    assert test.winning_rate == pytest.approx(np.mean(adjusted <= 0.05))


def test_responses_to_one_query_do_not_count_as_independent() -> None:
    judge, ratings = simulated(1)
    alone = alternative_annotator(judge, ratings, np.arange(120), 0.15)
    # Each response four times, as four systems that gave nearly the same.
    four = [np.repeat(values, 4, axis=0) for values in (judge, ratings)]
    clustered = alternative_annotator(*four, np.repeat(np.arange(120), 4), 0.15)
    assert clustered.p == pytest.approx(alone.p)


def test_a_good_judge_passes_and_a_poor_one_does_not() -> None:
    good, ratings = simulated(2, n=200, judge=0.3)
    assert alternative_annotator(good, ratings, np.arange(200), 0.15).passed
    poor, ratings = simulated(2, n=200, judge=6)
    assert alternative_annotator(poor, ratings, np.arange(200), 0.15).passed is False


def test_where_raters_are_noise_a_constant_judge_passes() -> None:
    rng = np.random.default_rng(3)
    # Reliability .5, as where a constant beats most raters.
    truth = rng.normal(size=400)
    ratings = truth[:, None] + rng.normal(size=(400, 3))
    test = alternative_annotator(constant_judge(ratings), ratings, np.arange(400), 0.2)
    assert test.passed


def test_the_order_of_raters_does_not_matter() -> None:
    judge, ratings = simulated(4)
    test = alternative_annotator(judge, ratings, np.arange(120) // 2, 0.1)
    other = alternative_annotator(judge, ratings[:, ::-1], np.arange(120) // 2, 0.1)
    assert other.winning_rate == test.winning_rate
    assert other.p[::-1] == pytest.approx(test.p)


def test_few_queries_or_raters_carry_no_verdict() -> None:
    judge, ratings = simulated(5)
    few = alternative_annotator(judge, ratings, np.arange(120) // 5, 0.15)
    assert few.passed is None
    assert few.reason is not None
    assert "3 raters with 30 queries" in few.reason
    assert few.excluded[0] == "24 of 30 queries that others rated too"
    assert alternative_annotator(judge, ratings[:, :2], np.arange(120), 0.15).reason
    assert alternative_annotator(judge, ratings[:, :0], np.arange(120), 0.15).reason
    fourth = np.column_stack([ratings, np.where(np.arange(120) < 3, 1.0, NA)])
    test = alternative_annotator(judge, fourth, np.arange(120), 0.15)
    assert test.used == (0, 1, 2)
    assert 3 in test.excluded


def test_a_judge_that_always_wins_has_a_p_of_nothing() -> None:
    ratings = np.tile([0.0, 10.0, 20.0], (40, 1))
    test = alternative_annotator(np.full(40, 10.0), ratings, np.arange(40), 0.1)
    # As close as the middle rater (even), closer than the outer two.
    assert test.p.tolist() == [0, 0, 0]
    assert test.winning_rate == 1


def test_the_constant_is_the_mean_or_the_most_frequent_value() -> None:
    ratings = np.array([[1.0, 2.0], [2.0, NA], [5.0, 5.0], [2.0, 4.0]])
    assert constant_judge(ratings)[0] == pytest.approx(3)
    assert constant_judge(ratings, "equality").tolist() == [2, 2, 2, 2]
    assert np.isnan(constant_judge(np.full((2, 2), NA))).all()


@pytest.mark.parametrize(("epsilon", "alignment"), [(-0.1, "rmse"), (1, "rmse"), (0.1, "accuracy")])
def test_wrong_settings_are_refused(epsilon: float, alignment: Alignment) -> None:
    with pytest.raises(ValueError, match=r"epsilon|alignment"):
        alternative_annotator(np.ones(3), np.ones((3, 3)), np.arange(3), epsilon, alignment)
