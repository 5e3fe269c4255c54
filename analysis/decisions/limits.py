"""What qualifies every answer: what makes its figures uncertain, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.decisions.questions import Question
from analysis.decisions.records import DecidingFigure

#: Share of rated responses without a score from which an answer says so: as many scores that are
#: all off by the whole scale move a mean by the default margin of a level, 5% of the scale.
MISSING_SHARE = 0.05


def limits(question: Question, figures: tuple[DecidingFigure, ...] = ()) -> Iterator[str]:
    """Why figures may be off by more than their intervals, and what a reader must know of them."""
    facts = question.facts
    weighted = bool(figures) and all("judged_queries" in f.estimate.params for f in figures)
    if facts.missing_share > MISSING_SHARE:
        yield f"it has no score for {facts.missing_share:.0%} of the rated responses"
    if facts.unequal_draw and not weighted:
        yield "responses were drawn with unequal probabilities, which the figures do not weight"
    if facts.dominant is not None:
        yield f"one query has much of the weight ({facts.dominant})"
    if facts.copy_of is not None:
        yield f"each of its scores equals the rating by {facts.copy_of}"
