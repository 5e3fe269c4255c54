"""Ragged rating tables for properties, and literal repetition of queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st


@st.composite
def tables(draw: st.DrawFn, max_items: int = 12, max_raters: int = 4) -> np.ndarray:
    """Values (n, R) on a few levels, some missing."""
    n = draw(st.integers(1, max_items))
    raters = draw(st.integers(1, max_raters))
    cell = st.one_of(st.integers(0, 5).map(float), st.just(float("nan")))
    cells = draw(st.lists(cell, min_size=n * raters, max_size=n * raters))
    return np.array(cells).reshape(n, raters)


def ratings(
    seed: int, n: int = 60, raters: int = 4, missing: float = 0.3, step: float | None = 5
) -> np.ndarray:
    """Ratings (n, R) from 0 to 100 with response, rater and error parts."""
    rng = np.random.default_rng(seed)
    values = 55 + rng.normal(0, 18, (n, 1)) + rng.normal(0, 6, raters)
    values = np.clip(values + rng.normal(0, 10, (n, raters)), 0, 100)
    if step is not None:
        values = step * np.round(values / step)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def repeated(
    weights: np.ndarray, query: np.ndarray, *arrays: np.ndarray
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Queries written out as often as the weights (Q,) say, each copy with a code of its own."""
    rows: list[np.ndarray] = []
    codes: list[np.ndarray] = []
    for code, times in enumerate(weights.astype(int)):
        for _ in range(times):
            members = np.flatnonzero(query == code)
            rows.append(members)
            codes.append(np.full(members.size, len(codes)))
    index = np.concatenate(rows) if rows else np.empty(0, dtype=int)
    joined = np.concatenate(codes) if codes else np.empty(0, dtype=int)
    return joined, tuple(array[index] for array in arrays)
