"""Weights of the constructs learnt from an overall rating."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.estimates import Estimate


def composite(context: Context) -> Iterator[Estimate]:
    """Nothing yet."""
    yield from ()
