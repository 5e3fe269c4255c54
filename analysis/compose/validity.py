"""Correlations between constructs, of judges and of people."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.estimates import Estimate


def validity(context: Context) -> Iterator[Estimate]:
    """Nothing yet."""
    yield from ()
