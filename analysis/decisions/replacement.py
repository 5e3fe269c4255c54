"""May a judge stand in for a rater: the alternative annotator test, order and level."""

from __future__ import annotations

from analysis.core.distributions import normal_quantile
from analysis.core.estimates import Estimate
from analysis.core.statistic import Target
from analysis.decisions.figures import above
from analysis.decisions.questions import Evidence, Question, as_well_as_a_rater, report_level
from analysis.decisions.records import DecidingFigure, DecisionThreshold

#: The alternative annotator test leaves each rater out, and needs two others.
RATERS_NEEDED = 3

#: The share of raters that the judge may replace, from which on the test is passed.
PASSING = DecisionThreshold("winning_rate", "by definition", 0.5)


def replace_rater(question: Question, target: Target) -> Evidence | None:
    """The test is passed, the order is no worse than a rater's, and the level is people's."""
    rate = question.first("alt_test_winning_rate", alignment=_alignment(question))
    if (why := _not_posed(question, rate)) is not None or rate is None:
        return Evidence(not_posed=why)
    if rate.params["passed"] == "withheld":
        return Evidence(
            missing=f"it passes the alternative annotator test, but {rate.params['note']}"
        )
    passed = _passed(rate, question.standards.alpha)
    if question.facts.nominal:
        # Beside the average rater like these, agreement on categories has no interval.
        return _by_categories(question, passed) if target == "these_raters" else None
    scope = "within_query" if question.facts.several_a_query else "pooled"
    order = as_well_as_a_rater(question, scope, target)
    # The rates of pass or fail are about these raters only.
    level = report_level(question, target) or report_level(question, "these_raters")
    if level is None or level.not_posed is not None:
        return level
    missing = order if isinstance(order, str) else level.missing
    figures = (passed,) if isinstance(order, str) else (passed, order)
    return Evidence((*figures, *level.figures), level.contrary, level.limits, missing)


def _alignment(question: Question) -> str:
    return "equality" if question.facts.nominal else "rmse"


def _not_posed(question: Question, rate: Estimate | None) -> str | None:
    """Why the table cannot be asked."""
    facts = question.facts
    if facts.adjudicated:
        return "an adjudicated value favors the raters whose values it settled"
    if facts.n_raters < RATERS_NEEDED:
        return f"it takes {RATERS_NEEDED} raters, the table has {facts.n_raters}"
    if rate is None or not rate.defined:
        return (rate.reason if rate else None) or "it was not computed"
    return None


def _by_categories(question: Question, passed: DecidingFigure) -> Evidence:
    beside = _on_categories(question)
    if isinstance(beside, str):
        return Evidence((passed,), missing=beside)
    return Evidence((passed, beside))


def _passed(rate: Estimate, alpha: float) -> DecidingFigure:
    """The test's own p-values."""
    passed_p, failed_p = (float(str(rate.params[key])) for key in ("passed_p", "failed_p"))
    favorable = rate.params["passed"] == "yes"
    factor = replacement_factor(
        passed_p if rate.value >= PASSING.value else min(passed_p, failed_p), alpha
    )
    return DecidingFigure(rate, PASSING, passed_p, failed_p, 1 - passed_p, favorable, factor)


def replacement_factor(p: float, alpha: float) -> float | None:
    """By how much the queries must grow until p is alpha, if z grows as their square root.

    None for a p of one half or more, which is not evidence in this direction.
    """
    if not 0 < p < 1 / 2:
        return None
    return (normal_quantile(alpha) / normal_quantile(p)) ** 2


def _on_categories(question: Question) -> DecidingFigure | str:
    """The judge's kappa with a rater beside that of two raters."""
    difference, standards = question.first("kappa_difference"), question.standards
    if difference is None or not difference.has_interval:
        return (difference.reason if difference else None) or "kappa was not computed"
    return above(difference, standards.order, standards.alpha)
