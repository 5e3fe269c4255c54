"""What qualifies an answer: what makes its figures uncertain, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.decisions.questions import Question

#: Share of rated responses without a score from which a yes is qualified: as many scores that are
#: all off by the whole scale move a mean by the default margin of a level, 5% of the scale.
MISSING_SHARE = 0.05


def reservations(question: Question) -> Iterator[str]:
    """Why figures may be off by more than their intervals; one of these makes a yes weaker."""
    facts = question.facts
    if facts.missing_share > MISSING_SHARE:
        yield f"it has no score for {facts.missing_share:.0%} of the rated responses"
    if facts.unequal_draw:
        yield "responses were drawn with unequal probabilities, which the figures do not weight"
    if facts.copy_of is not None and facts.n_raters > 1:
        yield _copy(facts.copy_of)


def remarks(question: Question) -> Iterator[str]:
    """What every answer rests on, which does not weaken it."""
    if question.facts.copy_of is not None and question.facts.n_raters <= 1:
        # Beside a single rater this is what a perfect judge looks like.
        yield _copy(question.facts.copy_of)


def _copy(rater: str) -> str:
    return f"each of its scores equals the rating by {rater}"
