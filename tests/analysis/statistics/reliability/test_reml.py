import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from analysis.statistics.reliability.icc import icc
from analysis.statistics.reliability.reml import one_way_share, one_way_undefined_reason
from tests.analysis.ragged import ratings

NA = float("nan")


def test_equals_the_analysis_of_variance_on_a_complete_table() -> None:
    values = ratings(1, n=80, missing=0)
    assert one_way_share(values) == pytest.approx(icc(values, "1,1"), abs=1e-6)


def test_minimizes_the_restricted_likelihood() -> None:
    values = ratings(1, n=40, missing=0.4)
    rows = [row[np.isfinite(row)] for row in values if np.isfinite(row).any()]
    y = np.concatenate(rows)
    z = np.eye(len(rows))[np.repeat(np.arange(len(rows)), [len(row) for row in rows])]

    def deviance(share: float) -> float:
        covariance = (1 - share) * np.eye(y.size) + share * z @ z.T
        inverse = np.linalg.inv(covariance)
        information = inverse.sum()
        residual = y - inverse.sum(axis=0) @ y / information
        quadratic = residual @ inverse @ residual
        log_det = np.linalg.slogdet(covariance)[1]
        return float((y.size - 1) * np.log(quadratic) + log_det + np.log(information))

    best = minimize_scalar(deviance, bounds=(0, 0.9999), method="bounded", options={"xatol": 1e-9})
    assert one_way_share(values) == pytest.approx(best.x, abs=1e-6)
    assert icc(values, "1,1") == one_way_share(values)
    assert icc(values, "1,k", 2) == pytest.approx(2 * best.x / (1 + best.x), abs=1e-6)


def test_raters_need_not_be_connected() -> None:
    values = np.array([[1, 2, NA, NA], [5, 6, NA, NA], [NA, NA, 3, 3.5], [NA, NA, 9, 8]])
    assert 0 < icc(values, "1,1") < 1
    assert np.isnan(icc(values, "A,1"))


def test_one_way_share_lies_between_0_and_1() -> None:
    same_within = np.array([[1, 1, NA], [2, 2, 2], [NA, 5, 5]])
    assert one_way_share(same_within) == 1
    opposed = np.array([[1, 9, NA], [9, 1, NA], [1, NA, 9]])
    assert one_way_share(opposed) == 0


def test_undefined_one_way_share_has_a_reason() -> None:
    assert "at least 2 rated responses" in str(one_way_undefined_reason([[1.0, 2.0]]))
    assert "two ratings" in str(one_way_undefined_reason([[1, NA], [NA, 2]]))
    assert "all ratings are 4" in str(one_way_undefined_reason([[4, 4.0], [4, 4]]))
    with pytest.raises(ValueError, match="all ratings are 4"):
        one_way_share([[4, 4.0], [4, 4]])
