"""What each question asks of the figures of one judge on one construct."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import ORDER, Target
from analysis.decisions.bias_by_system import bias_by_system, for_raters_like_these
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.figures import above, within
from analysis.decisions.patterns import reversed_rater
from analysis.decisions.records import DecidingFigure, DecisionThreshold
from analysis.decisions.standards import FAR, Standards

#: Share of a judge's scores at the maximum from which an answer says so, if people give it less
#: often by `LESS_OFTEN`.
CEILING, LESS_OFTEN = 0.5, 0.1

ONE_RATER = "the judge is compared with this one rater only"

ONE_RATING = "each response has one rating, so that no rater is compared with another"

NOMINAL = "its values name categories, which have no order and no distance"


@dataclass(frozen=True)
class Question:
    """One judge on one construct."""

    estimates: EstimateList
    facts: ScoredFacts
    standards: Standards

    def first(self, statistic: str, **where: Any) -> Estimate | None:
        """The figure of this judge on this construct, if it was computed."""
        facts = self.facts
        return self.estimates.first(
            statistic, construct=facts.construct, scorer=facts.scorer, **where
        )

    def select(self, statistic: str, **where: Any) -> list[Estimate]:
        """The figures of this judge on this construct."""
        facts = self.facts
        return self.estimates.select(
            statistic, construct=facts.construct, scorer=facts.scorer, **where
        )


@dataclass(frozen=True)
class Evidence:
    """Figures that must all speak for the use, what qualifies the answer, and what is missing.

    `contrary` are figures of which one that is shown to be outside refuses the use. `limits` are
    named beside the answer. Where something is missing, the figures that are known may still speak
    against the use. `not_posed` is why the table cannot be asked.
    """

    figures: tuple[DecidingFigure, ...] = ()
    contrary: tuple[DecidingFigure, ...] = ()
    limits: tuple[str, ...] = ()
    missing: str | None = None
    not_posed: str | None = None


def choose_between_responses(question: Question, target: Target) -> Evidence | None:
    """Order of the responses to one query."""
    if not question.facts.nominal and not question.facts.several_a_query:
        return Evidence(not_posed="each query has one rated response")
    return _ordered(question, "within_query", target)


def order_responses(question: Question, target: Target) -> Evidence | None:
    """Order of responses to different queries, where each query has one."""
    if not question.facts.nominal and question.facts.several_a_query:
        return Evidence(not_posed="queries have several responses, which are compared instead")
    return _ordered(question, "pooled", target)


def _ordered(question: Question, scope: str, target: Target) -> Evidence | None:
    """No worse than a rater and better than chance; beside one rating, well by itself."""
    facts = question.facts
    if facts.nominal:
        return Evidence(not_posed=NOMINAL)
    if facts.people_constant:
        return Evidence(not_posed=facts.constant)
    if question.facts.one_rating:
        return _as_one_rater_does(question, scope)
    standards = question.standards
    order = as_well_as_a_rater(question, scope, target)
    missing = [order] if isinstance(order, str) else []
    figures = [] if isinstance(order, str) else [order]
    wanted: list[tuple[str, DecisionThreshold]] = [(ORDER, standards.chance)]
    if scope == "within_query":
        wanted.insert(0, ("pairwise_accuracy_difference", standards.accuracy))
    for statistic, threshold in wanted:
        e = question.first(statistic, scope=scope)
        if e is None or not e.has_interval:
            missing.append(why_missing(e))
        else:
            figures.append(above(e, threshold, standards.alpha))
    limits = tuple(_limits_of_order(question, scope))
    return Evidence(tuple(figures), limits=limits, missing=missing[0] if missing else None)


def _as_one_rater_does(question: Question, scope: str) -> Evidence:
    """The share of pairs that are ordered as by the only rater, or the adjudicated values.

    Where that rater rated responses again, it is beside the rater's own share on these.
    """
    facts, standards = question.facts, question.standards
    e = question.first("concordance", scope=scope)
    if e is None or not e.has_interval:
        return Evidence(missing=why_missing(e))
    limits = [] if facts.adjudicated else [ONE_RATER if facts.n_raters == 1 else ONE_RATING]
    beside = question.first("concordance_difference", scope=scope)
    if beside is not None and _repeat_is_known(beside, standards.accuracy):
        figures = [
            above(beside, standards.accuracy, standards.alpha),
            above(e, standards.guess, standards.alpha),
        ]
    else:
        figures = [above(e, standards.concordance, standards.alpha)]
    return Evidence(tuple(figures), limits=(*limits, *_ceiling(question)))


def _repeat_is_known(beside: Estimate, margin: DecisionThreshold) -> bool:
    """Whether the rater's agreement with itself is known to within the margin, to each side."""
    ends = [beside.params.get(key) for key in ("repeat_low", "repeat_high")]
    if not beside.has_interval or None in ends:
        return False
    low, high = (float(str(end)) for end in ends)
    return high - low <= 2 * abs(margin.value)


