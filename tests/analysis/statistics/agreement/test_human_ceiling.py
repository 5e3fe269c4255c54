import numpy as np
import pytest
from scipy import stats

from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.human_ceiling import human_ceiling
from tests.analysis.ragged import ratings, repeated

NA = float("nan")


def by_hand(values: np.ndarray, judge: np.ndarray, column: int) -> tuple[float, float]:
    """Rater and judge against the mean of the others, written out."""
    of_rater, others, machine = [], [], []
    for row, score in zip(values, judge, strict=True):
        rest = np.delete(row, column)
        rest = rest[np.isfinite(rest)]
        if np.isfinite(row[column]) and rest.size and np.isfinite(score):
            of_rater.append(row[column])
            others.append(rest.mean())
            machine.append(score)
    return stats.pearsonr(of_rater, others)[0], stats.pearsonr(machine, others)[0]


def test_judge_and_rater_meet_the_same_means_on_the_same_responses() -> None:
    values = ratings(1, n=60, raters=3)
    judge = np.random.default_rng(2).normal(50, 20, 60)
    judge[:5] = NA
    ceiling = human_ceiling(values, judge, np.arange(60) // 4)
    expected = np.array([by_hand(values, judge, column) for column in range(3)])
    assert ceiling.used == (0, 1, 2)
    assert ceiling.judge is not None
    assert ceiling.difference is not None
    assert [ceiling.by_rater[c] for c in range(3)] == [pytest.approx(tuple(e)) for e in expected]
    assert ceiling.rater.point == pytest.approx(expected[:, 0].mean())
    assert ceiling.judge.point == pytest.approx(expected[:, 1].mean())
    assert ceiling.difference.point == pytest.approx((expected[:, 1] - expected[:, 0]).mean())


def test_a_judge_exchangeable_with_the_raters_reaches_the_ceiling_exactly_on_average() -> None:
    rng = np.random.default_rng(3)
    differences = []
    for _ in range(60):
        scores = rng.normal(size=(150, 1)) + rng.normal(size=(150, 4))
        difference = human_ceiling(scores[:, :3], scores[:, 3], np.arange(150)).difference
        assert difference is not None
        differences.append(difference.point)
    # Comparing the judge with the mean of all three would give about +.08.
    assert abs(np.mean(differences)) < 3 * stats.sem(differences)
    assert stats.sem(differences) < 0.01


@pytest.mark.parametrize("measure", ["pearson", "spearman", "kendall_tau_b"])
@pytest.mark.parametrize("scope", ["pooled", "within_query", "between_queries"])
def test_weights_equal_repeating_queries(measure, scope) -> None:
    values, query = ratings(4, n=80, raters=3), np.arange(80) // 4
    judge = np.random.default_rng(5).normal(50, 20, 80)
    difference = human_ceiling(values, judge, query, scope, measure).difference
    assert difference is not None
    weights = QueryResampling(20, 3).bootstrap
    for row, value in zip(weights, difference(weights), strict=True):
        codes, (values_r, judge_r) = repeated(row, query, values, judge)
        again = human_ceiling(values_r, judge_r, codes, scope, measure).difference
        assert again is not None
        assert value == pytest.approx(again.point, abs=1e-9)


def test_raters_for_whom_it_is_undefined_are_named() -> None:
    values = ratings(6, n=40, raters=6, missing=0)
    values[:, 1] = 70
    values[:, 2] = NA
    values[2:, 3] = NA
    values[:, 4] = NA
    values[39] = NA
    values[39, 4] = 3
    values[:, 5] = NA
    judge = np.random.default_rng(7).normal(50, 20, 40)
    judge[38] = NA
    values[38, 5] = 10
    ceiling = human_ceiling(values, judge, np.arange(40))
    assert ceiling.used == (0,)
    assert ceiling.excluded == {
        1: "the rater gives every response the same value (70)",
        2: "the rater has no ratings",
        3: "a correlation needs at least 3 responses, there are 2",
        4: "no other rater rated the same responses",
        5: "the judge scored none of the responses shared with others",
    }
    assert (ceiling.rater.n_responses, ceiling.rater.n_dropped) == (38, 2)


def test_an_excluded_rater_enters_neither_mean_and_the_responses_left_out_are_counted() -> None:
    values = ratings(12, n=43, raters=4, missing=0)
    # The first two raters share 30 responses, the last two the next 10, where the judge's score
    # is constant; one response has a single rating, one no judge score, and one no rating.
    values[:30, 2:] = NA
    values[30:, :2] = NA
    values[40, 3] = NA
    values[42] = NA
    judge = np.random.default_rng(13).normal(50, 20, 43)
    judge[30:] = 80
    judge[41] = NA
    ceiling = human_ceiling(values, judge, np.arange(43))
    expected = np.array([by_hand(values, judge, column) for column in (0, 1)])
    assert ceiling.used == (0, 1)
    constant = "the judge gives every response the same value (80)"
    assert ceiling.excluded == {2: constant, 3: constant}
    assert ceiling.judge is not None
    assert ceiling.difference is not None
    assert ceiling.rater.point == pytest.approx(expected[:, 0].mean())
    assert ceiling.judge.point == pytest.approx(expected[:, 1].mean())
    assert ceiling.difference.point == pytest.approx((expected[:, 1] - expected[:, 0]).mean())
    for part in (ceiling.rater, ceiling.judge, ceiling.difference):
        # All that were rated at all, without the 30 responses of the two raters that count.
        assert (part.n_responses, part.n_dropped) == (30, 12)


def test_a_constant_judge_excludes_every_rater() -> None:
    ceiling = human_ceiling(ratings(8), np.full(60, 80.0), np.arange(60))
    assert ceiling.used == ()
    assert ceiling.difference is not None
    assert np.isnan(ceiling.difference.point)
    assert ceiling.difference.reason == "no rater can be compared with the mean of the others"
    assert set(ceiling.excluded.values()) == {"the judge gives every response the same value (80)"}


@pytest.mark.parametrize("values", [ratings(9, raters=1), np.full((60, 3), NA), np.empty((0, 2))])
def test_without_other_raters_there_is_no_ceiling(values: np.ndarray) -> None:
    ceiling = human_ceiling(values, None, np.arange(len(values)))
    assert ceiling.judge is None
    assert ceiling.difference is None
    assert np.isnan(ceiling.rater.point)
    assert len(ceiling.excluded) == values.shape[1]


def test_order_of_raters_does_not_matter() -> None:
    values, judge = ratings(10), np.random.default_rng(11).normal(50, 20, 60)
    query = np.arange(60) // 3
    there = human_ceiling(values, judge, query, "within_query").difference
    back = human_ceiling(values[:, ::-1], judge, query, "within_query").difference
    assert there is not None
    assert back is not None
    assert there.point == pytest.approx(back.point)


def test_perfect_raters_reach_one() -> None:
    values = np.repeat(np.arange(6.0)[:, None], 3, axis=1)
    assert human_ceiling(values, None, np.arange(6)).rater.point == pytest.approx(1)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="judge has shape"):
        human_ceiling(ratings(1), np.zeros(3), np.arange(60))
    with pytest.raises(ValueError, match="expected \\(items, raters\\)"):
        human_ceiling(np.zeros(3), None, np.arange(3))
