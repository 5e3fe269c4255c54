"""The options of an analysis, each with its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from analysis.core.construct_data import Reference
from analysis.core.errors import AnalysisError
from analysis.core.hypothesis import Hypothesis


@dataclass(frozen=True)
class InstructionMismatch:
    """What a judge was not told on a construct, though the raters were."""

    construct: str
    judge: str
    rules: tuple[str, ...] | None
    """None: what the judge was told is not known."""


def lacking(rules: Iterable[str], prompt: str) -> tuple[str, ...]:
    """Return the rules whose words a prompt does not hold; case and line breaks don't matter."""
    words = _plain(prompt)
    return tuple(rule for rule in rules if _plain(rule) not in words)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


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
    derived_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Scorers whose scores follow from those of others, with these: a jury, an expected score."""
    runs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What each run of a judge was made with, by attribute: its model, prompts, seed and so on."""
    instruction_mismatches: tuple[InstructionMismatch, ...] = ()
    """What raters were told beyond a judge's prompt, which the report names."""
    hypotheses: tuple[Hypothesis, ...] = ()
    """Claims about pairs of systems that were declared beforehand."""
    second_metrics: tuple[str, ...] = ()
    """Constructs or scorers that make up a second set of metrics, beside the study's own."""
    published: bool = False
    """Whether the CCRS paper's own figures stand beside those of systems A to F."""
    non_inferiority_margin: float | None = None
    """How much lower than a rater's a judge's correlation may be; None: not tested."""
    bias_margin: float | None = None
    """Points within which a bias counts as none, for the equivalence test; None: not tested."""
    alt_test_epsilon: float = 0.15
    """Allowance of the alternative annotator test: .2 experts, .15 skilled, .1 a crowd."""
    overall: str | None = None
    """Construct that holds an overall human rating, from which a composite's weights are learnt."""
    layout: str | None = None
    """Layout of the pages whose ratings are taken, where there are two: single or side_by_side;
    the one with more values unless given."""
    target_width: float | None = None
    """Half-width in points that corrected means should reach; 5% of the scale unless given."""
    interim_analyses: int = 0
    """Number of interim analyses while people rated: from the first on, the design is
    sequential."""

    def __post_init__(self) -> None:
        if self.target_width is not None and not self.target_width > 0:
            raise AnalysisError(f"a wanted width of {self.target_width:g} points is not above 0")
        if self.reference not in get_args(Reference):
            raise AnalysisError(
                f"reference {self.reference!r}: use one of {', '.join(get_args(Reference))}"
            )
        if self.interim_analyses < 0:
            raise AnalysisError(f"{self.interim_analyses} interim analyses: give 0 or more")
        if self.resamples < 100:
            raise AnalysisError(f"{self.resamples} resamples are too few; take 100 or more")
        if not 0.5 < self.level < 1:
            raise AnalysisError(f"level {self.level:g} does not lie between 0.5 and 1")
        if not 0 <= self.ac_lambda <= 1:
            raise AnalysisError(f"lambda {self.ac_lambda:g} lies outside 0 to 1")
        margin = self.non_inferiority_margin
        if margin is not None and not 0 < margin < 1:
            raise AnalysisError(f"margin {margin:g} of a correlation does not lie between 0 and 1")
        if self.bias_margin is not None and not self.bias_margin > 0:
            raise AnalysisError(f"bias margin {self.bias_margin:g} does not lie above 0 points")
        if not 0 <= self.alt_test_epsilon < 1:
            raise AnalysisError(f"epsilon {self.alt_test_epsilon:g} does not lie between 0 and 1")
