"""The figures of a report, each with a title that says what it shows, a caption and its data."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis.compose import Analysis
from analysis.report.drawing import Drawing


@dataclass(frozen=True)
class Figure:
    """Drawings on common axes, to be read together; `data` holds what is drawn."""

    key: str
    title: str
    caption: str
    drawings: tuple[Drawing, ...]
    data: pd.DataFrame
    wide: bool = False
    """One drawing over the whole column, rather than small multiples."""


def figures(analysis: Analysis) -> list[Figure]:
    """All figures that the data allow."""
    from analysis.report.figure_against_humans import against_humans
    from analysis.report.figure_bias_by_system import bias_by_system
    from analysis.report.figure_ceiling import ceiling
    from analysis.report.figure_distributions import distributions

    found: list[Figure] = []
    for part in (ceiling, against_humans, distributions, bias_by_system):
        found += part(analysis)
    return found
