"""Correlations between constructs, of judges and of people."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.context import Context
from analysis.compose.human_constructs import human_constructs
from analysis.compose.judge_constructs import judge_constructs
from analysis.compose.metric_sets import metric_sets
from analysis.compose.multitrait import multitrait
from analysis.estimates import Estimate


def validity(context: Context) -> Iterator[Estimate]:
    """Constructs among each other: by judges, by people, by both, and beside other metrics."""
    yield from judge_constructs(context)
    yield from human_constructs(context)
    yield from multitrait(context)
    yield from metric_sets(context)
