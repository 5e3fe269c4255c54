"""Judge against humans beyond correlations: limits, decisions, pairwise accuracy, the alt-test."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose.alternative_annotator import alternative_annotators, non_inferiority
from analysis.compose.context import Context
from analysis.compose.decisions import decisions_on_systems
from analysis.compose.in_value import in_value
from analysis.compose.pairwise import pairwise
from analysis.compose.preferences import preference_accuracies
from analysis.estimates import Estimate


def agreement(context: Context) -> Iterator[Estimate]:
    """Every figure of how a judge agrees with people that is no plain correlation."""
    yield from in_value(context)
    yield from pairwise(context)
    yield from decisions_on_systems(context)
    yield from alternative_annotators(context)
    yield from non_inferiority(context)
    yield from preference_accuracies(context)
