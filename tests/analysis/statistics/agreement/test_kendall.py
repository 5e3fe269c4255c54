"""The three ways of counting Kendall's tau-b, against scipy, with ties and with weights."""

import numpy as np
import pytest
from scipy import stats

from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.kendall import CELLS_PER_ITEM, tau_b_of_weights
from analysis.statistics.agreement.paired_statistics import tau_b_of_pair_sums


@pytest.mark.parametrize(
    ("levels", "in_a_table"), [(6, True), (50, False)], ids=["table of counts", "Fenwick tree"]
)
@pytest.mark.parametrize("way", [tau_b_of_pair_sums, tau_b_of_weights])
def test_ties_and_weights_count_as_in_scipy_on_the_repeated_items(way, levels, in_a_table) -> None:
    rng = np.random.default_rng(12)
    n = 80
    x = rng.integers(0, levels, n).astype(float)
    y = np.where(rng.random(n) < 0.5, x, rng.integers(0, levels, n)).astype(float)
    distinct = np.unique(x).size, np.unique(y).size
    assert (distinct[0] * distinct[1] <= CELLS_PER_ITEM * n) == in_a_table
    assert max(distinct) < n, "both have ties"
    query = np.arange(n) // 4
    tau = way(x, y, query)
    assert tau(np.ones((1, 20))) == pytest.approx(stats.kendalltau(x, y).statistic)
    weights = QueryResampling(20, 5).bootstrap
    assert weights.max() > 1
    for row, value in zip(weights, tau(weights), strict=True):
        times = row[query].astype(int)
        again = stats.kendalltau(np.repeat(x, times), np.repeat(y, times)).statistic
        assert value == pytest.approx(again)
