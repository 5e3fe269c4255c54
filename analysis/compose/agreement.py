"""Judge against humans beyond correlations: limits, decisions, pairwise accuracy, the alt-test."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.estimates import Estimate


def agreement(context: Context) -> Iterator[Estimate]:
    """Nothing yet."""
    yield from ()
