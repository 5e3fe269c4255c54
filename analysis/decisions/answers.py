"""Answers to the questions, so that a false yes is rare over all of an analysis.

A use needs every one of its figures to meet its threshold, so the p of the use is the largest of
theirs (Berger 1982, Technometrics 24:295-300). It is refused where the interval of one figure is
wholly on the other side. For each use the p-values of all constructs and judges are corrected
together by Holm's method: any false yes has a probability of at most half of 1 - level, and so have
a false yes with care and a false no of one figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.core.multiple_tests import holm
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.limits import remarks, reservations
from analysis.decisions.questions import (
    Evidence,
    Question,
    choose_between_responses,
    order_responses,
    report_level,
)
from analysis.decisions.records import USES, Answer, DecidingFigure, Use, UseDecision
from analysis.decisions.replacement import replace_rater
from analysis.decisions.standards import standards
from analysis.decisions.system_order import rank_systems

if TYPE_CHECKING:
    from analysis.core.analysis import Analysis
    from analysis.core.estimates import EstimateList
    from analysis.core.options import Options

_EVIDENCE: Mapping[Use, Callable[[Question], Evidence]] = {
    "rank_systems": rank_systems,
    "choose_between_responses": choose_between_responses,
    "order_responses": order_responses,
    "report_level": report_level,
    "replace_rater": replace_rater,
}

#: From the worst to the best, for the judge as a whole; what cannot be asked decides nothing.
_WORST_FIRST: tuple[Answer, ...] = ("no", "undecided", "with_care", "yes", "not_applicable")


def decisions(
    analysis: Analysis, speaking: Sequence[tuple[str, str]], uses: Sequence[Use] = USES
) -> list[UseDecision]:
    """Answers for each scorer: as a whole, and on each construct.

    `speaking` are the constructs and scorers that have a verdict.
    """
    from analysis.decisions.table_facts import scored_facts

    facts = [scored_facts(analysis, construct, scorer) for construct, scorer in speaking]
    return answered(analysis.estimates, facts, analysis.options, uses)


def answered(
    estimates: EstimateList,
    facts: Sequence[ScoredFacts],
    options: Options,
    uses: Sequence[Use] = USES,
) -> list[UseDecision]:
    """Answers from figures and facts; see `decisions`."""
    questions = [
        Question(estimates, of, standards(options, of.human_scale, len(facts))) for of in facts
    ]
    by_use = [_of_use(questions, use, options.level) for use in uses]
    scorers = list(dict.fromkeys(of.scorer for of in facts))
    results: list[UseDecision] = []
    for scorer in scorers:
        of_scorer = [[d for d in answers if d.scorer == scorer] for answers in by_use]
        results += [_as_a_whole(answers) for answers in of_scorer]
        constructs = dict.fromkeys(d.construct for answers in of_scorer for d in answers)
        results += [
            d for construct in constructs for answers in of_scorer for d in answers
            if d.construct == construct
        ]  # fmt: skip
    return results


def _of_use(questions: Sequence[Question], use: Use, level: float) -> list[UseDecision]:
    """One question on all constructs and scorers, corrected together."""
    evidence = [_evidence(use, question) for question in questions]
    alpha = (1 - level) / 2
    held = [
        [p <= alpha for p in holm([of(e) for e in evidence])] for of in (_p, _p_weak, _p_against)
    ]
    asked = sum(bool(e.figures) for e in evidence)
    return [
        replace(_decision(question.facts, use, e, (yes, weak, no)), answers=asked)
        for question, e, yes, weak, no in zip(questions, evidence, *held, strict=True)
    ]


def _evidence(use: Use, question: Question) -> Evidence:
    if question.facts.reference_missing:
        return Evidence(not_posed=question.facts.reference_missing)
    evidence = _EVIDENCE[use](question)
    if evidence.not_posed is not None:
        return evidence
    if evidence.missing is not None:
        return replace(evidence, missing=question.facts.constant or evidence.missing)
    return replace(
        evidence,
        reservations=(*reservations(question), *evidence.reservations),
        remarks=(*remarks(question), *evidence.remarks),
    )


def _p(evidence: Evidence) -> float:
    if evidence.missing is not None:
        return math.nan
    return max((f.p for f in evidence.figures), default=math.nan)


def _p_weak(evidence: Evidence) -> float:
    if evidence.missing is not None:
        return math.nan
    return max((f.p_weak for f in evidence.figures), default=math.nan)


def _p_against(evidence: Evidence) -> float:
    """One figure that fails speaks against the use, whatever the others."""
    return min((f.p_against for f in evidence.figures), default=math.nan)


def _decision(
    facts: ScoredFacts, use: Use, evidence: Evidence, held: tuple[bool, bool, bool]
) -> UseDecision:
    """`held`: whether the use, the weaker statement and the contrary hold after correction."""
    yes, weak, no = held
    answer: Answer = "undecided"
    if evidence.not_posed is not None:
        answer = "not_applicable"
    elif yes:
        answer = "with_care" if evidence.reservations else "yes"
    elif weak:
        answer = "with_care"
    elif no:
        answer = "no"
    figures = evidence.figures
    result = UseDecision(
        facts.construct,
        facts.scorer,
        use,
        answer,
        figures,
        None,
        (*evidence.reservations, *evidence.remarks),
        evidence.not_posed or evidence.missing,
    )
    if answer == "no":
        binding = min(figures, key=lambda f: f.p_against)
        return replace(result, binding=binding, missing=None)
    if result.missing is not None or not figures:
        return result
    # That an order is above chance is a condition of a level, and not what it rests on.
    shown = [f for f in figures if f.threshold.name != "chance"] if yes else []
    binding = max(shown or figures, key=lambda f: f.p)
    if yes:
        return replace(result, binding=binding, supported=True)
    return _with_plan(replace(result, binding=binding))


def _with_plan(decision: UseDecision) -> UseDecision:
    """How many more queries would decide, if the values stay."""
    figures = decision.figures
    wrong = [f for f in figures if not f.favorable]
    # One figure on the wrong side is enough for a no; a yes needs all.
    open_figures = wrong or [f for f in figures if f.factor is None or f.factor > 1]
    factors = [f.factor for f in open_figures]
    if not factors:
        return decision
    known = [f for f in factors if f is not None]
    if not wrong and len(known) < len(factors):
        return replace(decision, further_raters=_raters_matter(open_figures))
    if not known:
        return replace(decision, further_raters=_raters_matter(open_figures))
    deciding = min(known) if wrong else max(known)
    queries = max((f.estimate.n_queries for f in open_figures), default=0)
    further = queries * (deciding - 1)
    if not math.isfinite(further) or further < 1:
        return decision
    return replace(decision, further_queries=_rounded(further))


def _raters_matter(figures: Sequence[DecidingFigure]) -> bool:
    return any(
        f.factor is None
        and f.estimate.uncertainty is not None
        and len(f.estimate.uncertainty.variances) > 1
        for f in figures
    )


def _rounded(number: float) -> int:
    """Upwards to two digits at most: 7.2 becomes 10, 43 becomes 50, 1,234 becomes 1,300."""
    step = 10 ** max(1, math.floor(math.log10(max(number, 1))) - 1)
    return int(math.ceil(number / step) * step)


def _as_a_whole(answers: Sequence[UseDecision]) -> UseDecision:
    """The weakest of its constructs.

    Each construct's answer holds after correction for all of them, so that the whole needs none of
    its own.
    """
    weakest = min(answers, key=lambda d: _WORST_FIRST.index(d.answer))
    several = len(answers) > 1
    return replace(weakest, construct=None, weakest=weakest.construct if several else None)
