from collections.abc import Callable
from typing import Any

import pytest

from analysis.core import compilation


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

    monkeypatch.setattr(compilation, "njit", njit)
    assert compilation.compiled(double)(4) == 8
    assert asked == [(True, True), (False, True)]


def test_a_compiled_function_gives_the_same() -> None:
    assert compilation.compiled(double)(4) == 8