def as_well_as_a_rater(question: Question, scope: str, target: Target) -> DecidingFigure | str:
    """The judge's tau-b beside that of these raters or the average one like them, or why not."""
    where: dict[str, Any] = {"scope": scope, "measure": ORDER}
    raters = question.estimates.select("rater_against_others")
    if (opposite := reversed_rater(raters, question.facts)) is not None:
        return f"the order of {opposite.scorers[0]} is opposite to that of the other raters"
    if target == "these_raters":
        difference = question.first("human_ceiling_difference", target=target, **where)
    else:
        difference = question.first("average_rater_difference", **where)
    if difference is None or not difference.has_interval:
        return why_missing(difference)
    return above(difference, question.standards.order, question.standards.alpha)


def _limits_of_order(question: Question, scope: str) -> Iterator[str]:
    margin = question.standards.order.value
    without = question.select(
        "agreement_without_one", scope="within_query", measure=ORDER, left_out="query"
    )
    for e in without:
        if e.defined and e.value <= 0:
            yield f"without the query {e.params['name']} its tau-b is {e.value:.2f}"
    whole = question.first(
        "human_ceiling_difference", scope=scope, measure=ORDER, target="these_raters"
    )
    meets = whole is not None and whole.defined and whole.value >= margin
    for e in question.select("difference_without_query", target="these_raters"):
        if meets and e.defined and e.value < margin:
            yield (
                f"without the query {e.params['name']} its tau-b is {-e.value:.2f} below a rater's"
            )
    pearson = question.first(
        "human_ceiling_difference", scope=scope, measure="pearson", target="these_raters"
    )
    if pearson is not None and pearson.has_interval and pearson.ci_high < 0:
        yield "by Pearson's r it agrees with people less than a rater does"
    yield from _ceiling(question)


def _ceiling(question: Question) -> Iterator[str]:
    share, facts = question.first("share_at_max", scope="pooled"), question.facts
    scale = facts.scorer_scale
    if share is None or not share.defined or scale is None or scale.two_valued:
        return
    people_share = 0.0 if math.isnan(facts.people_at_max) else facts.people_at_max
    if share.value >= max(CEILING, people_share + LESS_OFTEN):
        yield f"it does not distinguish the {share.value:.0%} of its scores at the maximum"


