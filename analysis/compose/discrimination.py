"""Which systems differ: randomised Tukey tests by scorer, and declared hypotheses."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.estimates import Estimate


def discrimination(context: Context) -> Iterator[Estimate]:
    """Nothing yet."""
    yield from ()
