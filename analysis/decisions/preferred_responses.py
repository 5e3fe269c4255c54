"""May a judge that compares two responses choose between them: beside raters who compared them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.decisions.facts import ScoredFacts
from analysis.decisions.figures import above
from analysis.decisions.questions import ONE_RATER, Evidence, Question, why_missing

if TYPE_CHECKING:
    from analysis.core.analysis import Analysis

#: A judge that makes the same choice in both orders of fewer pairs is named.
CONSISTENT = 0.8


def preference_facts(analysis: Analysis) -> list[ScoredFacts]:
    """The facts of each judge whose preferences stand beside people's."""
    return [
        ScoredFacts(
            e.constructs[0],
            e.scorers[0],
            people=e.scorers[1:],
            n_responses=e.n_responses,
            n_queries=e.n_queries,
            rated_twice=analysis.estimates.first(
                "majority_accuracy_difference", construct=e.constructs[0], scorer=e.scorers[0]
            )
            is not None,
            several_a_query=True,
            preferences=True,
        )
        for e in analysis.estimates.select("majority_accuracy")
    ]


def choose_as_people_prefer(question: Question) -> Evidence:
    """Its choices are those of most raters, no less often than a rater's; beside one, by itself."""
    standards = question.standards
    accuracy = question.first("majority_accuracy")
    difference = question.first("majority_accuracy_difference")
    limits = tuple(_limits(question))
    if accuracy is None or not accuracy.has_interval:
        return Evidence(missing=why_missing(accuracy))
    if difference is None or not difference.defined:
        alone = ONE_RATER if question.facts.n_raters == 1 else "no pair was compared by two raters"
        figure = above(accuracy, standards.concordance, standards.alpha)
        return Evidence((figure,), limits=(alone, *limits))
    if not difference.has_interval:
        return Evidence(missing=why_missing(difference), limits=limits)
    figures = (
        above(difference, standards.accuracy, standards.alpha),
        above(accuracy, standards.guess, standards.alpha),
    )
    return Evidence(figures, limits=limits)


def _limits(question: Question) -> Iterator[str]:
    same, bias = question.first("order_consistency"), question.first("position_bias")
    if same is not None and same.defined and same.value < CONSISTENT:
        yield f"it makes the same choice in both orders of {same.value:.0%} of the pairs only"
    if bias is not None and bias.has_interval and not bias.ci_low <= 0 <= bias.ci_high:
        shown = "first" if math.copysign(1, bias.value) > 0 else "second"
        yield f"it prefers what is shown {shown} by {abs(bias.value):.0%} of the pairs"
