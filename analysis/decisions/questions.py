"""What each question asks of the figures of one judge on one construct."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER
from analysis.decisions.figures import above, p_at_least, p_at_most, weaker_by, within
from analysis.decisions.records import DecidingFigure
from analysis.decisions.standards import ENOUGH_RATERS, WEAKER, Standards

#: Share of a judge's scores at the maximum from which a yes is qualified.
CEILING = 0.5

ONE_RATER = "it is known against this one rater only"

NOMINAL = "its values name categories, which have no order and no distance"


@dataclass(frozen=True)
class Question:
    """One judge on one construct."""

    analysis: Analysis
    construct: str
    scorer: str
    standards: Standards

    def first(self, statistic: str, **where: Any) -> Estimate | None:
        """The figure of this judge on this construct, if it was computed."""
        return self.analysis.estimates.first(
            statistic, construct=self.construct, scorer=self.scorer, **where
        )

    def select(self, statistic: str, **where: Any) -> list[Estimate]:
        """The figures of this judge on this construct."""
        return self.analysis.estimates.select(
            statistic, construct=self.construct, scorer=self.scorer, **where
        )

    @property
    def nominal(self) -> bool:
        """Whether the construct's values only name categories."""
        return self.analysis.context.nominal([self.construct])


@dataclass(frozen=True)
class Evidence:
    """Figures that must all speak for the use, what qualifies a yes, and what is missing.

    Where something is missing, the figures that are known may still speak against the use.
    """

    figures: tuple[DecidingFigure, ...] = ()
    limits: tuple[str, ...] = ()
    missing: str | None = None


def choose_between_responses(question: Question) -> Evidence:
    """Order within a query: no worse than a rater, and better than chance."""
    if question.nominal:
        return Evidence(missing=NOMINAL)
    standards, scope = question.standards, {"scope": "within_query"}
    order = as_well_as_a_rater(question, "within_query")
    missing = [order] if isinstance(order, str) else []
    figures = [] if isinstance(order, str) else [order]
    for statistic, threshold, weaker in (
        ("pairwise_accuracy_difference", standards.accuracy, standards.weak_order),
        (ORDER, standards.chance, 0.0),
    ):
        e = question.first(statistic, **scope)
        if e is None or not e.has_interval:
            missing.append(_why(e))
        else:
            figures.append(above(e, threshold, weaker, standards.alpha))
    limits = tuple(_limits_of_order(question))
    return Evidence(tuple(figures), limits, missing[0] if missing else None)


def as_well_as_a_rater(question: Question, scope: str) -> DecidingFigure | str:
    """The judge's tau-b beside that of the average rater like these, or why there is none."""
    where: dict[str, Any] = {"scope": scope, "measure": ORDER}
    difference = question.first("average_rater_difference", **where)
    if difference is None or not difference.has_interval:
        return _why(difference)
    standards = question.standards
    figure = above(difference, standards.order, standards.weak_order, standards.alpha)
    if difference.n_raters >= ENOUGH_RATERS:
        return figure
    panel = question.first("human_ceiling_difference", target="these_raters", **where)
    if panel is None:
        return figure
    return weaker_by(figure, p_at_most(panel, standards.order.value))


def _limits_of_order(question: Question) -> Iterator[str]:
    margin = question.standards.order.value
    without = question.select(
        "agreement_without_one", scope="within_query", measure=ORDER, left_out="query"
    )
    for e in without:
        if e.defined and e.value <= 0:
            yield f"without the query {e.params['name']} its tau-b is {e.value:.2f}"
    for e in question.select("difference_without_query", target="these_raters"):
        if e.defined and e.value < margin:
            yield (
                f"without the query {e.params['name']} its tau-b is {-e.value:.2f} below a rater's"
            )
    pearson = question.first(
        "human_ceiling_difference", scope="within_query", measure="pearson", target="these_raters"
    )
    if pearson is not None and pearson.has_interval and pearson.ci_high < 0:
        yield "by Pearson's r it agrees with people less than a rater does"
    yield from _ceiling(question)


