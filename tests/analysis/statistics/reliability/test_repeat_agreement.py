import numpy as np
import pytest
from scipy import stats

from analysis.statistics.reliability.repeat_agreement import repeat_agreement
from tests.analysis.ragged import repeated

NA = float("nan")


def test_equals_the_definitions() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(1, 6, 50).astype(float)
    later = np.clip(first + rng.integers(-1, 2, 50), 1, 5)
    later[::7] = NA
    both = np.isfinite(later)
    family = repeat_agreement(first, later, np.arange(50))
    x, y = first[both], later[both]
    expected = [stats.pearsonr(x, y)[0], np.abs(x - y).mean(), (x == y).mean()]
    assert family.points() == pytest.approx(expected)
    assert family.n_responses.tolist() == [both.sum()] * 3
    weights = rng.integers(0, 3, 50)
    codes, (x, y) = repeated(weights, np.arange(50), first, later)
    again = repeat_agreement(x, y, codes).points()
    assert family.weighted_statistic(weights[None, :].astype(float))[0] == pytest.approx(again)


def test_undefined_repeat_agreement_has_a_reason() -> None:
    none = repeat_agreement([NA, 1], [2, NA], [0, 1])
    assert np.isnan(none.points()).all()
    assert "no response" in str(none.reasons[0])
    constant = repeat_agreement([3.0, 3], [3, 3], [0, 1])
    assert constant.points().tolist()[1:] == [0, 1]
    assert "do not vary" in str(constant.reasons[0])
    with pytest.raises(ValueError, match="later scores"):
        repeat_agreement([1.0], [1, 2], [0])
