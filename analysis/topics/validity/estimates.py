"""Correlations between constructs, of judges and of people."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.topics.validity.human_constructs import human_constructs
from analysis.topics.validity.judge_constructs import judge_constructs
from analysis.topics.validity.metric_sets import metric_sets
from analysis.topics.validity.multitrait import multitrait


def validity(context: Context) -> Iterator[Estimate]:
    """Constructs among each other: by judges, by people, by both, and beside other metrics."""
    yield from judge_constructs(context)
    yield from human_constructs(context)
    yield from multitrait(context)
    yield from metric_sets(context)
