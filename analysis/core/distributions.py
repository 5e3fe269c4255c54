"""Normal, t and beta distributions in plain Python, for figures that must not wait for SciPy.

Importing `scipy.special` takes longer than a report on two columns. The results equal SciPy's to 12
digits (tests/analysis/core/test_distributions.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()

#: Terms of the continued fraction after which it is taken as it is; some 30 are usual.
_TERMS = 500
_TINY = 1e-300

#: From here on differences of log-gamma values would lose digits.
_LARGE = 100.0


def normal_tail(z: float) -> float:
    """Probability of a value above z."""
    return math.erfc(z / math.sqrt(2)) / 2


def normal_quantile(probability: float) -> float:
    """The value below which a normal variable is with this probability, above 0 and below 1."""
    return _NORMAL.inv_cdf(probability)


def t_tail(t: float, df: float) -> float:
    """Probability of Student's t with df degrees of freedom above t; df may be infinite."""
    if math.isnan(t) or math.isnan(df):
        return math.nan
    if math.isinf(df):
        return normal_tail(t)
    square = t * t
    if math.isinf(square):
        return 0.0 if t > 0 else 1.0
    # Either the tail itself or, near 0, the center is computed without a difference.
    if square < min(1.0, df):
        half = 0.5 * (1 - _regularized(0.5, df / 2, square / (df + square)))
    else:
        half = 0.5 * _regularized(df / 2, 0.5, df / (df + square))
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """The value below which Student's t is with this probability; df may be infinite."""
    if math.isnan(probability) or math.isnan(df) or df <= 0:
        return math.nan
    if not 0 < probability < 1:
        return math.nan if not 0 <= probability <= 1 else math.copysign(math.inf, probability - 0.5)
    if probability == 0.5:
        return 0.0
    tail = min(probability, 1 - probability)
    sign = 1.0 if probability > 0.5 else -1.0
    if math.isinf(df):
        return sign * -normal_quantile(tail)
    return sign * _t_above(tail, df)


def _t_above(tail: float, df: float) -> float:
    """The t with this probability above it, by Newton's method from the normal quantile."""
    z = -normal_quantile(tail)
    # Cornish and Fisher's expansion to first order.
    t = z + (z**3 + z) / (4 * df)
    log_beta = _log_beta(max(df / 2, 0.5), min(df / 2, 0.5))
    for _ in range(20):
        density = math.exp(-log_beta - (df + 1) / 2 * math.log1p(t * t / df)) / math.sqrt(df)
        step = (t_tail(t, df) - tail) / density
        t += step
        if not 0 < t < 1e6:
            break
        if abs(step) <= 1e-14 * t:
            return t
    low, high = 0.0, 1.0
    while t_tail(high, df) > tail:
        low, high = high, high * 2
        if math.isinf(high):
            return math.inf
    return _root(lambda x: t_tail(x, df) - tail, low, high)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """The value below which a beta(a, b) variable is with this probability."""
    if probability <= 0 or probability >= 1:
        return 0.0 if probability <= 0 else 1.0
    return _root(lambda x: probability - _regularized(a, b, x), 0.0, 1.0)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is 0, between its positive and its negative end (Brent 1973)."""
    a, b = low, high
    fa, fb = function(a), function(b)
    if fa == 0:
        return a
    if abs(fa) < abs(fb):
        a, b, fa, fb = b, a, fb, fa
    c, fc, step, halved = a, fa, b - a, True
    for _ in range(200):
        if fb == 0 or abs(b - a) <= 4e-16 * abs(b):
            break
        if fa not in (fc, fb) and fb != fc:
            s = (
                a * fb * fc / ((fa - fb) * (fa - fc))
                + b * fa * fc / ((fb - fa) * (fb - fc))
                + c * fa * fb / ((fc - fa) * (fc - fb))
            )
        else:
            s = b - fb * (b - a) / (fb - fa)
        between = min((3 * a + b) / 4, b) < s < max((3 * a + b) / 4, b)
        reach = abs(b - c) if halved else abs(c - step)
        if not between or abs(s - b) >= reach / 2:
            s, halved = (a + b) / 2, True
        else:
            halved = False
        fs = function(s)
        step, c, fc = c, b, fb
        if (fa > 0) != (fs > 0):
            b, fb = s, fs
        else:
            a, fa = s, fs
        if abs(fa) < abs(fb):
            a, b, fa, fb = b, a, fb, fa
    return b


def _regularized(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _regularized(b, a, 1 - x)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - _log_beta(max(a, b), min(a, b)))
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            c = 1 + term / c
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * value / a


def _log_beta(large: float, small: float) -> float:
    """Logarithm of the beta function; of a large argument by Stirling's series."""
    if large < _LARGE:
        return math.lgamma(large) + math.lgamma(small) - math.lgamma(large + small)
    total = large + small
    rest = _stirling(large) - _stirling(total)
    power = (large - 0.5) * math.log1p(small / large)
    return math.lgamma(small) - power - small * math.log(total) + small + rest


def _stirling(x: float) -> float:
    return 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5)
