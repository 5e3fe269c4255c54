import numpy as np
import pytest
from scipy.stats import rankdata

from analysis.statistics.reliability.alpha import krippendorff_alpha
from analysis.statistics.reliability.scale_use import by_scale_use, mid_ranks
from analysis.statistics.reliability.severity import severities
from tests.analysis.ragged import ratings


def test_mid_ranks_are_scipys_as_shares() -> None:
    values = ratings(1, n=30, raters=1, missing=0.3)[:, 0]
    known = np.isfinite(values)
    expected = (rankdata(values[known]) - 0.5) / known.sum()
    assert mid_ranks(values)[known] == pytest.approx(expected)
    assert np.isnan(mid_ranks(values)[~known]).all()
    assert mid_ranks([0.3, 0.1 + 0.2]).tolist() == [0.5, 0.5]


def test_severity_and_stretch_are_taken_out() -> None:
    quality = np.random.default_rng(0).normal(50, 10, 40)
    severe = np.column_stack([quality, quality - 20])
    severity = severities(severe, np.arange(40)).points
    assert krippendorff_alpha(by_scale_use(severe, "raw", severity), "interval") < 0.7
    assert krippendorff_alpha(by_scale_use(severe, "centered", severity), "interval") == 1
    bent = np.column_stack([quality, np.exp(quality / 10)])
    assert krippendorff_alpha(by_scale_use(bent, "ranks", severity), "interval") == 1


def test_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="use 'logs'"):
        by_scale_use([[1.0]], "logs", [0.0])  # type: ignore[arg-type]
