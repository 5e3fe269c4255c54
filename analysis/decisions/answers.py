"""Answers to the questions: yes and no at a one-sided 5%, and between them a probability.

A use needs every one of its figures to meet its threshold, so that the p of the use is the largest
of theirs, and the p of the judge as a whole the largest of its constructs': an intersection-union
test needs no correction for their number (Berger 1982, Technometrics 24:295-300). It is refused
where one figure is shown to be on the other side. That is a union, so that a no is corrected over
constructs by Holm's method. A yes on a single construct is corrected by Hochberg's, which gives it
to all where the judge as a whole has it. Where several judges are asked, each has an equal part of
the 5%. What is neither shown nor refused has the probability of meeting its standard, given the
data and flat priors: likely from .8 on, unlikely up to .2, and open between.

Each answer is shown with the interval of the level at which it was decided: 90% for one judge on
one construct, by which a figure is tested one-sided at 5% to both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.core.multiple_tests import hochberg, holm
from analysis.core.statistic import Target
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.figures import at_level
from analysis.decisions.limits import limits
from analysis.decisions.preferred_responses import choose_as_people_prefer, preference_facts
from analysis.decisions.questions import (
    Evidence,
    Question,
    choose_between_responses,
    order_responses,
    report_level,
)
from analysis.decisions.records import TARGETS, USES, Answer, DecidingFigure, Use, UseDecision
from analysis.decisions.replacement import replace_rater
from analysis.decisions.standards import ALPHA, CONTRARY, LIKELY, RATERS_OF_A_KIND, standards
from analysis.decisions.system_order import rank_all_systems, rank_systems

if TYPE_CHECKING:
    from analysis.core.analysis import Analysis
    from analysis.core.estimates import EstimateList
    from analysis.core.options import Options

_EVIDENCE: Mapping[Use, Callable[[Question, Target], Evidence | None]] = {
    "rank_systems": rank_systems,
    "rank_all_systems": rank_all_systems,
    "choose_between_responses": choose_between_responses,
    "order_responses": order_responses,
    "report_level": report_level,
    "replace_rater": replace_rater,
}


def decisions(
    analysis: Analysis, subjects: Sequence[tuple[str, str]], uses: Sequence[Use] = USES
) -> list[UseDecision]:
    """Answers for each scorer: as a whole, and on each construct.

    `subjects` are the constructs and scorers that have a verdict.
    """
    from analysis.decisions.table_facts import scored_facts

    facts = [scored_facts(analysis, construct, scorer) for construct, scorer in subjects]
    scored = {(of.construct, of.scorer) for of in facts if of.reference_missing is None}
    compared = [of for of in preference_facts(analysis) if (of.construct, of.scorer) not in scored]
    replaced = {(of.construct, of.scorer) for of in compared}
    facts = [of for of in facts if (of.construct, of.scorer) not in replaced] + compared
    return answered(analysis.estimates, facts, analysis.options, uses)


def answered(
    estimates: EstimateList,
    facts: Sequence[ScoredFacts],
    options: Options,
    uses: Sequence[Use] = USES,
) -> list[UseDecision]:
    """Answers from figures and facts; see `decisions`."""
    scorers = list(dict.fromkeys(of.scorer for of in facts))
    questions = [
        Question(estimates, of, standards(options, of.human_scale, len(scorers))) for of in facts
    ]
    asked = [
        asked for use in uses for target in TARGETS for asked in _asked(questions, use, target)
    ]
    results: list[UseDecision] = []
    for scorer in scorers:
        own = [of for of in asked if of.scorer == scorer]
        results += [of.whole() for of in own]
        constructs = dict.fromkeys(d.construct for of in own for d in of.by_construct)
        results += [
            d for construct in constructs for of in own for d in of.by_construct
            if d.construct == construct
        ]  # fmt: skip
    return results


def _asked(questions: Sequence[Question], use: Use, target: Target) -> list[_Asked]:
    """One question about each judge, on all its constructs."""
    found = [(q, e) for q in questions if (e := _evidence(use, target, q)) is not None]
    scorers = dict.fromkeys(q.facts.scorer for q, _ in found)
    judges = len({q.facts.scorer for q, e in found if e.figures})
    return [
        _Asked(use, target, tuple((q, e) for q, e in found if q.facts.scorer == scorer), judges)
        for scorer in scorers
    ]


def _evidence(use: Use, target: Target, question: Question) -> Evidence | None:
    facts = question.facts
    beyond = target == "raters_like_these"
    if facts.preferences:
        asked = use == "choose_between_responses" and not beyond
        return choose_as_people_prefer(question) if asked else None
    if facts.reference_missing:
        return None if beyond else Evidence(not_posed=facts.reference_missing)
    alone = facts.one_rating or facts.n_raters < RATERS_OF_A_KIND
    # An order of systems that is adjusted for its raters is about raters like these alone.
    if beyond and alone and use not in {"rank_systems", "rank_all_systems"}:
        return None
    evidence = _EVIDENCE[use](question, target)
    if evidence is None or evidence.not_posed is not None:
        return None if beyond else evidence
    if evidence.missing is not None:
        return replace(evidence, missing=facts.constant or evidence.missing)
    return replace(evidence, limits=(*limits(question, evidence.figures), *evidence.limits))


@dataclass(frozen=True)
class _ConstructAnswer:
    """The answer on one construct, and the levels at which its yes and no are tested."""

    facts: ScoredFacts
    evidence: Evidence
    yes: bool
    no: bool
    yes_level: float
    no_level: float

    contrary: DecidingFigure | None = None
    """The figure that alone refuses what the others support."""

    @property
    def probability(self) -> float:
        """Of every figure meeting its threshold: that of the figure with the least."""
        if self.evidence.missing is not None:
            return math.nan
        known = [f.probability for f in self.evidence.figures if not math.isnan(f.probability)]
        return min(known, default=math.nan)


@dataclass(frozen=True)
class _Asked:
    """One question about one judge, with the evidence on each construct."""

    use: Use
    target: Target
    evidence: tuple[tuple[Question, Evidence], ...]
    judges: int
    """How many judges are asked, each with its part of the error."""

    @property
    def scorer(self) -> str:
        """The judge."""
        return self.evidence[0][0].facts.scorer

    @property
    def alpha(self) -> float:
        """The one-sided level of this judge."""
        return ALPHA / max(1, self.judges)

    @property
    def construct_answers(self) -> list[_ConstructAnswer]:
        """The answer on each construct, corrected for their number."""
        support = [_p(e) for _, e in self.evidence]
        parts = [_part_of_no(e) for _, e in self.evidence]
        against = [_p_against(e) for _, e in self.evidence]
        yes_level = hochberg(support)
        no_level = holm([p / part for p, part in zip(against, parts, strict=True)])
        construct_answers = []
        for place, (question, e) in enumerate(self.evidence):
            yes, no = yes_level[place] <= self.alpha, no_level[place] <= self.alpha
            # What the others refuse rests on them.
            contrary = None if no else self._contrary(e)
            construct_answers.append(
                _ConstructAnswer(
                    question.facts,
                    e,
                    yes and contrary is None,
                    no or contrary is not None,
                    self._level(support[place], yes_level[place]),
                    self._level(against[place], no_level[place], parts[place]),
                    contrary,
                )
            )
        return construct_answers

    def _contrary(self, evidence: Evidence) -> DecidingFigure | None:
        """The figure that is shown to be outside, of those that can only speak against."""
        asked = sum(bool(e.figures) for _, e in self.evidence)
        worst = min(evidence.contrary, key=lambda f: f.p_against, default=None)
        if worst is None:
            return None
        level = CONTRARY * self.alpha / asked / len(evidence.contrary)
        return at_level(worst, level) if worst.p_against <= level else None

    def _level(self, p: float, corrected: float, part: float = 1.0) -> float:
        """The level at which a p is compared, where the corrected one is at `alpha`.

        `part` of the error is the p's own.
        """
        if math.isnan(p):
            return self.alpha
        asked = sum(bool(e.figures) for _, e in self.evidence)
        if not 0 < p < 1 or not corrected < 1:
            return part * (self.alpha / asked if p < 1 else self.alpha)
        return self.alpha * p / corrected

    @property
    def by_construct(self) -> list[UseDecision]:
        """The answer on each construct."""
        return [
            self._answer(of, of.yes, of.no, of.probability, of.yes_level)
            for of in self.construct_answers
        ]

    def whole(self) -> UseDecision:
        """The answer for the judge as a whole: every construct must meet its standard."""
        asked = [of for of in self.construct_answers if of.evidence.not_posed is None]
        if not asked:
            return replace(self.by_construct[0], construct=None)
        refused = [of for of in asked if of.no]
        unknown = [of for of in asked if of.evidence.missing is not None]
        if refused:
            deciding = min(
                refused, key=lambda of: (of.contrary is not None, _p_against(of.evidence))
            )
        elif unknown:
            deciding = unknown[0]
        else:
            deciding = max(asked, key=lambda of: _p(of.evidence))
        # As if the errors of constructs were independent; where they go together it is larger.
        probability = math.prod(of.probability for of in asked)
        yes = not unknown and _p(deciding.evidence) <= self.alpha
        answer = self._answer(deciding, yes, bool(refused), probability, self.alpha)
        weakest = deciding.facts.construct if len(self.evidence) > 1 else None
        return replace(answer, construct=None, weakest=weakest)

    def _answer(
        self, of: _ConstructAnswer, yes: bool, no: bool, probability: float, yes_level: float
    ) -> UseDecision:
        evidence = of.evidence
        answer = _word(evidence, yes, no, probability)
        alpha = {"yes": yes_level, "no": of.no_level}.get(answer, min(yes_level, of.no_level))
        figures = tuple(at_level(f, alpha) for f in evidence.figures)
        contrary = () if of.contrary is None else (of.contrary,)
        known = None if math.isnan(probability) or answer in {"yes", "no"} else probability
        result = UseDecision(
            of.facts.construct,
            of.facts.scorer,
            self.use,
            self.target,
            answer,
            None if answer == "not_applicable" else known,
            (*figures, *contrary),
            None,
            evidence.limits,
            evidence.not_posed or evidence.missing,
            alpha=alpha,
            answers=sum(bool(e.figures) for _, e in self.evidence) * max(1, self.judges),
        )
        if answer == "no":
            binding = of.contrary or min(figures, key=lambda f: f.p_against)
            return replace(result, binding=binding, missing=None)
        if result.missing is not None or not figures:
            return result
        # What is a condition is not what an answer rests on, unless it alone is in doubt.
        shown = [f for f in figures if f.threshold.declared != "by definition"] if yes else []
        shown = shown or [f for f in figures if not math.isnan(f.probability)] or list(figures)
        binding = max(shown, key=lambda f: f.p)
        if yes:
            return replace(result, binding=binding)
        unshown = [f for f in figures if math.isnan(f.probability) and f.p > yes_level]
        result = replace(
            result,
            binding=binding,
            limits=(*map(_not_shown, unshown), *evidence.limits),
            unshown=bool(unshown),
        )
        planned = _with_plan(result, figures)
        # How a query that has much of the weight counts beside further ones is not known, nor when
        # systems that may be equal would be told apart.
        equal = bool(unshown) and all(f.favorable for f in figures)
        promised = of.facts.dominant is None and not equal
        return planned if promised else replace(planned, further_queries=None)


def _p(evidence: Evidence) -> float:
    if evidence.missing is not None:
        return math.nan
    return max((f.p for f in evidence.figures), default=math.nan)


def _p_against(evidence: Evidence) -> float:
    """One figure that fails speaks against the use, whatever the others."""
    return min((f.p_against for f in evidence.figures), default=math.nan)


def _part_of_no(evidence: Evidence) -> float:
    """The part of the error that each figure has for a no, which any of them gives (Bonferroni).

    Figures that can only speak against have their own part. The true positive and negative rate are
    of different responses, so that their errors add up. The others of a use are of the same
    responses: those of an order go together, and an order at chance is refused with reason.
    """
    rates = sum(f.threshold.name == "true_rate" for f in evidence.figures)
    return (1 - CONTRARY if evidence.contrary else 1.0) / max(1, rates)


def _word(evidence: Evidence, yes: bool, no: bool, probability: float) -> Answer:
    if evidence.not_posed is not None:
        return "not_applicable"
    if no:
        return "no"
    if yes:
        return "yes"
    if probability >= LIKELY:
        return "likely"
    return "unlikely" if probability <= 1 - LIKELY else "open"


#: From this p on no pair is near to being shown, and none is named.
NEAREST = 0.5


def _not_shown(condition: DecidingFigure) -> str:
    """What must be shown for a yes and is not."""
    first, second = condition.estimate.systems
    p = f"{condition.p:.2f}".removeprefix("0")
    nearest = f" ({first} and {second} come nearest, p = {p})"
    return (
        "no two systems are shown to be in the same order by judge and people"
        f"{nearest if condition.p < NEAREST else ''}"
    )


def _with_plan(decision: UseDecision, figures: Sequence[DecidingFigure]) -> UseDecision:
    """How many more queries, or raters, would decide, if the values stay."""
    figures = [f for f in figures if not math.isnan(f.probability)]
    wrong = [f for f in figures if not f.favorable]
    # One figure on the wrong side is enough for a no; a yes needs all.
    open_figures = wrong or [f for f in figures if f.factor is None or f.factor > 1]
    factors = [f.factor for f in open_figures]
    if not factors:
        return decision
    known = [f for f in factors if f is not None]
    if not known or (not wrong and len(known) < len(factors)):
        return _with_raters(decision, [f for f in open_figures if f.factor is None])
    deciding = min(known) if wrong else max(known)
    queries = max((f.estimate.n_queries for f in open_figures), default=0)
    further = queries * (deciding - 1)
    if not math.isfinite(further) or further < 1:
        return decision
    return replace(decision, further_queries=_rounded(further))


def _with_raters(decision: UseDecision, figures: Sequence[DecidingFigure]) -> UseDecision:
    rater_figures = [
        f
        for f in figures
        if f.estimate.uncertainty is not None and len(f.estimate.uncertainty.variances) > 1
    ]
    if not rater_figures:
        return decision
    needed = [
        math.ceil(f.estimate.n_raters * f.raters_factor)
        for f in rater_figures
        if f.raters_factor is not None
    ]
    number = max(needed) if len(needed) == len(rater_figures) else None
    return replace(decision, further_raters=True, raters_needed=number)


def _rounded(number: float) -> int:
    """Upwards to two digits at most: 7.2 becomes 10, 43 becomes 50, 1,234 becomes 1,300."""
    step = 10 ** max(1, math.floor(math.log10(max(number, 1))) - 1)
    return int(math.ceil(number / step) * step)
