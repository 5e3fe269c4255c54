"""Choices of an analysis, each with its default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from analysis.discrimination.hypotheses import Hypothesis
from analysis.errors import AnalysisError
from analysis.matrix import Reference
from analysis.rules import RulesApart


@dataclass(frozen=True)
class Options:
    """What a report may vary; all of it is recorded in report.json."""

    reference: Reference = "mean_of_raters"
    """What judges and metrics are compared with."""
    resamples: int = 2000
    """Bootstrap resamples of queries."""
    seed: int = 0
    level: float = 0.95
    """Confidence level of every interval."""
    ac_lambda: float = 0.7
    """Weight of the exact match in composed AC."""
    scorer_notes: Mapping[str, str] = field(default_factory=dict)
    """Remarks by scorer, which the report shows with it."""
    rules_apart: tuple[RulesApart, ...] = ()
    """What raters were told beyond a judge's prompt, which the report names."""
    hypotheses: tuple[Hypothesis, ...] = ()
    """Claims about pairs of systems that were declared beforehand."""
    second_metrics: tuple[str, ...] = ()
    """Constructs or scorers that make up a second set of metrics, beside the study's own."""
    published: bool = False
    """Whether the CCRS paper's own figures stand beside those of systems A to F."""

    def __post_init__(self) -> None:
        if self.reference not in get_args(Reference):
            raise AnalysisError(
                f"reference {self.reference!r}: use one of {', '.join(get_args(Reference))}"
            )
        if self.resamples < 100:
            raise AnalysisError(f"{self.resamples} resamples are too few; take 100 or more")
        if not 0.5 < self.level < 1:
            raise AnalysisError(f"level {self.level:g} does not lie between 0.5 and 1")
        if not 0 <= self.ac_lambda <= 1:
            raise AnalysisError(f"lambda {self.ac_lambda:g} lies outside 0 to 1")
