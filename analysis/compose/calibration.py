"""Calibration of every judge against the human reference."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.estimates import Estimate


def calibration(context: Context) -> Iterator[Estimate]:
    """Nothing yet."""
    yield from ()
