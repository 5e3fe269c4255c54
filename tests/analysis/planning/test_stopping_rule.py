import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.planning.stopping_rule import confidence_sequence, stop_by_width
from tests.conftest import examples

POINTS = (0.0, 100.0)


def ceiling_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    """Values of which many stand at the end of the scale; their mean is 64."""
    return np.where(rng.random(n) < 0.4, 100.0, rng.integers(0, 81, n))


def test_a_confidence_sequence_covers_at_all_looks_where_the_naive_rule_does_not() -> None:
    rng = np.random.default_rng(20)
    runs, n, mean = 400, 200, 0.4 * 100 + 0.6 * 40
    at_all_looks = naive = 0
    for _ in range(runs):
        values = ceiling_scores(rng, n)
        # Each interval is the intersection of those before: the last one says it for all looks.
        low, high = confidence_sequence(values, POINTS)
        at_all_looks += low <= mean <= high
        count = np.arange(1, n + 1)
        running = np.cumsum(values) / count
        spread = np.sqrt(np.maximum(np.cumsum(values**2) / count - running**2, 0) / count)
        from_10 = slice(9, None)
        naive += bool((np.abs(running - mean) <= 1.96 * spread)[from_10].all())
    assert at_all_looks / runs >= 0.95
    assert naive / runs < 0.85


def test_nothing_stops_before_30_queries_or_without_variation() -> None:
    rng = np.random.default_rng(3)
    few = stop_by_width(rng.normal(50, 1, 29), 60, POINTS)
    assert not few.stop
    assert few.more == 1
    assert "at least 30" in (few.reason or "")
    assert stop_by_width(rng.normal(50, 1, 30), 60, POINTS).stop
    same = stop_by_width(np.full(500, 70.0), 60, POINTS)
    assert not same.stop
    assert same.more is None
    assert "same value" in (same.reason or "")
    with pytest.raises(ValueError, match="expected 30 queries or more"):
        stop_by_width([1.0], 60, POINTS, least=10)


def test_no_value_and_missing_values() -> None:
    empty = stop_by_width([], 5, POINTS)
    assert (empty.low, empty.high, empty.more) == (0, 100, None)
    assert empty.reason == "no query has a value yet"
    values = np.random.default_rng(1).uniform(0, 100, 60)
    ragged = np.insert(values, [0, 7, 60], np.nan)
    assert confidence_sequence(ragged, POINTS) == confidence_sequence(values, POINTS)
    assert stop_by_width(ragged, 5, POINTS).n_dropped == 3


def test_the_number_still_needed_is_about_right() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(5, 12, 4000).clip(-100, 100)
    stop = stop_by_width(values[:100], 2.0, (-100, 100))
    assert stop.more is not None
    first = next(
        n for n in range(100, 4000, 100) if stop_by_width(values[:n], 2.0, (-100, 100)).stop
    )
    assert stop.n_queries + stop.more == pytest.approx(first, rel=0.25)
    nearly = stop_by_width(values[:60], 0.0001, (-100, 100))
    assert nearly.more is None


@settings(max_examples=examples(25))
@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=80),
    st.floats(-50, 50),
    st.floats(0.1, 30),
)
def test_intervals_follow_shift_and_scale_and_never_grow(
    values: list[int], shift: float, scale: float
) -> None:
    array = np.array(values, dtype=float)
    low, high = confidence_sequence(array, POINTS)
    assert 0 <= low <= high <= 100
    moved = confidence_sequence(shift + scale * array, (shift, shift + scale * 100 * (1 + 1e-12)))
    np.testing.assert_allclose(moved, (shift + scale * low, shift + scale * high), atol=1e-4)
    mirrored = confidence_sequence(100 - array, POINTS)
    np.testing.assert_allclose(mirrored, (100 - high, 100 - low), atol=1e-7)
    before = confidence_sequence(array[:-1], POINTS)
    assert before[0] <= low + 1e-9
    assert high <= before[1] + 1e-9


@pytest.mark.parametrize(
    ("values", "bounds", "message"),
    [
        ([101.0], POINTS, "101 is outside"),
        ([[1.0]], POINTS, "one per query"),
        ([1.0], (5, 5), "in order"),
    ],
)
def test_wrong_arguments_of_the_stopping_rule(
    values: list[float], bounds: tuple[float, float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        confidence_sequence(values, bounds)
