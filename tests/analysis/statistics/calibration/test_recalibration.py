import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.core.resampling import QueryResampling
from analysis.statistics.calibration.recalibration import (
    error_per_doubling,
    folds,
    recalibrated_errors,
    recalibrated_out_of_fold,
    recalibration_line,
)


def made(seed: int, queries: int = 30, systems: int = 4) -> tuple[np.ndarray, ...]:
    """A judge 10 points too lenient, with scores spread too far; queries share noise."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), systems)
    judge = np.round(50 + 10 * rng.normal(size=queries)[query] + 14 * rng.normal(size=query.size))
    noise = 5 * rng.normal(size=queries)[query] + 6 * rng.normal(size=query.size)
    return judge, 10 + 0.6 * judge + noise, query


def test_the_line_is_least_squares() -> None:
    judge, human, query = made(0)
    human[::7] = np.nan
    kept = np.isfinite(human)
    line = stats.linregress(judge[kept], human[kept])
    family = recalibration_line(judge, human, query)
    assert family.points() == pytest.approx([line.slope, line.intercept])
    assert family.n_responses[0] == kept.sum()
    assert family.n_dropped[0] == (~kept).sum()


def test_a_query_that_counts_twice_is_there_twice() -> None:
    judge, human, query = made(1, queries=6)
    weights = np.array([[2.0, 1, 0, 1, 1, 1]])
    copies = np.concatenate([np.flatnonzero(query == q) for q in (0, 0, 1, 3, 4, 5)])
    line = stats.linregress(judge[copies], human[copies])
    values_of_weights = recalibration_line(judge, human, query).weighted_statistic(weights)[0]
    assert values_of_weights == pytest.approx([line.slope, line.intercept])


@given(shift=st.floats(-1e4, 1e4), scale=st.floats(0.01, 100))
def test_people_on_other_points_move_the_line_with_them(shift: float, scale: float) -> None:
    judge, human, query = made(2, queries=8)
    slope, intercept = recalibration_line(judge, human, query).points()
    moved = recalibration_line(judge, shift + scale * human, query).points()
    assert moved == pytest.approx([scale * slope, shift + scale * intercept], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("queries", [15, 40, 100])
def test_the_intervals_of_the_line_cover(queries: int) -> None:
    """At a nominal .95; 400 samples have a standard error of .011."""
    resampling = QueryResampling(queries, 500)
    covered = np.zeros(2)
    for seed in range(400):
        family = recalibration_line(*made(seed, queries))
        for place, (computed, truth) in enumerate(
            zip(family.replicates(resampling), (0.6, 10), strict=True)
        ):
            interval = resampling.interval_of(computed)
            covered[place] += interval.low <= truth <= interval.high
    assert (covered / 400 > 0.92).all()


@pytest.mark.parametrize(
    ("judge", "human", "reason"),
    [
        ([50.0, 50, 50], [1.0, 2, 3], "one score throughout"),
        ([50.0, np.nan, 50], [1.0, 2, np.nan], "there are 1"),
        ([], [], "there are 0"),
    ],
)
def test_no_line_has_its_reason(judge: list[float], human: list[float], reason: str) -> None:
    family = recalibration_line(judge, human, np.zeros(len(judge), dtype=int), 1)
    assert np.isnan(family.points()).all()
    assert reason in str(family.reasons[0])


def test_the_error_grows_by_the_slope_with_every_doubling() -> None:
    words = np.array([1.0, 2, 4, 8, 0, np.nan])
    result = error_per_doubling([0.0, 3, 6, 9, 50, 50], words, np.arange(6))
    assert result.point == pytest.approx(3)
    assert result.n_responses == 4
    assert error_per_doubling([1.0, 2], [5.0, 5], np.arange(2)).reason == (
        "all responses are equally long"
    )


def test_folds_are_of_equal_size_and_seeded() -> None:
    drawn = folds(23, 10, 4)
    assert set(np.bincount(drawn)) == {2, 3}
    assert (drawn == folds(23, 10, 4)).all()
    assert (drawn != folds(23, 10, 5)).any()


@pytest.mark.parametrize("method", ["linear", "isotonic"])
def test_a_query_teaches_nothing_about_itself(method: str) -> None:
    judge, human, query = made(3, queries=12)
    before = recalibrated_out_of_fold(judge, human, query, method)
    changed = human.copy()
    changed[query == 4] += 1000
    after = recalibrated_out_of_fold(judge, changed, query, method)
    same = query == 4
    assert after[same] == pytest.approx(before[same])
    assert (after[~same] != before[~same]).any()


def test_linear_recalibration_equals_a_fit_without_the_fold() -> None:
    judge, human, query = made(4, queries=20)
    recalibrated = recalibrated_out_of_fold(judge, human, query, "linear", seed=3)
    fold = folds(20, 10, 3)[query]
    for number in range(10):
        line = stats.linregress(judge[fold != number], human[fold != number])
        covered = fold == number
        assert recalibrated[covered] == pytest.approx(line.intercept + line.slope * judge[covered])


def test_isotonic_recalibration_never_falls_and_stays_among_peoples_values() -> None:
    judge, human, query = made(5, queries=12)
    recalibrated = recalibrated_out_of_fold(judge, human, query, "isotonic")
    assert recalibrated.min() >= human.min()
    assert recalibrated.max() <= human.max()
    fold = folds(12)[query]
    for number in np.unique(fold):
        order = np.argsort(judge[fold == number])
        assert (np.diff(recalibrated[fold == number][order]) >= -1e-9).all()


def test_a_constant_judge_becomes_peoples_mean() -> None:
    _, human, query = made(6, queries=10)
    recalibrated = recalibrated_out_of_fold(np.full(human.size, 80.0), human, query, "linear")
    assert np.abs(recalibrated - human.mean()).max() < 10


def test_recalibrating_a_kind_judge_pays() -> None:
    judge, human, query = made(7, queries=40)
    errors = recalibrated_errors(judge, human, query)
    point = dict(zip(errors.names, errors.family.points(), strict=True))
    assert point["recalibrated_mae", "raw"] == pytest.approx(np.abs(judge - human).mean())
    assert point["recalibrated_rmse", "raw"] == pytest.approx(
        np.sqrt(np.mean((judge - human) ** 2))
    )
    for method in ("linear", "isotonic"):
        difference = point["recalibrated_mae_difference", method]
        assert difference < -3
        assert difference == pytest.approx(
            point["recalibrated_mae", method] - point["recalibrated_mae", "raw"]
        )


def test_too_few_queries_teach_nothing() -> None:
    judge, human, query = made(8, queries=4)
    errors = recalibrated_errors(judge, human, query)
    point = dict(zip(errors.names, errors.family.points(), strict=True))
    assert np.isfinite(point["recalibrated_mae", "raw"])
    assert np.isnan(point["recalibrated_mae", "linear"])
    reasons = dict(zip(errors.names, errors.family.reasons, strict=True))
    assert reasons["recalibrated_mae", "linear"] == (
        "recalibrating takes 5 queries with both values, there are 4"
    )
