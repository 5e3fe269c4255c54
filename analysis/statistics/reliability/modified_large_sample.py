"""Bounds on differences of mean squares, when one of them has few degrees of freedom.

With 3 raters the mean square between raters has 2 degrees of freedom, and may by chance be a
fortieth of its expectation. Satterthwaite's approximation takes the estimate for the truth when it
counts degrees of freedom: intervals of ICC(A,1) then covered .77 at strong severity (standard
deviation 12 beside 15.6 of responses). The modified large-sample bounds below kept .94 to .97.
Sources: Ting, Burdick, Graybill, Jeyaratnam and Lu (1990), Journal of Statistical Computation and
Simulation 35:135-143; for the intraclass correlation Cappelleri and Ting (2003), Statistics in
Medicine 22:1861-1877.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.core.quantiles import chi2_quantile, f_quantile


@dataclass(frozen=True)
class Contrast:
    """Bounds on the expectation of first - second - third, terms proportional to mean squares.

    `df` are the degrees of freedom of the three; `tail` is the error allowed on each side. With
    second = 0 and ample third degrees of freedom the bounds agree with the F test.
    """

    df: tuple[float, float, float]
    tail: float

    def lower(self, first: float, second: float, third: float) -> float:
        """Bound that lies above the expectation with probability `tail`."""
        above, below = self._gaps
        cross = [
            ((f - 1) ** 2 - (above[0] * f) ** 2 - below[j] ** 2) / f
            for j, f in enumerate(self._upper_f, start=1)
        ]
        variance = (
            (above[0] * first) ** 2
            + (below[1] * second) ** 2
            + (below[2] * third) ** 2
            + cross[0] * first * second
            + cross[1] * first * third
        )
        return first - second - third - float(np.sqrt(max(variance, 0.0)))

    def upper(self, first: float, second: float, third: float) -> float:
        """Bound that lies below the expectation with probability `tail`."""
        above, below = self._gaps
        cross = [
            ((1 - f) ** 2 - (below[0] * f) ** 2 - above[j] ** 2) / f
            for j, f in enumerate(self._lower_f, start=1)
        ]
        variance = (
            (below[0] * first) ** 2
            + (above[1] * second) ** 2
            + (above[2] * third) ** 2
            + cross[0] * first * second
            + cross[1] * first * third
        )
        return first - second - third + float(np.sqrt(max(variance, 0.0)))

    @cached_property
    def _gaps(self) -> tuple[list[float], list[float]]:
        """How far an expectation can lie below and above its mean square, as shares of it."""
        above = [1 - df / chi2_quantile(1 - self.tail, df) for df in self.df]
        below = [df / chi2_quantile(self.tail, df) - 1 for df in self.df]
        return above, below

    @cached_property
    def _upper_f(self) -> list[float]:
        return [f_quantile(1 - self.tail, self.df[0], df) for df in self.df[1:]]

    @cached_property
    def _lower_f(self) -> list[float]:
        return [f_quantile(self.tail, self.df[0], df) for df in self.df[1:]]
