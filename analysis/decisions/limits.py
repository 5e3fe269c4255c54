"""What qualifies every yes: missing scores, an unequal draw, a copy of a rater."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.decisions.questions import Question

#: Share of rated responses without a score from which a yes is qualified: as many scores that are
#: all off by the whole scale move a mean by the default margin of a level, 5% of the scale.
MISSING_SHARE = 0.05

#: Responses that a judge and a rater must share before equal values mean a copy.
SHARED = 20


def of_scores(question: Question) -> Iterator[str]:
    """Limits of every use, from the judge's scores on rated responses."""
    data = question.analysis.rated[question.construct]
    scores = data.scorers[question.scorer]
    rated = np.isfinite(data.reference)
    scored = np.isfinite(scores)
    missing = float(np.mean(~scored[rated]))
    if missing > MISSING_SHARE:
        yield f"it has no score for {missing:.0%} of the rated responses"
    rows = question.analysis.scores.frame
    people_here = (rows["construct"] == question.construct) & rows["scorer"].isin(data.people)
    if rows.loc[people_here, "inclusion_prob"].nunique() > 1:
        yield "responses were drawn with unequal probabilities, which the figures do not weight"
    people = dict(zip(data.raters, data.ratings.T, strict=True)) | data.adjudicated
    for name, ratings in people.items():
        shared = scored & np.isfinite(ratings)
        if shared.sum() >= SHARED and (scores[shared] == ratings[shared]).all():
            yield f"each of its scores equals the rating by {name}"
            return  # one rater that it copies is enough to name


def no_variation(question: Question) -> str | None:
    """Which side gives all responses one value; None where both vary."""
    data = question.analysis.rated[question.construct]
    scores, rated = data.scorers[question.scorer], np.isfinite(data.reference)
    for whose, values in (
        ("the judge gives every rated response the same value", scores[rated]),
        ("people give every response the same value", data.reference[rated]),
    ):
        known = values[np.isfinite(values)]
        if known.size > 1 and (known == known[0]).all():
            return f"{whose} ({known[0]:g})"
    return None
