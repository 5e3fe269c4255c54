"""The error of a figure by its sources, from which it is tested against any threshold.

An interval shows one level and its p one value, 0. A claim that is corrected for several others
needs further levels, and a margin is another value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from analysis.core.computation import p_by_source, two_sided_p
from analysis.core.distributions import t_quantile

Transform = Literal["fisher_z", "logit", "skewness"]


@dataclass(frozen=True)
class Uncertainty:
    """Variances of a figure by source with their degrees of freedom, on the scale of `transform`.

    The first source is the sample of queries, a second one that of raters. The half width of an
    interval squared is the sum of each variance times its squared t quantile.
    """

    variances: tuple[float, ...]
    dfs: tuple[float, ...]
    transform: Transform | None = None
    skewness: float = 0.0
    """Of the figure by its jackknife, where the transform is for it."""
    trials: float = 0
    """For a figure at an end of its range: the number of independent trials that all went this
    way. It has no variance; its p is that of as many successes (Clopper and Pearson 1934)."""
    range: tuple[float, float] = (0.0, 1.0)
    """The ends, where there are such trials."""

    def p_at_most(self, value: float, threshold: float) -> float:
        """One-sided p of the truth being at most the threshold: small where it is above."""
        if self.trials:
            return self._p_of_trials(value, threshold)
        distance = self.distance(value, threshold)
        if math.isnan(distance):
            return 1.0
        error = math.sqrt(sum(self.variances))
        if self.transform == "skewness" and error > 0:
            from analysis.core.skewness import without_skewness

            distance = error * without_skewness(distance / error, self.skewness)
        if distance == 0 or not error > 0:
            return 0.0 if distance > 0 else 1.0 if distance < 0 else 0.5
        if len(self.variances) == 1:
            beyond = two_sided_p(distance / error, self.dfs[0]) / 2
        else:
            beyond = p_by_source(distance, self.variances, self.dfs) / 2
        return beyond if distance > 0 else 1 - beyond

    def p_at_least(self, value: float, threshold: float) -> float:
        """One-sided p of the truth being at least the threshold: small where it is below."""
        if not self.trials and math.isnan(self.distance(value, threshold)):
            return 1.0
        return 1 - self.p_at_most(value, threshold)

    def probability(self, value: float, low: float, high: float) -> float:
        """Probability of the truth being between two values, under a flat prior.

        It is flat on the scale of `transform`, so that P(truth <= x) is the one-sided p at x.
        """
        upper = 1.0 if math.isinf(high) else self.p_at_most(value, high)
        lower = 0.0 if math.isinf(low) else self.p_at_most(value, low)
        return max(0.0, upper - lower)

    def interval(self, value: float, alpha: float) -> tuple[float, float]:
        """Ends where the one-sided tests at alpha stop: an interval of level 1 - 2 alpha."""
        if self.trials:
            low, high = self.range
            share = alpha ** (1 / self.trials)
            if value >= high:
                return low + (high - low) * share, high
            return low, low + (high - low) * (1 - share)
        parts = zip(self.variances, self.dfs, strict=True)
        reach = math.sqrt(sum(t_quantile(1 - alpha, df) ** 2 * part for part, df in parts))
        at, error = self._scaled(value), math.sqrt(sum(self.variances))
        if self.transform == "skewness" and error > 0:
            from analysis.core.skewness import with_skewness

            t = reach / error
            return tuple(at - with_skewness(of, self.skewness) * error for of in (t, -t))  # type: ignore[return-value]
        return self._unscaled(at - reach), self._unscaled(at + reach)

    def _p_of_trials(self, value: float, threshold: float) -> float:
        low, high = self.range
        share = min(1.0, max(0.0, (threshold - low) / (high - low)))
        if value >= high:
            return float(share**self.trials)
        return 1 - float((1 - share) ** self.trials)

    def distance(self, value: float, threshold: float) -> float:
        """Value minus threshold on the scale of the variances."""
        return self._scaled(value) - self._scaled(threshold)

    def raters_factor(self, value: float, threshold: float, alpha: float) -> float | None:
        """By how much the raters must grow for a bound at the threshold, queries as they are.

        None where raters are not a source of error, or where the queries' part alone is too large.
        """
        distance = self.distance(value, threshold)
        if len(self.variances) < 2 or not math.isfinite(distance) or distance == 0:
            return None
        queries_part = t_quantile(1 - alpha, self.dfs[0]) ** 2 * self.variances[0]
        room, raters = distance**2 - queries_part, self.dfs[1] + 1
        if not room > 0:
            return None

        def enough(factor: float) -> bool:
            quantile = t_quantile(1 - alpha, raters * factor - 1)
            return bool(quantile**2 * self.variances[1] / factor <= room)

        factor = 1.0
        while not enough(factor) and factor < 1000:
            factor += 1 / raters
        return factor if enough(factor) else None

    def factor(self, value: float, threshold: float, alpha: float) -> float | None:
        """By how much the queries must grow for a bound at the threshold, if the value stays."""
        if not self.trials:
            return self.queries_factor(self.distance(value, threshold), alpha)
        p = min(self.p_at_most(value, threshold), self.p_at_least(value, threshold))
        return math.log(alpha) / math.log(p) if 0 < p < 1 else None

    def queries_factor(self, distance: float, alpha: float) -> float | None:
        """By how much the queries must grow for a bound at this distance, one-sided at alpha.

        The degrees of freedom of the queries grow with them. None where the raters' part alone is
        too large, or the distance is 0.
        """
        if not math.isfinite(distance) or distance == 0:
            return None
        others = zip(self.variances[1:], self.dfs[1:], strict=True)
        room = distance**2 - sum(t_quantile(1 - alpha, df) ** 2 * part for part, df in others)
        if not room > 0:
            return None
        ratio, df = self.variances[0] / room, self.dfs[0]

        def needed(factor: float) -> float:
            return float(t_quantile(1 - alpha, df * max(1.0, factor))) ** 2 * ratio

        # More queries need a smaller quantile, so that the factor is between these two.
        low, high = needed(math.inf), needed(1.0)
        while high - low > 0.01 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if needed(middle) > middle else (low, middle)
        return high

    def _scaled(self, value: float) -> float:
        if self.transform == "fisher_z":
            return math.atanh(value) if abs(value) < 1 else math.copysign(math.inf, value)
        if self.transform == "logit":
            return (
                math.log(value / (1 - value))
                if 0 < value < 1
                else math.copysign(math.inf, value - 0.5)
            )
        return value

    def _unscaled(self, value: float) -> float:
        if self.transform == "fisher_z":
            return math.tanh(value)
        if self.transform == "logit":
            return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
        return value