def report_level(question: Question, target: Target) -> Evidence | None:
    """Level: bias within the margin, and no system on which it is shown to be outside.

    Where people pass or fail responses it is the two rates: a difference of pass rates may vanish
    because wrong passes and wrong fails cancel each other.
    """
    classes, without_rate = _class_figures(question)
    if classes or without_rate is not None:
        if target == "raters_like_these":
            return None
        limits = (*_limits_of_level(question), *_pass_rates_apart(question), *_cut(question))
        return Evidence(classes, limits=limits, missing=without_rate)
    if question.facts.nominal:
        return Evidence(not_posed=NOMINAL)
    if question.standards.level is None:
        return Evidence(not_posed="no scale is declared")
    overall = _overall_bias(question, target)
    if isinstance(overall, str):
        return Evidence(missing=overall)
    order = _any_order(question)
    missing = order if isinstance(order, str) else None
    figures = (overall,) if isinstance(order, str) else (overall, order)
    system_biases = {
        system: question.first("bias", scope=f"system:{system}", target="these_raters")
        for system in question.facts.systems
    }
    if target == "raters_like_these":
        system_biases = {
            s: for_raters_like_these(e, overall.estimate) for s, e in system_biases.items()
        }
    by_system, limits = bias_by_system(
        system_biases, question.standards.level, question.standards.alpha
    )
    limits = (*_limits_of_level(question), *limits, *_calibration(question))
    return Evidence(figures, by_system, limits, missing)


def _limits_of_level(question: Question) -> Iterator[str]:
    yield from _ceiling(question)
    if question.facts.one_rating and not question.facts.adjudicated:
        yield ONE_RATER if question.facts.n_raters == 1 else ONE_RATING


def _pass_rates_apart(question: Question) -> Iterator[str]:
    """Whether the pass rates of judge and people are shown to differ by more than the margin."""
    bias = question.first("bias", scope="pooled", target="these_raters")
    level = question.standards.level
    if bias is None or level is None or not bias.has_interval:
        return
    if bias.ci_low > level.value or bias.ci_high < -level.value:
        points = f"{abs(bias.value):.0%} {'above' if bias.value > 0 else 'below'}"
        yield f"its pass rate is {points} people's"


def _overall_bias(question: Question, target: Target) -> DecidingFigure | str:
    """The bias for this target, or why it is missing."""
    bias = question.first("bias", scope="pooled", target=target)
    level = question.standards.level
    if bias is None or level is None or not bias.has_interval:
        return why_missing(bias)
    return within(bias, level, question.standards.alpha)


def _any_order(question: Question) -> DecidingFigure | str:
    """An order above chance: a judge without any relation to people may have their mean."""
    tau = question.first(ORDER, scope="pooled")
    if tau is None or not tau.has_interval:
        return why_missing(tau)
    return above(tau, question.standards.chance, question.standards.alpha)


def _calibration(question: Question) -> Iterator[str]:
    """People's values are far from the scores on average, given the score.

    A mean of responses that are better or worse than those rated is then off by more than the bias.
    """
    square = question.first("calibration_error_squared")
    scale, level = question.facts.human_scale, question.standards.level
    if square is None or not square.defined or scale is None or level is None or scale.two_valued:
        return
    error = math.sqrt(max(0.0, square.value))
    if error > FAR * level.value:
        yield (
            f"given its score, people's mean is {error / scale.width:.0%} of the scale away from "
            "it (calibration)"
        )


def _class_figures(question: Question) -> tuple[tuple[DecidingFigure, ...], str | None]:
    """True positive and true negative rate, where the construct has two values.

    With them, why one of the two is missing.
    """
    standards, figures, missing = question.standards, [], None
    for statistic in ("true_positive_rate", "true_negative_rate"):
        e = question.first(statistic, scope="pooled")
        if e is None:
            continue
        if e.has_interval:
            figures.append(above(e, standards.true_rate, standards.alpha))
        else:
            missing = missing or f"{statistic.replace('_', ' ')}: {why_missing(e)}"
    return tuple(figures), missing


def _cut(question: Question) -> Iterator[str]:
    """Whether the two rates are at a cut whose own uncertainty their intervals lack."""
    e = question.first("true_positive_rate", scope="pooled")
    covers = None if e is None else e.params.get("measured_coverage")
    if e is not None and covers is not None:
        yield (
            f"intervals at its cut of {e.params['cut']:g}, chosen by these ratings, cover "
            f"{float(str(covers)):.0%} in simulations: check the rates on new ratings"
        )


def why_missing(e: Estimate | None) -> str:
    """Why there is no figure to decide by."""
    if e is None:
        return "it was not computed"
    return e.reason or "it has no interval"
