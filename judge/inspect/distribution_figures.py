"""A judgment's distribution in figures: what exports and single responses show of it."""

from collections.abc import Mapping
from typing import Any

from study.facts.score_distributions import summary
from study.scales import RatingScale

EXPECTED_COLUMNS = (
    "expected",
    "expected_low",
    "expected_high",
    "distribution_mode",
    "distribution_variance",
    "distribution_mass",
)
"""The mean where 95% of the probability or more is known; the mean with all that is not known at
the one end of the scale or the other; mode and variance of what is known, and how much that is."""


def expected_figures(
    distribution: Mapping[str, float] | None, scale: RatingScale | None
) -> dict[str, float | None]:
    """Return the figures by `EXPECTED_COLUMNS`; all are None without a distribution or a scale."""
    if not distribution or scale is None:
        return dict.fromkeys(EXPECTED_COLUMNS)
    found = summary(distribution, scale)
    cells = (found.expected, found.low, found.high, found.mode, found.variance, found.mass)
    return dict(zip(EXPECTED_COLUMNS, cells, strict=True))


def expected_line(figures: Mapping[str, Any]) -> str | None:
    """Return the figures in words; None where there are none."""
    if figures["distribution_mass"] is None:
        return None
    known = f"{figures['distribution_mass']:.1%} of the probability on scores"
    shape = (
        f"mode {figures['distribution_mode']:g}, variance {figures['distribution_variance']:.1f}"
    )
    if figures["expected"] is None:
        between = f"{figures['expected_low']:.1f} and {figures['expected_high']:.1f}"
        return f"distribution: mean between {between}, not taken ({shape}, only {known})"
    return f"distribution: mean {figures['expected']:.2f} ({shape}, {known})"
