import pytest
from scipy import stats

from analysis.core.quantiles import chi2_quantile, f_quantile, t_quantile


@pytest.mark.parametrize("probability", [0.005, 0.025, 0.5, 0.975])
@pytest.mark.parametrize("df", [1, 2.4, 30, 5000])
def test_equal_scipy_stats(probability: float, df: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), abs=1e-12)
    assert chi2_quantile(probability, df) == pytest.approx(stats.chi2.ppf(probability, df))
    assert f_quantile(probability, df, 7.5) == pytest.approx(stats.f.ppf(probability, df, 7.5))
