from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.core.arrays import FloatArray
from analysis.core.degrees_of_freedom import effective_df
from analysis.core.interval import Interval
from analysis.core.query_statistic import QueryStatistic
from analysis.core.resampling import PERCENTILE_FROM, QueryResampling


def mean_statistic(values: FloatArray, contributing: np.ndarray | None = None) -> QueryStatistic:
    used = np.ones(values.size, dtype=bool) if contributing is None else contributing

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        kept = weights * used
        return kept @ values / np.maximum(kept.sum(axis=1), 1)

    return QueryStatistic(weighted_statistic, used, values.size)


def test_bootstrap_rows_draw_as_many_queries_as_there_are() -> None:
    weights = QueryResampling(70, resamples=600).bootstrap
    assert weights.shape == (600, 70)
    assert (weights.sum(axis=1) == 70).all()
    # Multinomial counts: mean 1, variance 1 - 1/70.
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(1 - 1 / 70, abs=0.03)


def test_first_rows_do_not_depend_on_how_many_are_drawn() -> None:
    few, many = (QueryResampling(20, resamples=r, seed=5).bootstrap for r in (300, 1000))
    assert (many[:300] == few).all()
    assert (QueryResampling(20, resamples=300, seed=6).bootstrap != few).any()


def test_weights_too_many_to_keep_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = QueryResampling(30, resamples=600, seed=3).bootstrap
    monkeypatch.setattr("analysis.core.resampling.KEPT_WEIGHTS", 0)
    drawn = QueryResampling(30, resamples=600, seed=3)
    blocks = list(drawn.bootstrap_blocks(70, 500))
    assert [len(block) for block in blocks] == [70] * 7 + [10]
    assert (np.concatenate(blocks) == kept[:500]).all()
    assert (np.concatenate(list(drawn.bootstrap_blocks(256))) == kept).all()
    assert "bootstrap" not in vars(drawn)


def test_jackknife_leaves_out_one_query_each() -> None:
    assert QueryResampling(3).jackknife.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_evaluation_in_blocks_equals_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(size=60)
    resampling = QueryResampling(60, resamples=300)
    whole = resampling.evaluate(mean_statistic(values))
    monkeypatch.setattr("analysis.core.resampling.BLOCK_NUMBERS", 60 * 7)
    assert resampling.evaluate(mean_statistic(values)) == pytest.approx(whole, abs=1e-14)
    jackknife = resampling.evaluate(mean_statistic(values), "jackknife")
    assert jackknife == pytest.approx((values.sum() - values) / 59)


def test_statistics_with_one_key_are_computed_once() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=9)
    calls: list[int] = []

    def counted(weights: FloatArray) -> FloatArray:
        calls.append(len(weights))
        return weights @ values

    resampling = QueryResampling(9, resamples=40)
    everywhere = np.ones(9, dtype=bool)
    first, again = (QueryStatistic(counted, everywhere, 9, key=b"sum") for _ in range(2))
    other = QueryStatistic(lambda weights: weights @ values**2, everywhere, 9)
    drawn = resampling.evaluate(first)
    assert resampling.evaluate(again) is drawn
    difference = again - other
    assert (resampling.evaluate(difference) == drawn - resampling.evaluate(other)).all()
    assert calls == [40]
    left_out = np.arange(9) < 5
    assert resampling.evaluate(first, "jackknife").shape == (9,)
    assert resampling.evaluate(first, "jackknife", left_out).shape == (5,)
    assert calls == [40, 9, 5]
    assert difference.point == first.point - other.point


def test_a_plain_function_may_return_several_columns() -> None:
    drawn = QueryResampling(5, resamples=9).evaluate(lambda w: np.stack([w[:, 0], w[:, 1]], axis=1))
    assert drawn.shape == (9, 2)


def test_jackknife_t_of_a_mean_is_the_t_interval() -> None:
    values = np.random.default_rng(1).normal(10, 3, 12)
    interval = QueryResampling(12).interval(mean_statistic(values))
    df = effective_df(values)
    assert 5 < df <= 11
    reach = stats.t.ppf(0.975, df) * stats.sem(values)
    assert interval.method == "jackknife_t"
    assert (interval.low, interval.high) == pytest.approx(
        (values.mean() - reach, values.mean() + reach)
    )


def test_degrees_of_freedom_follow_the_tails() -> None:
    rng = np.random.default_rng(5)
    normal = [effective_df(row) for row in rng.normal(size=(400, 60))]
    assert np.mean(normal) == pytest.approx(56, abs=4)
    heavy = [effective_df(row) for row in rng.standard_t(3, size=(400, 60))]
    assert np.mean(heavy) < 35
    assert effective_df(np.r_[np.zeros(59), 1.0]) == pytest.approx(2, abs=0.1)
    # Two equal deviations, or two values, have no spread of their squares.
    assert effective_df(np.array([3.0, 5.0])) == 1
    assert effective_df(np.tile([0.0, 1.0], 10)) == 19
    # Neither origin nor unit matters.
    assert effective_df(7 + 1e-9 * rng.normal(size=5)) >= 1
    values = rng.gamma(1, size=20)
    assert effective_df(4 - 1e6 * values) == pytest.approx(effective_df(values))


def test_queries_that_do_not_contribute_change_no_jackknife_interval() -> None:
    values = np.random.default_rng(2).normal(size=12)
    alone = QueryResampling(12).interval(mean_statistic(values))
    used = np.arange(200) < 12
    among = QueryResampling(200).interval(mean_statistic(np.resize(values, 200), used))
    assert (among.low, among.high) == pytest.approx((alone.low, alone.high))


