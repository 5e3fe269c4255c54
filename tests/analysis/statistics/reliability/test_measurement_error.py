import numpy as np
import pytest

from analysis.statistics.reliability.icc import icc
from analysis.statistics.reliability.measurement_error import sem, spearman_brown
from tests.analysis.ragged import ratings

# Shrout and Fleiss (1979): residual mean square 1.019444, rater mean square 32.486111, 6 responses.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


def test_shrout_and_fleiss() -> None:
    consistency, narrow = sem(SHROUT_FLEISS, "consistency")
    assert consistency == pytest.approx(np.sqrt(1.019444), abs=1e-6)
    assert narrow.low < consistency < narrow.high
    agreement, wide = sem(SHROUT_FLEISS, "agreement")
    rater = (32.486111 - 1.019444) / 6
    assert agreement == pytest.approx(np.sqrt(rater + 1.019444), abs=1e-6)
    # Three degrees of freedom between raters say little about raters like these.
    assert wide.high > 3 * agreement


@pytest.mark.slow
def test_covers_with_few_raters() -> None:
    hits = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        values = rng.normal(0, 15, (60, 1)) + rng.normal(0, 5, 4) + rng.normal(0, 10, (60, 4))
        values[rng.random(values.shape) < 0.2] = np.nan
        interval = sem(values)[1]
        hits += interval.low <= np.sqrt(125) <= interval.high
    assert hits / 300 > 0.91


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_spearman_brown_is_the_reliability_of_a_mean(missing: float) -> None:
    values = ratings(3, missing=missing)
    for letter in ("A", "C"):
        single = icc(values, f"{letter},1")  # type: ignore[arg-type]
        for k in (1, 2, 7):
            expected = icc(values, f"{letter},k", k)  # type: ignore[arg-type]
            assert spearman_brown(single, k) == pytest.approx(expected)
    assert np.isnan(spearman_brown(-0.6, 3))
    with pytest.raises(ValueError, match="k = 0"):
        spearman_brown(0.5, 0)


def test_undefined_errors_say_why() -> None:
    value, interval = sem([[1.0], [2.0]])
    assert np.isnan(value)
    assert "2 raters" in str(interval.reason)
    value, interval = sem([[1.0, 2], [3, 4], [7, 8]], "consistency")
    assert value == 0
    assert "no residual" in str(interval.reason)
    with pytest.raises(ValueError, match="kind 'both'"):
        sem(SHROUT_FLEISS, "both")  # type: ignore[arg-type]
