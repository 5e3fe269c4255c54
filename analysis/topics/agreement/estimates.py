"""Judge against humans beyond correlations: limits, decisions, pairwise accuracy, the alt-test."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.topics.agreement.absolute_agreement import in_value
from analysis.topics.agreement.alternative_annotator import alternative_annotators, non_inferiority
from analysis.topics.agreement.decisions import decisions_on_systems
from analysis.topics.agreement.pairwise_accuracy import pairwise
from analysis.topics.agreement.preferences import preference_accuracies


def agreement(context: Context) -> Iterator[Estimate]:
    """Every figure of how a judge agrees with people that is no plain correlation."""
    yield from in_value(context)
    yield from pairwise(context)
    yield from decisions_on_systems(context)
    yield from alternative_annotators(context)
    yield from non_inferiority(context)
    yield from preference_accuracies(context)
