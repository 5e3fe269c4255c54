"""Interval of a share of responses that come in queries: Wilson's, with the effective number.

The effective number of responses is p (1 - p) / v, with v the variance of the share from leaving
queries out, and at most the number of responses; at a share of 0 or 1, where v is 0, it is the
number of queries that contribute. The normal quantile is replaced by that of t with one degree of
freedom less than queries. The end next to 0 or 1 is Clopper and Pearson's if that is further out:
Wilson's covers .86 where the share is closer to 1 than one response. It exists at shares of 0 and
1, where the jackknife on the logit scale has no interval (tests/coverage/binary_rates.csv).
Sources: Wilson (1927), Journal of the American Statistical Association 22:209-212; effective
numbers: Korn and Graubard (1998), Survey Methodology 24:193-201; Franco et al. (2019), Journal of
Survey Statistics and Methodology 7:334-364.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, ndtri

from analysis.core.arrays import FloatArray
from analysis.core.computation import t_quantile
from analysis.core.interval import Interval, withheld

METHOD = "wilson_effective_number"

#: A variance below this is rounding error of equal leave-one-out shares.
_NO_VARIANCE = 1e-24


def clustered_share(hits: FloatArray, of: FloatArray, level: float = 0.95) -> Interval:
    """Interval of sum(hits) / sum(of), both (Q,) sums by query.

    Withheld where fewer than two queries have any of `of`.
    """
    used = of > 0
    count = int(np.count_nonzero(used))
    if count < 2:
        why = f"an interval needs at least 2 queries, there is {count}" if count else "no query"
        return withheld(level, METHOD, why)
    hits, of = hits[used], of[used]
    share = float(hits.sum() / of.sum())
    without = (hits.sum() - hits) / (of.sum() - of)
    variance = float((count - 1) / count * np.sum((without - without.mean()) ** 2))
    binomial = share * (1 - share)
    effective = min(float(count), float(of.sum()))
    if variance > _NO_VARIANCE and binomial > 0:
        effective = min(float(of.sum()), binomial / variance)
    z = t_quantile(1 - (1 - level) / 2, count - 1.0)
    square = z * z / effective
    center = (share + square / 2) / (1 + square)
    reach = z / (1 + square) * np.sqrt(binomial / effective + square / (4 * effective))
    low, high = max(0.0, center - reach), min(1.0, center + reach)
    if share > 0.5:
        high = max(high, _exact_end(1 - share, effective, z, level))
    else:
        low = min(low, 1 - _exact_end(share, effective, z, level))
    return Interval(float(low), float(high), level, METHOD)


def _exact_end(missed: float, effective: float, z: float, level: float) -> float:
    """Clopper and Pearson's end next to 1 of a share of which `missed` are missing.

    The effective number is smaller by the squared quotient of the normal quantile and that of t.
    """
    if missed <= 0:
        return 1.0
    tail = (1 - level) / 2
    number = effective * (float(ndtri(1 - tail)) / z) ** 2
    return 1 - float(betaincinv(missed * number, (1 - missed) * number + 1, tail))
