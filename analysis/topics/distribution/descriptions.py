"""Descriptive statistics of every scorer's scores, overall and by system: a table, no estimates.

They have no interval and no threshold: the quantities of the CCRS paper's tables 5, 6 and 13 to 16,
which `tables/distribution.csv` has for every construct, scorer and system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.core.context import Context
from analysis.statistics.distribution.shape import (
    bounds,
    population_statistics,
    tie_probability,
)
from analysis.topics.distribution.estimates import score_sets

HEADINGS = {
    "geometric_mean": "Geometric mean",
    "midhinge": "Midhinge",
    "variance": "Sample variance",
    "minimum": "Min",
    "maximum": "Max",
    "range": "Range",
    "interquartile_range": "IQR",
    "skewness": "Skewness",
    "excess_kurtosis": "Excess kurtosis",
    "count_at_min": "Number at minimum",
    "count_at_max": "Number at maximum",
}
"""The statistics that are no estimates, with their names in tables."""
STATISTICS = (
    *("mean", "geometric_mean", "median", "midhinge", "variance", "minimum", "maximum", "range"),
    *("interquartile_range", "skewness", "excess_kurtosis", "tie_probability"),
    *("count_at_min", "count_at_max", "share_at_min", "share_at_max"),
)
"""All that are described, in the order of the columns."""


@dataclass(frozen=True)
class Description:
    """The statistics of one scorer's scores on one construct, overall or of one system."""

    construct: str
    scorers: tuple[str, ...]
    of: str | None
    """`mean_of_raters` where it is of the mean of several raters."""
    system: str | None
    n: int
    statistics: Mapping[str, float]
    """By the names of `STATISTICS`; NaN where undefined."""
    reasons: Mapping[str, str]
    """Why a statistic is undefined."""

    @property
    def scorer(self) -> str:
        """The scorer, or what is described in place of one."""
        return self.of or self.scorers[0]


def descriptions(context: Context) -> Iterator[Description]:
    """Describe every scorer's scores, and the means of raters, overall and by system."""
    for score_set in score_sets(context):
        scores, scale, record = score_set.values, score_set.scale, score_set.record  # noqa: PD011
        shape = population_statistics(scores)
        found = {name: float(getattr(shape, name)) for name in STATISTICS if hasattr(shape, name)}
        reasons = dict(shape.reasons)
        found["tie_probability"] = tie_probability(scores)
        if shape.n < 2:
            reasons["tie_probability"] = f"a pair needs 2 scores, there are {shape.n}"
        ends = ("count_at_min", "count_at_max", "share_at_min", "share_at_max")
        if scale is None:
            reasons |= dict.fromkeys(ends, "no scale is declared, so its ends are unknown")
        else:
            counted = bounds(scores, scale.min, scale.max)
            found |= {name: float(getattr(counted, name)) for name in ends}
        yield Description(
            construct=record["constructs"][0],
            scorers=record["scorers"],
            of=record["params"].get("of"),
            system=record["systems"][0] if record["systems"] else None,
            n=shape.n,
            statistics=found,
            reasons=reasons,
        )


def frame_of(described: list[Description]) -> pd.DataFrame:
    """Return a row for each description: construct, scorer, system, n, and the statistics."""
    rows: list[dict[str, Any]] = [
        {
            "construct": d.construct,
            "scorer": d.scorer,
            "system": d.system or "",
            "n_responses": d.n,
            **{name: d.statistics.get(name, float("nan")) for name in STATISTICS},
        }
        for d in described
    ]
    return pd.DataFrame(rows)
