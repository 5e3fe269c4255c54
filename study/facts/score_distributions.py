"""A judge's score as the mean of its distribution, in addition to the number it wrote.

Where an engine reports the probability of each score, the mean is more informative than the most
probable score, since it breaks ties. It is a separate scorer, so a report has both (Wang et al.
2025, arXiv:2503.03064).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from study.base.scales import Scale
from study.columns import EXPECTED

LEAST_MASS = 0.95
"""Least probability of scores: with less, the rest could move the mean by several points."""
INCOMPLETE = "distribution_incomplete"
NO_DISTRIBUTION = "no_distribution"


@dataclass(frozen=True)
class Summary:
    """Summary of a distribution over scores, in points of the scale.

    Mean, mode and variance are those of the known probability, normalized. The unknown rest may be
    anywhere on the scale: `low` and `high` are the mean with all of it at either end.
    """

    mean: float
    mode: float
    """The most probable score; of several, the lowest."""
    variance: float
    """In squared points."""
    mass: float
    """Known probability of scores, 0 to 1."""
    low: float
    high: float

    @property
    def expected(self) -> float | None:
        """The mean, where enough is known for it to be a score."""
        return self.mean if self.mass >= LEAST_MASS else None


def summary(distribution: Mapping[str, float], scale: Scale) -> Summary:
    """Return mean, mode, variance, known mass and bounds of a distribution.

    Parameters
    ----------
    distribution
        Probability by score, at least one of them above 0; their sum is at most 1.
    scale
        The scale of the scores, for the bounds.
    """
    scores, shares = _points(distribution)
    mass = float(shares.sum())
    mean = float(scores @ shares / mass)
    part, rest = mean * min(mass, 1.0), max(0.0, 1 - mass)
    return Summary(
        mean=mean,
        mode=float(scores[shares == shares.max()].min()),
        variance=float((scores - mean) ** 2 @ shares / mass),
        mass=mass,
        low=part + rest * scale.min,
        high=part + rest * scale.max,
    )


def expected_scores(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the means of the distributions of the runs that have any, as rows of a scorer each.

    Parameters
    ----------
    judgments
        `scorer`, `value`, `missing_reason`, `rule`, and `distribution`: probability by score, as
        JSON or a dict; null where there is none.

    Returns
    -------
    pandas.DataFrame
        As many rows as these runs have. A value that needed no answer (0 of an empty response)
        stays, and a missing one stays missing. A value without a distribution is missing, with
        `no_distribution`; one with less than 95% of the probability on scores is missing, with
        `distribution_incomplete`.
    """
    available = judgments["distribution"].notna()
    with_any = judgments["scorer"].isin(judgments.loc[available, "scorer"].unique())
    return means(judgments[with_any])


def means(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `expected_scores` for all of the judgments."""
    rows = judgments.copy()
    expected = [_mean(distribution) for distribution in rows["distribution"]]
    row_means = np.array([mean for mean, _ in expected], dtype=float)
    reasons = pd.Series([reason for _, reason in expected], index=rows.index, dtype=object)
    unasked = rows["rule"].eq("empty_response") | rows["value"].isna()
    rows["value"] = rows["value"].where(unasked, row_means)
    rows["missing_reason"] = rows["missing_reason"].where(unasked, reasons)
    rows["rule"] = None
    rows["scorer"] += EXPECTED
    return rows


def _mean(distribution: Any) -> tuple[float, str | None]:
    if distribution is None or (isinstance(distribution, float) and np.isnan(distribution)):
        return np.nan, NO_DISTRIBUTION
    scores, shares = _points(
        json.loads(distribution) if isinstance(distribution, str) else distribution
    )
    mass = shares.sum()
    if mass < LEAST_MASS:
        return np.nan, INCOMPLETE
    return float(scores @ shares / mass), None


def _points(distribution: Mapping[str, float]) -> tuple[Any, Any]:
    """Return scores and their probabilities as arrays (n,)."""
    scores = np.array([float(score) for score in distribution])
    return scores, np.array(list(distribution.values()), dtype=float)
