"""Figures that a publication reports on the data of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from analysis.core.errors import AnalysisError

Measure = Literal["pearson", "spearman", "preference_accuracy", "mean"]
On = Literal["responses", "preferences"]


@dataclass(frozen=True)
class PublishedFigures:
    """One measure of several scorers, as a publication reports it.

    Raises
    ------
    AnalysisError
        The measure is unknown, or a mean has no construct.
    """

    source: str
    """Publication and table."""
    measure: Measure
    """A statistic of the report; `mean` is that of each system."""
    figures: Mapping[str, Mapping[str, float]]
    """By scorer, then by construct; of means by system. A scorer of the study has its name there,
    two raters that are compared have both names with "and" between them."""
    on: On = "responses"
    """What a correlation is with: people's values of responses, or their preferences."""
    construct_key: str | None = None
    """What a mean is of."""
    note: str = ""

    def __post_init__(self) -> None:
        if self.measure not in get_args(Measure):
            raise AnalysisError(f"published measure {self.measure!r} is not known")
        if self.measure == "mean" and self.construct_key is None:
            raise AnalysisError("published means need their construct")
