"""Where an interval covers less than it says: measured by simulation, and shown beside it.

Intervals of level .95 cover .95 where scores seldom reach an end of their scale. Where most ratings
are one value (two thirds of them in the simulation, at the end of the scale), a few queries decide
a figure, and with few queries the interval is too short. No interval tried covers more at a width
that still says something; so the report names what was measured.
"""

from __future__ import annotations

import numpy as np

from analysis.core.query_statistic import FloatArray

#: Share of the ratings that are one value, from which on the figures below are named.
CROWDED = 0.5

#: Coverage from here on, at a nominal .95, is left unsaid.
ENOUGH = 0.935

LEVEL = 0.95

#: Numbers of queries of the simulation.
QUERIES = (15, 30, 60, 150, 500)

#: Coverage below ENOUGH by statistic with its scope or level, and number of queries. The rows of
#: tests/coverage/coverage.csv with two thirds of the ratings at the end of the scale.
MEASURED: dict[tuple[str, str], dict[int, float]] = {
    ("krippendorff_alpha", "interval"): {15: 0.92},
    ("pearson", "pooled"): {15: 0.93},
    ("human_ceiling", "pooled"): {15: 0.93},
    ("recalibration_slope", "pooled"): {15: 0.93},
}


def crowding(values: FloatArray) -> float:
    """Share of the values, whatever their shape, that are the most frequent one; NaN is none."""
    counts = np.unique(values[np.isfinite(values)], return_counts=True)[1]
    return float(counts.max() / counts.sum()) if counts.size else 0.0


def measured_coverage(statistic: str, variant: str, n_queries: int) -> float | None:
    """Coverage of the interval where ratings are crowded, or None where it is enough.

    `variant` is the scope, or the level of measurement of alpha. Between the sizes of the
    simulation the lower one counts, and below the lowest its coverage, which is then too high.
    """
    size = max((s for s in QUERIES if s <= n_queries), default=QUERIES[0])
    return MEASURED.get((statistic, variant), {}).get(size)
