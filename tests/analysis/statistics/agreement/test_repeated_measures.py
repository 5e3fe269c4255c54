import numpy as np
import pytest
from scipy import stats

from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.repeated_measures import (
    equivalence_of_bias,
    repeated_measures_correlation,
)

NA = float("nan")


@pytest.mark.parametrize("origin", [0.0, 1e6])
def test_repeated_measures_correlation_is_pearson_within_queries_of_any_size(origin: float) -> None:
    rng = np.random.default_rng(0)
    query = np.sort(rng.integers(0, 12, 60))
    y = rng.normal(0, 1, 60) + 3 * rng.normal(size=12)[query] + origin
    x = y + rng.normal(0, 1, 60)
    x[3] = NA
    correlation = repeated_measures_correlation(x, y, query)
    assert correlation.r == pytest.approx(
        association("pearson", x, y, query, "within_query").point, abs=1e-9
    )
    assert correlation.df == correlation.n_responses - correlation.n_queries - 1
    # Fisher's interval, whose standard error is 1 / sqrt(df - 1).
    reach = stats.norm.ppf(0.975) / np.sqrt(correlation.df - 1)
    assert (correlation.low, correlation.high) == pytest.approx(
        (np.tanh(np.arctanh(correlation.r) - reach), np.tanh(np.arctanh(correlation.r) + reach))
    )


@pytest.mark.parametrize(
    ("x", "query"),
    [
        ([1.0, 2, 3, 4], [0, 0, 1, 1]),
        ([1.0, 2, 3, 4], [0, 1, 2, 3]),
        ([NA] * 6, [0, 0, 1, 1, 2, 2]),
        ([1.0, 1, 2, 2, 3, 3], [0, 0, 1, 1, 2, 2]),
        ([], []),
    ],
)
def test_without_variation_inside_three_queries_it_has_a_reason(
    x: list[float], query: list[int]
) -> None:
    correlation = repeated_measures_correlation(
        x, np.arange(float(len(x))), np.array(query, dtype=int)
    )
    assert correlation.reason
    assert np.isnan(correlation.r)


def test_equivalence_is_two_t_tests_on_the_means_of_queries() -> None:
    rng = np.random.default_rng(1)
    query = np.arange(80) // 4
    y = rng.normal(50, 10, 80)
    x = y + 2 + rng.normal(0, 4, 20)[query]
    apart = np.array([np.mean((x - y)[query == code]) for code in range(20)])
    equivalence = equivalence_of_bias(x, y, query, 5)
    sides = [
        stats.ttest_1samp(apart, -5, alternative="greater").pvalue,
        stats.ttest_1samp(apart, 5, alternative="less").pvalue,
    ]
    assert equivalence.p == pytest.approx(max(sides))
    assert (equivalence.difference, equivalence.df, equivalence.n_queries) == (
        pytest.approx(apart.mean()),
        19,
        20,
    )


def test_without_spread_or_queries_equivalence_has_a_reason() -> None:
    assert equivalence_of_bias([1.0, 2], [1.0, 2], [0, 1], 1).reason
    assert equivalence_of_bias([1.0], [2.0], [0], 1).reason
    assert equivalence_of_bias([], [], np.empty(0, dtype=int), 1).reason
    with pytest.raises(ValueError, match="margin"):
        equivalence_of_bias([1.0, 2], [1.0, 2], [0, 1], 0)