def _ceiling(question: Question) -> Iterator[str]:
    share = question.first("share_at_max", scope="pooled")
    scale = question.analysis.scores.scale(question.construct, question.scorer)
    if share is None or not share.defined or scale is None or scale.two_valued:
        return
    if share.value >= CEILING:
        yield f"it does not distinguish the {share.value:.0%} of its scores at the maximum"


def report_level(question: Question) -> Evidence:
    """Level: bias within the margin for raters like these, overall and by system."""
    classes, limits = tuple(_of_classes(question)), list(_cut(question))
    if question.nominal:
        return Evidence(classes, tuple(limits)) if classes else Evidence(missing=NOMINAL)
    standards, level = question.standards, question.standards.level
    panel = question.first("bias", scope="pooled", target="these_raters")
    further = question.first("bias", scope="pooled", target="raters_like_these")
    bias = further
    limits += _ceiling(question)
    data = question.analysis.rated[question.construct]
    if data.reference_kind == "adjudicated":
        bias = panel
    elif len(data.raters) == 1:
        bias = panel
        limits.append(ONE_RATER)
    limits += _calibration(question)
    if classes and (bias is None or not bias.defined):
        # Scores on a scale of their own have no bias, but a cut.
        return Evidence(classes, tuple(limits))
    if level is None or bias is None or not bias.has_interval:
        return Evidence(classes, missing=_why(bias))
    wider = WEAKER * level.value
    overall = within(bias, level, wider, standards.alpha)
    if bias is further and panel is not None and bias.n_raters < ENOUGH_RATERS:
        margin = level.value
        overall = weaker_by(overall, max(p_at_most(panel, -margin), p_at_least(panel, margin)))
    figures, missing = [overall], []
    for system in data.systems if len(data.systems) > 1 else ():
        e = question.first("bias", scope=f"system:{system}", target="these_raters")
        if e is None:
            missing.append(f"{system}: no response has both a score of the judge and a rating")
        elif not e.has_interval:
            missing.append(f"{system}: {_why(e)}")
        else:
            figures.append(within(e, level, wider, standards.alpha))
    figures += classes
    tau = question.first(ORDER, scope="pooled")
    if tau is None or not tau.has_interval:
        missing.append(_why(tau))
    else:
        figures.append(above(tau, standards.chance, 0.0, standards.alpha))
    return Evidence(tuple(figures), tuple(limits), missing[0] if missing else None)


def _calibration(question: Question) -> Iterator[str]:
    """People's values are far from the scores on average, given the score.

    A mean of responses that are better or worse than those rated is then off by more than the bias.
    """
    square = question.first("calibration_error_squared")
    scale, level = (
        question.analysis.context.human_scale(question.construct),
        question.standards.level,
    )
    if square is None or not square.defined or scale is None or level is None or scale.two_valued:
        return
    error = math.sqrt(max(0.0, square.value))
    if error > WEAKER * level.value:
        yield (
            f"given its score, people's mean is {error / scale.width:.0%} of the scale away from "
            "it (calibration)"
        )


def _of_classes(question: Question) -> Iterator[DecidingFigure]:
    """True positive and true negative rate, where the construct has two values."""
    standards = question.standards
    for statistic in ("true_positive_rate", "true_negative_rate"):
        e = question.first(statistic, scope="pooled")
        if e is not None:
            yield above(e, standards.true_rate, standards.weak_true_rate, standards.alpha)


def _cut(question: Question) -> Iterator[str]:
    """Whether the two rates are at a cut whose own uncertainty their intervals lack."""
    e = question.first("true_positive_rate", scope="pooled")
    covers = None if e is None else e.params.get("measured_coverage")
    if e is not None and covers is not None:
        yield (
            f"intervals at its cut of {e.params['cut']:g}, chosen by these ratings, cover "
            f"{float(str(covers)):.0%} in simulations: check the rates on new ratings"
        )


def _why(e: Estimate | None) -> str:
    """Why there is no figure to decide by."""
    if e is None:
        return "it was not computed"
    return e.reason or "it has no interval"
