"""Williams' test: do two scorers correlate equally with a third, all on the same responses?

The three correlations are Pearson's, of independent responses whose values are jointly normal. It
does not apply to correlations within queries, nor to responses that share queries.
Source: Williams (1959), Journal of the Royal Statistical Society B 21:396-399; recommended by
Steiger (1980), Psychological Bulletin 87:245-251, equation 7, and for judges of translations by
Graham and Baldwin (2014), EMNLP, 172-176.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special


class Williams(NamedTuple):
    """The statistic, its degrees of freedom and the two-sided p; NaN where undefined."""

    t: float
    df: int
    p: float


def williams(first: float, second: float, between: float, n: int) -> Williams:
    """Test `first` against `second`, the correlations of two scorers with people.

    `between` is the correlation of the two scorers, `n` the number of responses. NaN with fewer
    than 4 responses, and where the two scorers are one up to scale. ValueError where a correlation
    is outside of -1 to 1.
    """
    for value in (first, second, between):
        if not abs(value) <= 1:
            raise ValueError(f"correlation {value}: expected -1 to 1")
    df = n - 3
    nan = float("nan")
    if df < 1:
        return Williams(nan, df, nan)
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    variance = 2 * (n - 1) / df * determinant + mean**2 * (1 - between) ** 3
    if between >= 1 or variance <= 0:
        return Williams(nan, df, nan)
    t = float((first - second) * np.sqrt((n - 1) * (1 + between) / variance))
    return Williams(t, df, float(2 * special.stdtr(df, -abs(t))))
