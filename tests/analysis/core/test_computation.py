from collections.abc import Callable
from typing import Any

import pytest
from scipy import stats

from analysis.core import computation
from analysis.core.computation import chi2_quantile, f_quantile, t_quantile


def double(number: float) -> float:
    return 2 * number


def test_without_a_place_for_the_cache_it_is_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def njit(*, cache: bool = False, nogil: bool) -> Callable[[Any], Any]:
        asked.append((cache, nogil))

        def compile_(function: Any) -> Any:
            if cache:
                raise RuntimeError("cannot cache function: no locator available")
            return function

        return compile_

    monkeypatch.setattr("numba.njit", njit)
    assert computation.compiled(double)(4) == 8
    assert asked == [(True, True), (False, True)]


def test_a_compiled_function_gives_the_same() -> None:
    assert computation.compiled(double)(4) == 8


@pytest.mark.parametrize("probability", [0.005, 0.025, 0.5, 0.975])
@pytest.mark.parametrize("df", [1, 2.4, 30, 5000])
def test_equal_scipy_stats(probability: float, df: float) -> None:
    assert t_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), abs=1e-12)
    assert chi2_quantile(probability, df) == pytest.approx(stats.chi2.ppf(probability, df))
    assert f_quantile(probability, df, 7.5) == pytest.approx(stats.f.ppf(probability, df, 7.5))
