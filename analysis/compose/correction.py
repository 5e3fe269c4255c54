"""System means and paired differences, corrected by ratings."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.estimates import Estimate


def correction(context: Context) -> Iterator[Estimate]:
    """Nothing yet."""
    yield from ()
