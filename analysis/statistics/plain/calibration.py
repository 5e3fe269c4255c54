"""The debiased squared calibration error, as `statistics.calibration.calibration_error` has it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

BINS = 10


def calibration_error_squared(judge: Sequence[float], people: Sequence[float]) -> float:
    """Mean over bins of the judge's score of (people's mean minus the judge's)², without its noise.

    NaN where no bin has two responses.
    """
    counts = Counter(judge)
    bin_of, before = {}, 0
    for value in sorted(counts):
        middle = before + counts[value] / 2
        bin_of[value] = math.floor(middle / len(judge) * BINS)
        before += counts[value]
    differences: dict[int, list[float]] = {}
    for x, y in zip(judge, people, strict=True):
        differences.setdefault(bin_of[x], []).append(y - x)
    weighted = size = 0.0
    for bin_differences in differences.values():
        n, total = len(bin_differences), math.fsum(bin_differences)
        if n > 1:
            square = total**2 - math.fsum(d * d for d in bin_differences)
            weighted += n * square / (n**2 - n)
            size += n
    return weighted / size if size else math.nan
