"""Figures of pairs of points that two scorers order, from sums over the pairs.

Each takes, under every row of weights (R,), the concordant minus the discordant pairs, the pairs
that x does not tie, and those that y does not tie.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.core.arrays import FloatArray
from analysis.core.query_statistic import ratio

PairFigure = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def tau_b(score: FloatArray, untied_x: FloatArray, untied_y: FloatArray) -> FloatArray:
    """Kendall's tau-b (Kendall 1945, Biometrika 33:239-251)."""
    # The root of a square is exact: a perfect order is 1, and not a rounding error more.
    scale = np.sqrt(untied_x * untied_y)
    return ratio(score, scale, scale > 0)


def concordance(score: FloatArray, untied_x: FloatArray, untied_y: FloatArray) -> FloatArray:
    """Share of the pairs that y orders which x orders alike; a tie of x counts half.

    Harrell's c (Harrell, Lee and Mark 1996, Statistics in Medicine 15:361-387).
    """
    del untied_x
    return ratio(score + untied_y, 2 * untied_y, untied_y > 0)
