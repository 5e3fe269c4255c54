"""May a judge stand in for a rater: the alternative annotator test, and the order of responses."""

from __future__ import annotations

from analysis.core.distributions import normal_quantile
from analysis.core.estimates import Estimate
from analysis.decisions.figures import above
from analysis.decisions.questions import Evidence, Question, as_well_as_a_rater
from analysis.decisions.records import DecidingFigure, DecisionThreshold

#: The alternative annotator test leaves each rater out, and needs two others.
RATERS_NEEDED = 3

#: The share of raters that the judge may replace, from which on the test is passed.
PASSING = DecisionThreshold("winning_rate", "by definition", 0.5)


def replace_rater(question: Question) -> Evidence:
    """The test is passed, and the judge orders responses no worse than the average rater."""
    facts = question.facts
    if facts.adjudicated:
        return Evidence(not_posed="an adjudicated value favors the raters whose values it settled")
    if facts.n_raters < RATERS_NEEDED:
        return Evidence(
            not_posed=f"it takes {RATERS_NEEDED} raters, the table has {facts.n_raters}"
        )
    alignment = "equality" if facts.nominal else "rmse"
    rate = question.first("alt_test_winning_rate", alignment=alignment)
    if rate is None or not rate.defined:
        return Evidence(not_posed=(rate.reason if rate else None) or "it was not computed")
    passed = _passed(rate, question.standards.alpha)
    beside = _on_categories(question) if facts.nominal else _in_order(question)
    if isinstance(beside, str):
        return Evidence((passed,), missing=beside)
    return Evidence((passed, beside))


def _passed(rate: Estimate, alpha: float) -> DecidingFigure:
    """The test's own p-values; a pass that a constant judge shares does not support it."""
    passed_p, failed_p = (float(str(rate.params[key])) for key in ("passed_p", "failed_p"))
    if rate.params["passed"] == "withheld":
        passed_p = 1.0
    favorable = rate.params["passed"] == "yes"
    factor = replacement_factor(
        passed_p if rate.value >= PASSING.value else min(passed_p, failed_p), alpha
    )
    return DecidingFigure(rate, PASSING, passed_p, passed_p, failed_p, favorable, factor)


def replacement_factor(p: float, alpha: float) -> float | None:
    """By how much the queries must grow until p is alpha, if z grows as their square root.

    None for a p of one half or more, which is not evidence in this direction.
    """
    if not 0 < p < 1 / 2:
        return None
    return (normal_quantile(alpha) / normal_quantile(p)) ** 2


def _in_order(question: Question) -> DecidingFigure | str:
    scope = "within_query" if question.facts.several_a_query else "pooled"
    return as_well_as_a_rater(question, scope)


def _on_categories(question: Question) -> DecidingFigure | str:
    """The judge's kappa with a rater beside that of two raters."""
    difference, standards = question.first("kappa_difference"), question.standards
    if difference is None or not difference.has_interval:
        return (difference.reason if difference else None) or "kappa was not computed"
    return above(difference, standards.order, standards.weak_order, standards.alpha)
