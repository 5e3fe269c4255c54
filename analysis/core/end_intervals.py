"""Intervals without a spread of resamples: at the end of a range, and of equal values.

Where every pair of responses is ordered alike, or every response passes, resamples are all equal,
and say nothing of what was not seen. The interval is then that of a share of which all independent
trials succeed (Clopper and Pearson 1934, Biometrika 26:404-413): its other end is (alpha/2)^(1/n),
.96 for 100 responses. Where a mean is of equal values, one response more that differs by a single
step would give an error of a step divided by n, which is taken.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from analysis.core.distributions import t_quantile
from analysis.core.interval import Interval
from analysis.core.uncertainty import Uncertainty

ALL_ALIKE = "exact_at_the_end"
EQUAL_VALUES = "one_step"

#: Where a scorer ties all pairs, one response more of n that is ordered moves the share of pairs
#: ordered alike by about this, divided by n.
STEP_OF_ORDER = 1.0


def all_alike(value: float, ends: tuple[float, float], trials: float, level: float) -> Interval:
    """Interval of a value at one end of its range, which rests on so many independent trials."""
    low, high = ends
    other = ((1 - level) / 2) ** (1 / trials)
    uncertainty = Uncertainty((), (), trials=trials, range=ends)
    at_high = value >= high
    near = low + (high - low) * (other if at_high else 1 - other)
    # A share has no p of 0, which is an end of its range.
    p = min(1.0, 2 * 0.5**trials) if low < 0 < high else math.nan
    first, last = (near, high) if at_high else (low, near)
    return Interval(first, last, level, ALL_ALIKE, p=p, uncertainty=uncertainty)


def few_differ(values: Sequence[float]) -> bool:
    """Whether a figure's values without each response are moved by few of them.

    Half or more are equal, up to float noise, or one response has more than half of the variance.
    """
    if not values:
        return False
    mean = math.fsum(values) / len(values)
    squares = [(value - mean) ** 2 for value in values]
    if 2 * max(squares) > math.fsum(squares) > 0:
        return True
    return mostly_equal(values)


def mostly_equal(values: Sequence[float]) -> bool:
    """Whether half or more of the values are equal, up to float noise.

    So it is where a judge differs from people on few responses. On the scale of Fisher's z, which
    is half the logit of (1 + r) / 2, these are a rare event as for a share: the degrees of freedom
    are those of all responses. In simulations of kappa of verdicts (24 to 400 responses of which
    60 or 90% pass and 1 to 20% differ) the interval then covers as by the responses that differ
    (.00 to .03 less, most for 24 and 50 responses), and is down to a third as wide.
    """
    scale = max(map(abs, values), default=0.0) or 1.0
    counts = Counter(round(value / scale, 12) for value in values).most_common(1)
    return bool(counts) and 2 * counts[0][1] >= len(values)


def rare_quantile(probability: float, df: float, count: int) -> float:
    """t quantile of a figure of `count` separate responses, most of which do not change it.

    Where a single response in a hundred differs, its own degree of freedom would ask for 13 times
    the error, and more responses that differ for less: a worse judge would look surer. One response
    more that is as far off has 1 + 2/df times the variance; the smaller of the two is taken. In
    simulations of 50 to 400 responses of which 1 to 30% differ, the interval then covers as much as
    by the degrees of freedom alone where responses differ to both sides, and .00 to .02 less where
    all differ to one side.
    """
    alone = t_quantile(probability, df)
    return min(alone, math.sqrt(1 + 2 / df) * t_quantile(probability, count - 1.0))


def equal_values_interval(value: float, step: float, count: int, level: float) -> Interval:
    """Interval of a mean of equal values of `count` queries, on a scale with this step."""
    error, df = step / count, count - 1.0
    reach = t_quantile((1 + level) / 2, df) * error
    uncertainty = Uncertainty((error**2,), (df,))
    p = 2 * min(uncertainty.p_at_most(value, 0.0), uncertainty.p_at_least(value, 0.0))
    return Interval(value - reach, value + reach, level, EQUAL_VALUES, p=p, uncertainty=uncertainty)