@pytest.mark.parametrize(("used", "of", "given"), [(4, 40, False), (5, 40, True), (4, 4, True)])
def test_a_figure_that_rests_on_few_of_the_queries_has_no_interval(
    used: int, of: int, given: bool
) -> None:
    values = np.arange(of, dtype=np.float64) ** 2
    interval = QueryResampling(of).interval(mean_statistic(values, np.arange(of) < used))
    assert (interval.reason is None) == given
    if not given:
        assert interval.reason == "it rests on 4 of 40 queries, an interval needs at least 5"


def test_with_many_queries_the_percentile_interval() -> None:
    values = np.random.default_rng(3).normal(size=PERCENTILE_FROM)
    resampling = QueryResampling(PERCENTILE_FROM, resamples=1000, level=0.9)
    interval = resampling.interval(mean_statistic(values))
    drawn = resampling.bootstrap @ values / PERCENTILE_FROM
    assert interval.method == "percentile_bootstrap"
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(drawn, [0.05, 0.95])))
    assert interval.resamples == 1000


def test_difference_of_replicates_is_joint() -> None:
    rng = np.random.default_rng(4)
    common = rng.normal(0, 10, 80)
    a, b = mean_statistic(common + rng.normal(size=80)), mean_statistic(common)
    resampling = QueryResampling(80, resamples=500)
    joint = resampling.interval_of(resampling.replicates(a) - resampling.replicates(b))
    direct = resampling.interval(a - b)
    assert (joint.low, joint.high) == pytest.approx((direct.low, direct.high))
    assert joint.high - joint.low < 1
    with pytest.raises(ValueError, match="different resamples"):
        resampling.replicates(a) - resampling.replicates(b, "bootstrap")


def test_the_logit_keeps_a_share_inside_its_bounds() -> None:
    at_end = np.array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0.0])
    share = mean_statistic(at_end)
    plain = QueryResampling(10).interval(share)
    assert plain.low < 0
    logit = QueryResampling(10).interval(share, "logit")
    # p = .1, standard error .1: logit(.1) = -2.1972 and 2.2622 * .1 / .09 = 2.5135.
    assert logit.low == pytest.approx(1 / (1 + np.exp(2.1972 + 2.5135)), abs=1e-4)
    assert logit.high == pytest.approx(1 / (1 + np.exp(2.1972 - 2.5135)), abs=1e-4)
    none = QueryResampling(10).interval(mean_statistic(np.zeros(10)), "logit")
    # Clopper and Pearson: 1 - .025^(1/10).
    assert (none.low, none.high) == pytest.approx((0, 0.3085), abs=1e-4)


def test_fisher_z_keeps_a_correlation_inside_its_bounds() -> None:
    def correlation(weights: FloatArray) -> FloatArray:
        return 0.97 + 0.02 * (weights[:, 0] - 1) - 0.02 * (weights[:, 1] - 1)

    statistic = QueryStatistic(correlation, np.ones(4, dtype=bool), 4)
    plain = QueryResampling(4).interval(statistic)
    fisher = QueryResampling(4).interval(statistic, "fisher_z")
    assert plain.high > 1
    assert fisher.high < 1


def reason_of(interval: Interval) -> str:
    assert np.isnan(interval.low)
    assert np.isnan(interval.high)
    assert interval.reason is not None
    return interval.reason


def test_withheld_with_the_reason() -> None:
    single = mean_statistic(np.array([4.0]))
    assert "at least 2 queries" in reason_of(QueryResampling(1).interval(single))

    def sometimes(weights: FloatArray) -> FloatArray:
        return np.where(weights[:, 0] > 0, weights[:, 1], np.nan)

    partly = QueryStatistic(sometimes, np.ones(100, dtype=bool), 100)
    interval = QueryResampling(100, resamples=500).interval(partly, scheme="bootstrap")
    assert "undefined in" in reason_of(interval)
    assert 0.2 < interval.undefined_share < 0.5
    without_one = QueryStatistic(sometimes, np.ones(300, dtype=bool), 300)
    assert "undefined in" in reason_of(QueryResampling(300).interval(without_one))

    constant = mean_statistic(np.full(60, 3.0))
    assert "no spread" in reason_of(QueryResampling(60).interval(constant))

    undefined = QueryStatistic(lambda w: w[:, 0], np.ones(9, dtype=bool), 0, 0, "no pairs")
    assert reason_of(QueryResampling(9).interval(undefined)) == "no pairs"

    perfect = QueryStatistic(lambda w: np.ones(len(w)), np.ones(9, dtype=bool), 9)
    assert "1 or -1" in reason_of(QueryResampling(9).interval(perfect, "fisher_z"))
    ordered = replace(perfect, trials=9)
    found = QueryResampling(9).interval(ordered, "fisher_z")
    # Twice .025^(1/9), minus 1.
    assert (found.low, found.high) == pytest.approx((0.3274, 1), abs=1e-4)
    assert found.uncertainty is not None
    assert found.uncertainty.p_at_most(1, found.low) == pytest.approx(0.025)
    assert "undefined" in reason_of(QueryResampling(9).interval(lambda w: np.full(len(w), np.nan)))
    assert reason_of(QueryResampling(0).interval(mean_statistic(np.empty(0)))) == "no query"


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="0 resamples"):
        QueryResampling(5, resamples=0)
    with pytest.raises(ValueError, match="level"):
        QueryResampling(5, level=95)
    with pytest.raises(ValueError, match="has 4 queries, the resampling 5"):
        QueryResampling(5).interval(mean_statistic(np.arange(4.0)))
