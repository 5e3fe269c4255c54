"""Figures held against thresholds: how well the data support or contradict each."""

from __future__ import annotations

import math
from dataclasses import replace

from analysis.core.distributions import normal_quantile, normal_tail
from analysis.core.estimates import Estimate
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.records import DecidingFigure, DecisionThreshold


def p_at_most(e: Estimate, threshold: float) -> float:
    """One-sided p of the truth being at most the threshold; 1 without an interval.

    An interval of a method that states no error, such as Wilson's, is taken as normal between the
    value and the end that faces the threshold.
    """
    if e.uncertainty is not None:
        return e.uncertainty.p_at_most(e.value, threshold)
    if not e.has_interval or e.ci_level is None:
        return 1.0
    end = e.ci_low if threshold <= e.value else e.ci_high
    half_width = abs(e.value - end)
    if half_width == 0:
        return 0.0 if threshold < end else 1.0
    quantile = normal_quantile((1 + e.ci_level) / 2)
    return normal_tail(quantile * (e.value - threshold) / half_width)


def p_at_least(e: Estimate, threshold: float) -> float:
    """One-sided p of the truth being at least the threshold; 1 without an interval."""
    return 1 - p_at_most(e, threshold) if _tested(e) else 1.0


def _tested(e: Estimate) -> bool:
    return e.uncertainty is not None or (e.has_interval and e.ci_level is not None)


def above(e: Estimate, threshold: DecisionThreshold, weaker: float, alpha: float) -> DecidingFigure:
    """The figure is above the minimum; `weaker` is the weaker minimum.

    `alpha` is the one-sided level for which further queries are counted.
    """
    minimum = threshold.value
    return DecidingFigure(
        e,
        threshold,
        p_at_most(e, minimum),
        p_at_most(e, weaker),
        p_at_least(e, minimum),
        e.defined and e.value > minimum,
        _factor(e, minimum, alpha),
    )


def within(
    e: Estimate, threshold: DecisionThreshold, weaker: float, alpha: float
) -> DecidingFigure:
    """The figure is between the ends of a margin; `weaker` is the wider margin.

    Two one-sided tests: both ends must be excluded (Schuirmann 1987). It is outside where one end
    is: a value can be beyond one of them only, so that one test is made.
    """
    margin = threshold.value
    supports, supports_weaker = (max(p_at_most(e, -m), p_at_least(e, m)) for m in (margin, weaker))
    against = min(p_at_most(e, margin), p_at_least(e, -margin))
    nearer = math.copysign(margin, e.value) if e.defined else math.nan
    return DecidingFigure(
        e,
        threshold,
        supports,
        supports_weaker,
        against,
        e.defined and abs(e.value) < margin,
        _factor(e, nearer, alpha),
    )


def weaker_by(figure: DecidingFigure, p_weak: float) -> DecidingFigure:
    """The figure with another weaker statement."""
    return replace(figure, p_weak=p_weak)


def _factor(e: Estimate, threshold: float, alpha: float) -> float | None:
    uncertainty = e.uncertainty or _normal(e)
    if uncertainty is None or not e.defined:
        return None
    return uncertainty.factor(e.value, threshold, alpha)


def _normal(e: Estimate) -> Uncertainty | None:
    """The error of an interval taken as symmetric and normal."""
    if not e.has_interval or e.ci_level is None:
        return None
    error = (e.ci_high - e.ci_low) / 2 / normal_quantile((1 + e.ci_level) / 2)
    return Uncertainty((error**2,), (math.inf,))
