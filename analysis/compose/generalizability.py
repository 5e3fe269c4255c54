"""Where the variance of ratings comes from, and each rater's severity."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.estimates import Estimate


def generalizability(context: Context) -> Iterator[Estimate]:
    """Nothing yet."""
    yield from ()
