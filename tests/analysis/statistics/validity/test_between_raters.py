"""Cross-rater and same-rater correlations equal those of the pairs written out."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.statistics.validity.between_raters import RaterPairs, across_raters, same_rater
from analysis.statistics.validity.correlation_family import CorrelationFamily
from tests.analysis.ragged import ratings


def _r(pairs: RaterPairs) -> float:
    made = CorrelationFamily(np.zeros(0, dtype=np.int64), pairs.sums.shape[0])
    made.add_sums(pairs.sums, int(pairs.items.sum()))
    return float(made.family().points()[0])


def _written_out(first: np.ndarray, second: np.ndarray, same: bool) -> float:
    """Weighted correlation over a loop of pairs, each response weighing 1."""
    x, y, weight = [], [], []
    raters = first.shape[1]
    for row_first, row_second in zip(first, second, strict=True):
        pairs = [
            (row_first[a], row_second[b])
            for a in range(raters)
            for b in range(raters)
            if (a == b) == same and np.isfinite(row_first[a]) and np.isfinite(row_second[b])
        ]
        for entry, other in pairs:
            x.append(entry)
            y.append(other)
            weight.append(1 / len(pairs))
    if len(x) < 2:
        return float("nan")
    covariance = np.cov(x, y, aweights=weight, ddof=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


@given(seed=st.integers(0, 200), missing=st.sampled_from([0.0, 0.3, 0.6]))
def test_sums_equal_the_loop_over_pairs(seed: int, missing: float) -> None:
    first = ratings(seed, n=15, raters=4, missing=missing, step=10) / 50 - 1
    second = ratings(seed + 1, n=15, raters=4, missing=missing, step=10) / 50 - 1
    query = np.arange(15) // 2
    for function, same in ((across_raters, False), (same_rater, True)):
        result = _r(function(first, second, query, 8))
        assert result == pytest.approx(_written_out(first, second, same), abs=1e-9, nan_ok=True)
        turned = _r(function(first[:, ::-1], second[:, ::-1], query, 8))
        assert turned == pytest.approx(result, abs=1e-12, nan_ok=True)


def test_halo_is_what_a_rater_carries_from_one_construct_to_the_other() -> None:
    rng = np.random.default_rng(0)
    n, raters = 4000, 3
    impression = rng.normal(size=(n, raters))
    quality = rng.normal(size=(2, n, 1))
    # Variance 1 of the response, .5 of the impression, .5 of error: cross 0, same .25.
    first, second = (
        q + np.sqrt(0.5) * impression + np.sqrt(0.5) * rng.normal(size=(n, raters)) for q in quality
    )
    query = np.arange(n)
    assert _r(across_raters(first, second, query, n)) == pytest.approx(0, abs=0.03)
    assert _r(same_rater(first, second, query, n)) == pytest.approx(0.25, abs=0.03)
    # Own construct across raters: the reliability of one rater, .5.
    assert _r(across_raters(first, first, query, n)) == pytest.approx(0.5, abs=0.03)


def test_one_rater_has_no_pairs_across() -> None:
    alone = np.array([[1.0], [2.0], [3.0]])
    assert not across_raters(alone, alone, np.arange(3), 3).items.any()
    assert same_rater(alone, alone, np.arange(3), 3).items.all()
    with pytest.raises(ValueError, match="shapes"):
        across_raters(alone, alone[:2], np.arange(3), 3)
