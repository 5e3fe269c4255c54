"""The facts of decisions, from the arrays of an analysis."""

from __future__ import annotations

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.construct_data import ConstructData
from analysis.core.unequal_queries import dominating
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.patterns import pattern

#: Responses that a judge and a rater must share before equal values mean a copy.
SHARED = 20


def scored_facts(analysis: Analysis, construct: str, scorer: str) -> ScoredFacts:
    """The facts on one judge and construct."""
    data, context = analysis.rated[construct], analysis.context
    scores, reference = data.scorers[scorer], data.reference
    rated = np.isfinite(reference)
    both = rated & np.isfinite(scores)
    human_scale = context.human_scale(construct)
    rows = analysis.scores.frame
    people_here = (rows["construct"] == construct) & rows["scorer"].isin(data.people)
    return ScoredFacts(
        construct,
        scorer,
        people=data.people,
        adjudicated=data.reference_kind == "adjudicated",
        n_responses=int(np.count_nonzero(both)),
        n_queries=int(np.unique(data.query[both]).size),
        rated_twice=bool((np.isfinite(data.ratings_given).sum(axis=1) > 1).any()),
        several_a_query=data.several_a_query,
        systems=data.systems,
        nominal=context.nominal([construct]),
        human_scale=human_scale,
        scorer_scale=analysis.scores.scale(construct, scorer),
        reference_missing=data.reference_missing,
        constant=_constant(scores, reference),
        missing_share=float(np.mean(~np.isfinite(scores)[rated])) if rated.any() else 0.0,
        unequal_draw=rows.loc[people_here, "inclusion_prob"].nunique() > 1,
        dominant=_dominant(analysis, data, both),
        copy_of=_copied(data, scores),
        people_at_max=float(np.mean(reference[rated] >= human_scale.max))
        if human_scale is not None and rated.any()
        else float("nan"),
        pattern=pattern(
            scores[both].tolist(),
            reference[both].tolist(),
            np.flatnonzero(both).tolist(),
            human_scale if human_scale == analysis.scores.scale(construct, scorer) else None,
        ),
    )


def _dominant(analysis: Analysis, data: ConstructData, both: BoolArray) -> str | None:
    """The query with a large part of the responses, such as 'q0, 61%'."""
    counts = np.bincount(data.query[both], minlength=data.n_queries).astype(np.float64)
    place = dominating(counts) if data.several_a_query and counts.any() else None
    if place is None:
        return None
    return f"{analysis.context.rated_queries[place]}, {counts[place] / counts.sum():.0%}"


def _copied(data: ConstructData, scores: FloatArray) -> str | None:
    """The first rater, or adjudicator, whose values equal all scores on the same responses."""
    scored = np.isfinite(scores)
    people = dict(zip(data.raters, data.ratings.T, strict=True)) | data.adjudicated
    for name, ratings in people.items():
        shared = scored & np.isfinite(ratings)
        if shared.sum() >= SHARED and (scores[shared] == ratings[shared]).all():
            return name
    return None


def _constant(scores: FloatArray, reference: FloatArray) -> str | None:
    rated = np.isfinite(reference)
    for whose, values in (
        ("people give every response the same value", reference[rated]),
        ("the judge gives every rated response the same value", scores[rated]),
    ):
        known = values[np.isfinite(values)]
        if known.size > 1 and (known == known[0]).all():
            return f"{whose} ({known[0]:g})"
    return None
