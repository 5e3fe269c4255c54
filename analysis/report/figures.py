"""The figures of a report, each with a title that says what it shows, a caption and its data."""

from __future__ import annotations

from analysis.compose import Analysis
from analysis.report.figure import Figure
from analysis.report.figure_against_humans import against_humans
from analysis.report.figure_bias_by_system import bias_by_system
from analysis.report.figure_ceiling import ceiling
from analysis.report.figure_distributions import distributions


def figures(analysis: Analysis) -> list[Figure]:
    """All figures that the data allow."""
    found: list[Figure] = []
    for part in (ceiling, against_humans, distributions, bias_by_system):
        found += part(analysis)
    return found
