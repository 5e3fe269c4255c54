"""Corrected means: the textbook example, weights, missing scores, and what may not change them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.statistics.correction import prediction_powered
from analysis.statistics.correction.prediction_powered import (
    Corrected,
    LearnedLambda,
    corrected,
    labels_saved,
    learnable,
    learned_lambda,
)
from analysis.statistics.correction.query_sums import QuerySums, query_sums
from tests.analysis.statistics.correction.two_systems import simulated

HUMAN = [1, 0, 1, 1, 0, 1, 0, 1, 1, 0]
JUDGE = [0.9, 0.2, 0.7, 0.8, 0.4, 0.6, 0.1, 0.9, 0.3, 0.2]
UNLABELED = [
    0.8, 0.7, 0.3, 0.9, 0.1, 0.6, 0.5, 0.4, 0.95, 0.2,
    0.85, 0.15, 0.65, 0.75, 0.35, 0.55, 0.45, 0.25, 0.05, 0.99,
]  # fmt: skip


def textbook() -> QuerySums:
    """Ten labeled responses and a second sample of twenty, each response a query of its own."""
    human = np.r_[HUMAN, np.full(20, np.nan)]
    return query_sums(human, [*JUDGE, *UNLABELED], np.arange(30), pool=np.isnan(human))


def plain(human: np.ndarray, judge: np.ndarray, query: np.ndarray, weight: np.ndarray) -> float:
    """The estimate written out, one response after the other, where lambda is not at a bound."""
    labeled = np.isfinite(human)
    w = np.where(labeled, weight, 0.0)
    y = np.where(labeled, human, 0.0)
    h, j, p = w @ y / w.sum(), w @ judge / w.sum(), judge.mean()
    u = np.bincount(query, w * (y - h) / w.sum())
    labels = np.bincount(query, w * (judge - j) / w.sum())
    d = np.bincount(query, (judge - p) / judge.size) - labels
    return float(h - (u @ d) / max(d @ d, -(labels @ d)) * (p - j))


@pytest.mark.parametrize(
    ("lam", "value"), [(1.0, 0.6145), (0.0, 0.6), (0.880369, 0.612765), (0.978207, 0.614184)]
)
def test_corrected_mean_of_the_textbook_example(lam: float, value: float) -> None:
    # .6 + lambda (.5245 - .51); the last two are the tuned lambdas of two other conventions.
    assert corrected(textbook(), lam=lam).value == pytest.approx(value, abs=1e-6)


def test_the_learned_lambda_of_few_labels_is_averaged_with_one() -> None:
    # Four of the ten labels are not the most common one; lambda = 1 is worth twenty, less what
    # ten labels leave open of the judge's correlation.
    square = np.corrcoef(HUMAN, JUDGE)[0, 1] ** 2
    shown = 1 - (1 - square) / (8 * square)
    averaged = corrected(textbook())
    assert averaged.lam == pytest.approx((4 * 0.903132 + 20 * shown) / 24, abs=1e-6)


def test_a_judge_that_tells_nothing_leaves_the_ratings_alone() -> None:
    human = np.r_[HUMAN, np.full(20, np.nan)]
    reversed_judge = 1 - np.array([*JUDGE, *UNLABELED])
    sums = query_sums(human, reversed_judge, np.arange(30))
    assert learned_lambda([(sums,)]).value == 0


def test_where_most_values_are_the_same_the_judge_is_kept() -> None:
    # 2 of 12 labels differ. The slope is 0, and lambda = 1 counts in full: 20 / (2 + 20).
    human = np.r_[np.ones(10), 0, 0, np.full(20, np.nan)]
    sums = query_sums(human, np.r_[np.zeros(10), 1, 1, np.linspace(0, 1, 20)], np.arange(32))
    assert learned_lambda([(sums,)]).value == pytest.approx(20 / 22)


def two_systems(first: np.ndarray, second: np.ndarray) -> tuple[QuerySums, QuerySums]:
    """Of 60 queries the first system is rated on the first ones, the second on the last ones."""
    tables = np.full((2, 60), np.nan)
    tables[0, : first.size], tables[1, -second.size :] = first, second
    judge = np.linspace(0, 100, 60)
    a, b = (query_sums(human, judge, np.arange(60), 60) for human in tables)
    return a, b


def test_a_difference_has_the_degrees_of_freedom_of_the_system_with_few_labels() -> None:
    # Welch-Satterthwaite: the parts are 1, 2, ..., 6 and 40 equal distances of 1 from their mean.
    few, many = np.arange(1.0, 7.0), np.tile([1.0, -1.0], 20)
    estimate = corrected(*two_systems(many, few), lam=0.0)
    parts, below = [], 0.0
    for values in (many, few):
        without = (values.sum() - values) / (values.size - 1)
        squares = (without - without.mean()) ** 2
        total = squares.sum()
        fourth = (squares**2).sum() - total**2 / values.size
        own = values.size - 1.0
        if fourth > 0:
            own = np.clip(2 * total**2 / fourth * own / (own + 2), 1, own)
        parts.append(total)
        below += total**2 / own
    assert estimate.df == pytest.approx(sum(parts) ** 2 / below)
    assert estimate.df < 8


@pytest.mark.parametrize("labels", [2, 4])
def test_a_difference_with_a_system_of_few_labels_is_withheld(labels: int) -> None:
    first, second = two_systems(np.tile([1.0, 3.0], 20), np.arange(1.0, labels + 1))
    reason = corrected(first, second, lam=0.0).interval.reason
    assert reason == f"it rests on {labels} of {40 + labels} queries, an interval needs at least 5"
    assert corrected(first, second).interval.reason is not None


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "shared"), [(5, 0), (5, 2), (8, 2)])
def test_a_difference_of_systems_that_share_few_rated_queries_covers(
    labels: int, shared: int
) -> None:
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(400):
        quality = rng.normal(50, 10, (200, 1)) + rng.normal(0, 12, (200, 2))
        human = quality + rng.normal(0, 11, quality.shape)
        judge = quality + rng.normal(0, 12, quality.shape)
        human[40:, 0] = human[: 40 - shared, 1] = human[40 - shared + labels :, 1] = np.nan
        a, b = (query_sums(human[:, s], judge[:, s], np.arange(200)) for s in range(2))
        interval = corrected(a, b).interval
        covered.append(interval.low <= 0 <= interval.high)
    # Of 400 at .95, fewer than 366 happens once in 1,000.
    assert sum(covered) >= 366


def test_tuned_lambda_of_the_textbook_example() -> None:
    # Each sample has its own variance: (cov / n) / (var / n + var_unlabeled / N), all over n.
    human, judge, more = np.array(HUMAN), np.array(JUDGE), np.array(UNLABELED)
    covariance = np.mean((human - human.mean()) * (judge - judge.mean()))
    lam = covariance / 10 / (judge.var() / 10 + more.var() / 20)
    corrected_mean = corrected(textbook(), lam=learned_lambda([(textbook(),)], one_scale=False))
    assert corrected_mean.lam == pytest.approx(lam)
    assert corrected_mean.lam == pytest.approx(0.903132, abs=1e-6)
    assert corrected_mean.value == pytest.approx(0.613095, abs=1e-6)


def learned_alone(sums: QuerySums) -> LearnedLambda:
    """What the labels say, not averaged with 1."""
    return learned_lambda([(sums,)], one_scale=False)


@pytest.mark.parametrize("fixed", [None, 1.0, 0.4])
def test_jackknife_leaves_each_query_out_with_a_lambda_of_its_own(fixed: float | None) -> None:
    human, judge = simulated(1)
    human[3, 1] = np.nan
    query = np.repeat(np.arange(len(human)), 2)
    chance = np.tile([0.5, 1.0], len(human))
    h, j = human.ravel(), judge.ravel()

    def estimated(sums: QuerySums, level: float = 0.95) -> Corrected:
        return corrected(sums, lam=learned_alone(sums) if fixed is None else fixed, level=level)

    corrected_mean = estimated(query_sums(h, j, query, probability=chance))
    if fixed is None:
        assert corrected_mean.value == pytest.approx(plain(h, j, query, 1 / chance))
    without = []
    for out in range(len(human)):
        kept = query != out
        codes = query[kept] - (query[kept] > out)
        part = query_sums(h[kept], j[kept], codes, probability=chance[kept])
        without.append(estimated(part).value)
    values = np.array(without)
    squares = (values - values.mean()) ** 2
    squares[:40] *= 39 / 40
    error = np.sqrt(squares.sum())
    again = estimated(query_sums(h, j, query, probability=chance), level=0.9)
    for entry, level in ((corrected_mean, 0.95), (again, 0.9)):
        reach = prediction_powered.t_quantile((1 + level) / 2, entry.df) * error
        assert entry.interval.high - entry.value == pytest.approx(reach)
        assert entry.value - entry.interval.low == pytest.approx(reach)


def test_ratings_alone_are_the_weighted_mean_with_a_t_interval() -> None:
    human, judge = simulated(2)
    corrected_mean = corrected(query_sums(human[:, 0], judge[:, 0], np.arange(90)), lam=0.0)
    labels = human[:40, 0]
    assert corrected_mean.value == pytest.approx(labels.mean())
    # The jackknife of a mean is its standard error.
    reach = (
        prediction_powered.t_quantile(0.975, corrected_mean.df) * labels.std(ddof=1) / np.sqrt(40)
    )
    assert corrected_mean.interval.high == pytest.approx(labels.mean() + reach)
    assert corrected_mean.pool_error == 0


def test_the_squared_error_is_split_into_that_of_the_labels_and_the_rest() -> None:
    human, judge = (column[:, 0] for column in simulated(5))
    corrected_mean = corrected(query_sums(human, judge, np.arange(90)), lam=0.6)
    # Influences of the queries on H - .6 J and on .6 P, written out for one response a query.
    labeled = np.isfinite(human)
    rectified = np.where(labeled, human - 0.6 * judge, 0.0)
    labels = np.where(labeled, rectified - rectified[labeled].mean(), 0.0) / labeled.sum()
    pool = 0.6 * (judge - judge.mean()) / 90
    covariance = labels @ pool
    assert abs(covariance) > 0.01 * (pool @ pool)
    assert corrected_mean.label_error == pytest.approx(labels @ labels)
    assert corrected_mean.pool_error == pytest.approx(pool @ pool + 2 * covariance)


def test_difference_of_systems_is_paired() -> None:
    human, judge = simulated(3)
    query = np.arange(90)
    first, second = (query_sums(human[:, s], judge[:, s], query) for s in range(2))
    corrected_mean, turned = corrected(first, second), corrected(second, first)
    assert turned.value == pytest.approx(-corrected_mean.value)
    assert turned.interval.low == pytest.approx(-corrected_mean.interval.high)
    # On complete pairs, the same as correcting the differences.
    both = corrected(query_sums(human[:, 0] - human[:, 1], judge[:, 0] - judge[:, 1], query))
    assert corrected_mean.value == pytest.approx(both.value)
    assert corrected_mean.interval.low == pytest.approx(both.interval.low)


def test_a_system_minus_itself_has_no_spread() -> None:
    human, judge = simulated(4)
    sums = query_sums(human[:, 0], judge[:, 0], np.arange(90))
    corrected_mean = corrected(sums, sums)
    assert corrected_mean.value == pytest.approx(0, abs=1e-12)
    assert corrected_mean.interval.reason is not None


@given(st.integers(0, 10_000), st.floats(0.1, 50), st.floats(-500, 500))
def test_order_of_responses_and_the_judges_scale_do_not_matter(
    seed: int, factor: float, shift: float
) -> None:
    human, judge = simulated(seed, labels=35)
    query = np.arange(90)
    sums = query_sums(human[:, 0], judge[:, 0], query)
    corrected_mean = corrected(sums, lam=learned_alone(sums))
    order = np.random.default_rng(seed).permutation(90)
    sums = query_sums(human[order, 0], factor * judge[order, 0] + shift, query[order])
    moved = corrected(sums, lam=learned_alone(sums))
    assert moved.value == pytest.approx(corrected_mean.value)
    assert moved.interval.low == pytest.approx(corrected_mean.interval.low)
    assert moved.lam == pytest.approx(corrected_mean.lam / factor)


@given(st.integers(0, 10_000), st.floats(-1e6, 1e6))
def test_people_on_another_origin(seed: int, shift: float) -> None:
    human, judge = simulated(seed, labels=35)
    corrected_mean = corrected(query_sums(human[:, 0], judge[:, 0], np.arange(90)))
    moved = corrected(query_sums(human[:, 0] + shift, judge[:, 0], np.arange(90)))
    assert moved.value - shift == pytest.approx(corrected_mean.value, abs=1e-6)


def test_weights_remove_the_bias_of_oversampling() -> None:
    """Low scores drawn four times as often: without weights the mean is off by 1.8 points."""
    rng = np.random.default_rng(0)
    plain_means, weighted, truths = [], [], []
    for _ in range(300):
        truth = 60 + 15 * rng.normal(size=1500)
        judge = truth + 8 * rng.normal(size=1500)
        chance = np.where(judge < np.median(judge), 0.12, 0.03)
        human = np.where(rng.random(1500) < chance, truth + 8 * rng.normal(size=1500), np.nan)
        query = np.arange(1500)
        plain_means.append(corrected(query_sums(human, judge, query), lam=1.0).value)
        weighted.append(corrected(query_sums(human, judge, query, probability=chance)).value)
        truths.append(truth.mean())
    bias = np.mean(np.subtract(plain_means, truths))
    left = np.mean(np.subtract(weighted, truths))
    error = np.std(np.subtract(weighted, truths)) / np.sqrt(300)
    assert bias == pytest.approx(1.8, abs=0.3)
    assert abs(left) < 4 * error < 0.5


def test_refusals_on_bad_responses_do_not_move_the_mean() -> None:
    rng = np.random.default_rng(1)
    result, left_out = [], []
    for _ in range(200):
        truth = 60 + 15 * rng.normal(size=600)
        judge = truth + 8 * rng.normal(size=600)
        judge[(truth < 50) & (rng.random(600) < 0.6)] = np.nan
        human = truth + 8 * rng.normal(size=600)
        human[100:] = np.nan
        query = np.arange(600)
        result.append(corrected(query_sums(human, judge, query)).value)
        kept = np.isfinite(judge)
        left_out.append(corrected(query_sums(human[kept], judge[kept], query[kept])).value)
    assert np.mean(left_out) > 62
    assert np.mean(result) == pytest.approx(60, abs=4 * np.std(result) / np.sqrt(200))


def test_the_unlabeled_samples_own_error_counts() -> None:
    human, judge = simulated(5, queries=60, labels=50)
    corrected_mean = corrected(query_sums(human[:, 0], judge[:, 0], np.arange(60)), lam=1.0)
    residual = (human[:, 0] - judge[:, 0])[:50]
    ignoring = prediction_powered.t_quantile(0.975, 49) * residual.std(ddof=1) / np.sqrt(50)
    assert corrected_mean.interval.high - corrected_mean.value > 1.2 * ignoring


def test_a_pool_that_is_all_labeled_leaves_peoples_mean() -> None:
    human, judge = simulated(6, labels=90)
    corrected_mean = corrected(query_sums(human[:, 0], judge[:, 0], np.arange(90)))
    assert corrected_mean.lam == 0
    assert corrected_mean.value == pytest.approx(human[:, 0].mean())


def test_a_shared_lambda_is_between_those_of_the_systems() -> None:
    human, judge = simulated(9)
    first, second = (query_sums(human[:, s], judge[:, s], np.arange(90)) for s in range(2))
    alone = [learned_alone(sums).value for sums in (first, second)]
    shared = learned_lambda([(first,), (second,)], one_scale=False).value
    assert min(alone) < shared < max(alone)
    same = learned_lambda([(first,), (first,)], one_scale=False).value
    assert same == pytest.approx(alone[0])


def test_a_system_that_is_not_rated_changes_no_shared_lambda() -> None:
    human, judge = simulated(9)
    rated = query_sums(human[:, 0], judge[:, 0], np.arange(90))
    unrated = query_sums(np.full(90, np.nan), judge[:, 1], np.arange(90))
    for one_scale in (False, True):
        alone = learned_lambda([(rated,)], one_scale=one_scale)
        shared = learned_lambda([(rated,), (unrated,)], one_scale=one_scale)
        assert shared.value == pytest.approx(alone.value)
        assert shared.without == pytest.approx(alone.without)


@pytest.mark.parametrize("unrated", [1, 2, 23])
def test_nearly_all_rated_leaves_the_ratings_alone(unrated: int) -> None:
    human, judge = simulated(8, queries=240, labels=240 - unrated)
    # What is unrated looks average to the judge, so that a tuned lambda has little to divide by.
    judge[240 - unrated :] = judge.mean(axis=0) + 0.5
    sums = [query_sums(human[:, s], judge[:, s], np.arange(240)) for s in range(2)]
    for minus in (None, sums[1]):
        corrected_mean, alone = corrected(sums[0], minus), corrected(sums[0], minus, lam=0.0)
        assert (corrected_mean.value, corrected_mean.interval) == (alone.value, alone.interval)
        labels = 240 - unrated if minus is None else 2 * (240 - unrated)
        assert labels_saved(corrected_mean, alone, labels, unrated) == 0


@given(st.integers(0, 10_000), st.integers(1, 60), st.sampled_from([-1.0, 0.1, 1.0, 30.0]))
def test_lambda_is_between_zero_and_the_ratio_of_spreads(
    seed: int, unrated: int, factor: float
) -> None:
    human, judge = simulated(seed, queries=240, labels=240 - unrated)
    judge *= factor
    judge[240 - unrated :] = judge.mean(axis=0) + 0.01
    for minus in (None, query_sums(human[:, 1], judge[:, 1], np.arange(240))):
        sums = query_sums(human[:, 0], judge[:, 0], np.arange(240))
        figure = (sums,) if minus is None else (sums, minus)
        lam = learned_lambda([figure], one_scale=False).value
        rated = slice(0, 240 - unrated)
        columns = [human[rated], judge[rated]]
        people, scores = (c[:, 0] if minus is None else c[:, 0] - c[:, 1] for c in columns)
        assert 0 <= lam <= people.std() / scores.std() + 1e-9
        if factor < 0:
            assert lam == 0


def with_failures(labels: int, rated: int, seen: int) -> QuerySums:
    """500 responses, 30 of them failures with a human value of 0.

    `rated` failures are among the labels; the judge scores `seen` failures 10, the unrated first.
    """
    rng = np.random.default_rng(labels)
    human, judge = (np.clip(88 + 6 * rng.normal(size=(2, 500)), 60, 100)).reshape(2, 500)
    failures = np.r_[np.arange(rated), np.arange(500 - 30 + rated, 500)]
    human[failures] = 0
    judge[failures[::-1][:seen]] = 10
    human[labels:] = np.nan
    return query_sums(human, judge, np.arange(500), human_width=100, judge_width=100)


@pytest.mark.parametrize(("labels", "rated", "seen"), [(15, 0, 30), (15, 0, 15), (60, 1, 15)])
def test_failures_that_only_the_judge_shows(labels: int, rated: int, seen: int) -> None:
    """Without this rule intervals cover .79 at 15 labels where the judge sees half of 6%."""
    sums = with_failures(labels, rated, seen)
    for lam in (None, 0.0, 1.0):
        reason = corrected(sums, lam=lam).interval.reason
        assert f"the judge scores {seen} of 500 responses far outside" in str(reason)
    others = query_sums(np.full(500, 80.0), np.full(500, 80.0), np.arange(500))
    assert "far outside" in str(corrected(sums, others).interval.reason)


@pytest.mark.parametrize("labels", [15, 60])
def test_few_rated_failures_leave_the_ratings_alone(labels: int) -> None:
    for rated in (1, 2):
        sums = with_failures(labels, rated, 30)
        corrected_mean, alone = corrected(sums), corrected(sums, lam=0.0)
        assert (corrected_mean.value, corrected_mean.interval) == (alone.value, alone.interval)
        assert f"{rated} of the rated responses" in str(corrected_mean.alone)
    assert corrected(with_failures(labels, 3, 30)).alone is None


def test_without_scales_nothing_is_far() -> None:
    human, judge = [0.0, 90, 95, 100, *[np.nan] * 6], [90.0, 90, 95, 100, *[0.0] * 6]
    sums = query_sums(human, judge, np.arange(10))
    assert (sums.n_unseen, sums.n_apart) == (0, 0)
    scaled = query_sums(human, judge, np.arange(10), human_width=100, judge_width=100)
    assert (scaled.n_unseen, scaled.n_apart) == (6, 1)


def test_a_constant_judge_leaves_peoples_mean() -> None:
    human, _ = simulated(7)
    sums = query_sums(human[:, 0], np.full(90, 70.0), np.arange(90))
    assert learned_alone(sums).value == 0
    assert corrected(sums).value == pytest.approx(human[:40, 0].mean())
    assert corrected(sums).interval.low == pytest.approx(corrected(sums, lam=0.0).interval.low)


def rated(values: list[float]) -> QuerySums:
    """Values of as many queries, and sixty unrated responses."""
    human = np.r_[values, np.full(60, np.nan)]
    return query_sums(human, np.arange(human.size), np.arange(human.size))


def test_a_judges_scale_is_learned_from_enough_labels_that_differ() -> None:
    def enough(values: list[float]) -> bool:
        return learnable([(rated(values),)])

    assert enough([100.0] * 15 + list(range(15)))
    assert not enough([100.0] * 16 + list(range(14)))
    assert not enough(list(np.arange(29.0)))


def test_systems_that_share_a_lambda_share_their_labels() -> None:
    first, second, third = (rated(list(np.arange(15.0) ** power)) for power in (1, 2, 3))
    assert learnable([(first,), (second,)])
    # Two systems have one difference; of the three differences of three systems two are free.
    assert not learnable([(first, second)])
    assert learnable([(first, second), (first, third), (second, third)])


@pytest.mark.parametrize(
    ("human", "judge", "reason"),
    [
        ([np.nan] * 3, [1, 2, 3], "no labeled response"),
        ([1, 2, np.nan], [np.nan] * 3, "no judge score"),
        ([], [], "no labeled response"),
    ],
)
def test_undefined_corrected_means_have_a_reason(
    human: list[float], judge: list[float], reason: str
) -> None:
    corrected_mean = corrected(query_sums(human, judge, np.arange(len(human)), 4))
    assert np.isnan(corrected_mean.value)
    assert corrected_mean.reason == reason
    assert corrected_mean.interval.reason == reason


def test_intervals_that_are_withheld() -> None:
    corrected_mean = corrected(query_sums([5, np.nan, np.nan], [4, 5, 6], [0, 1, 2]))
    assert np.isfinite(corrected_mean.value)
    assert "at least 2" in str(corrected_mean.interval.reason)
    same = corrected(query_sums([5, 6, np.nan], [4, 5, 6], [0, 1, 2]))
    assert "no spread" in str(same.interval.reason)
    first = query_sums([5, np.nan, np.nan], [4, 5, 6], [0, 1, 2])
    other = query_sums([np.nan, 6, 7], [4, 5, 7], [0, 1, 2])
    assert "one query" in str(corrected(first, other).interval.reason)


def test_wrong_arguments_of_a_corrected_mean() -> None:
    with pytest.raises(ValueError, match="both are"):
        query_sums([1, 2], [1], [0, 1])
    with pytest.raises(ValueError, match="probability"):
        query_sums([1, 2], [1, 2], [0, 1], probability=[0, 1])
    with pytest.raises(ValueError, match="one entry"):
        query_sums([1, 2], [1, 2], [0, 1], pool=[True])
