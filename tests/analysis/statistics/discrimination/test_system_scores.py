import numpy as np
import pytest

from analysis.core.resampling import QueryResampling
from analysis.statistics.discrimination.system_scores import (
    on_resamples,
    paired_differences,
    system_scores,
)


def test_one_response_of_several_systems_counts_for_each_and_several_of_one_with_their_mean() -> (
    None
):
    values = np.array([10.0, 20.0, 60.0, np.nan])
    produced = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0]], dtype=bool)
    by_system = system_scores(values, np.array([0, 0, 0, 1]), produced, 2)
    assert np.array_equal(by_system, [[10, 10, 40], [np.nan] * 3], equal_nan=True)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_differences_on_weights_are_those_of_the_repeated_queries(missing: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 101, (30, 4)).astype(float)
    scores[rng.random(scores.shape) < missing] = np.nan
    table = paired_differences(scores)
    weights = QueryResampling(30, 20).bootstrap
    (result,) = on_resamples([table], [weights])
    for row, counts in zip(result, weights, strict=True):
        again = np.repeat(scores, counts, axis=0)
        of_scorer = [
            np.nanmean(again[:, i] - again[:, j])
            for i, j in zip(table.first, table.second, strict=True)
        ]
        assert row == pytest.approx(of_scorer)
    left_out = table.without_each_query()
    for row, query in zip(left_out, np.flatnonzero(table.contributing), strict=True):
        again = np.delete(scores, query, axis=0)
        assert row[0] == pytest.approx(np.nanmean(again[:, 0] - again[:, 1]))


def test_systems_that_share_no_query_have_no_difference() -> None:
    scores = np.array([[1, np.nan, 2], [np.nan, 3, 4.0]])
    table = paired_differences(scores)
    assert np.array_equal(np.isnan(table.point), [True, False, False])
    assert table.n_queries.tolist() == [0, 1, 1]
