"""An interval of a statistic, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from analysis.core.uncertainty import Uncertainty


@dataclass(frozen=True)
class Interval:
    """An interval; where it cannot be given, both ends are NaN and `reason` explains why."""

    low: float
    high: float
    level: float
    method: str
    reason: str | None = None
    undefined_share: float = 0.0
    resamples: int = 0
    p: float = math.nan
    """Two-sided p of the value 0 by the method of the interval; NaN where it gives none."""
    uncertainty: Uncertainty | None = None
    """The error that the ends come from, for tests against other values at other levels."""

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of an `Estimate`: ends and error, level and method where there is an interval."""
        defined = not math.isnan(self.low)
        return {
            "ci_low": self.low,
            "ci_high": self.high,
            "ci_level": self.level if defined else None,
            "method": self.method if defined else None,
            "p": self.p,
            "uncertainty": self.uncertainty,
        }


def withheld(level: float, method: str, reason: str, undefined_share: float = 0.0) -> Interval:
    """The result where no interval can be given, with the reason."""
    return Interval(math.nan, math.nan, level, method, reason, undefined_share)
