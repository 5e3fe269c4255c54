"""Figures held against thresholds: how well the data support or contradict each."""

from __future__ import annotations

import math
from dataclasses import replace

from analysis.core.distributions import normal_quantile
from analysis.core.estimates import Estimate
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.records import DecidingFigure, DecisionThreshold


def p_at_most(e: Estimate, threshold: float) -> float:
    """One-sided p of the truth being at most the threshold; 1 without an interval."""
    uncertainty = _of(e, threshold)
    return 1.0 if uncertainty is None else uncertainty.p_at_most(e.value, threshold)


def p_at_least(e: Estimate, threshold: float) -> float:
    """One-sided p of the truth being at least the threshold; 1 without an interval."""
    uncertainty = _of(e, threshold)
    return 1.0 if uncertainty is None else uncertainty.p_at_least(e.value, threshold)


def above(e: Estimate, threshold: DecisionThreshold, alpha: float) -> DecidingFigure:
    """The figure is above the minimum; further queries are counted at the one-sided alpha."""
    minimum = threshold.value
    p = p_at_most(e, minimum)
    return DecidingFigure(
        e,
        threshold,
        p,
        p_at_least(e, minimum),
        1 - p,
        e.defined and e.value > minimum,
        *_factors(e, minimum, alpha),
    )


def below(e: Estimate, threshold: DecisionThreshold, alpha: float) -> DecidingFigure:
    """The figure is at most the maximum."""
    maximum = threshold.value
    return DecidingFigure(
        e,
        threshold,
        p_at_least(e, maximum),
        p_at_most(e, maximum),
        _probability(e, -math.inf, maximum),
        e.defined and e.value <= maximum,
        *_factors(e, maximum, alpha),
    )


def within(e: Estimate, threshold: DecisionThreshold, alpha: float) -> DecidingFigure:
    """The figure is between the ends of a margin.

    Two one-sided tests: both ends must be excluded (Schuirmann 1987). It is outside where one end
    is: a value can be beyond one of them only, so that one test is made.
    """
    margin = threshold.value
    nearer = math.copysign(margin, e.value) if e.defined else math.nan
    return DecidingFigure(
        e,
        threshold,
        max(p_at_most(e, -margin), p_at_least(e, margin)),
        min(p_at_most(e, margin), p_at_least(e, -margin)),
        _probability(e, -margin, margin),
        e.defined and abs(e.value) < margin,
        *_factors(e, nearer, alpha),
    )


def at_level(figure: DecidingFigure, alpha: float) -> DecidingFigure:
    """The figure with the interval of the one-sided level at which it is decided."""
    e = figure.estimate
    if not e.has_interval or e.ci_level is None:
        return figure
    low, high = (_ends(_of(e, side), e, alpha) for side in (-math.inf, math.inf))
    return replace(
        figure, estimate=replace(e, ci_low=low[0], ci_high=high[1], ci_level=1 - 2 * alpha)
    )


def _ends(uncertainty: Uncertainty | None, e: Estimate, alpha: float) -> tuple[float, float]:
    return (e.ci_low, e.ci_high) if uncertainty is None else uncertainty.interval(e.value, alpha)


def _probability(e: Estimate, low: float, high: float) -> float:
    uncertainty = _of(e, high if math.isfinite(high) else low)
    return math.nan if uncertainty is None else uncertainty.probability(e.value, low, high)


def _factors(e: Estimate, threshold: float, alpha: float) -> tuple[float | None, float | None]:
    """By how much queries, or raters, must grow to decide."""
    uncertainty = _of(e, threshold)
    if uncertainty is None or not e.defined or not math.isfinite(threshold):
        return None, None
    return (
        uncertainty.factor(e.value, threshold, alpha),
        uncertainty.raters_factor(e.value, threshold, alpha),
    )


def _of(e: Estimate, threshold: float) -> Uncertainty | None:
    """The error of a figure, None without an interval.

    An interval of a method that states no error, such as Wilson's, is taken as normal between the
    value and the end that faces the threshold.
    """
    if e.uncertainty is not None:
        return e.uncertainty
    if not e.has_interval or e.ci_level is None or not e.defined:
        return None
    end = e.ci_low if threshold <= e.value else e.ci_high
    error = abs(e.value - end) / normal_quantile((1 + e.ci_level) / 2)
    return Uncertainty((error**2,), (math.inf,))
