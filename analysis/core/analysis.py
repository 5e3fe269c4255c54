"""The result of an analysis: what a report is written from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from analysis.core.claims import Claims
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import EstimateList
from analysis.core.options import Options
from analysis.core.tables import PreferenceTable, ScoreTable
from study.base.scales import Scale


class LabeledText(NamedTuple):
    """A claim of a metric with its labels, or a sentence of a response with people's marks."""

    by: str
    """The model and its prompts, or people."""
    of: str
    """What it is: `claims of the response`, `sentence`."""
    text: str
    labels: tuple[str, ...]
    """`entailed: passage 2, reference`, or how many people marked it."""


@dataclass(frozen=True)
class LabeledTexts:
    """What metrics in steps and people said on the texts of some responses."""

    by_response: Mapping[tuple[str, str], tuple[LabeledText, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """By construct and response."""
    of: int = 0
    """Responses from which these were chosen; one that is scored on two constructs counts once."""


@dataclass(frozen=True)
class ReportInputs:
    """Inputs that no estimate depends on."""

    judge_runs: tuple[Mapping[str, Any], ...] = ()
    """The conditions of each judge run, as in render/schema.json."""
    reasons: Mapping[tuple[str, str, str], str] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """A judge's rationale by scorer, response and construct."""
    labeled_texts: LabeledTexts = field(default_factory=LabeledTexts)
    """Claims of metrics in steps, and sentences that people marked."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a report is written from."""

    title: str
    context: Context
    estimates: EstimateList
    warnings: tuple[str, ...] = field(default=())
    inputs: ReportInputs = field(default_factory=ReportInputs)
    headings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The declared heading of every statistic by its id; empty where there is only the verdict."""
    claims: Claims = field(default_factory=Claims)
    """The comparisons of which claims are made, corrected for their number."""

    @property
    def scores(self) -> ScoreTable:
        """The table of scores."""
        return self.context.scores

    @property
    def preferences(self) -> PreferenceTable | None:
        """The table of preferences, if there is one."""
        return self.context.preferences

    @property
    def scorer_kinds(self) -> dict[str, str]:
        """Kind of each scorer of the two tables."""
        preferences = self.preferences
        return self.scores.scorer_kinds | (preferences.scorer_kinds if preferences else {})

    @property
    def options(self) -> Options:
        """The options of the report."""
        return self.context.options

    @property
    def level(self) -> float:
        """Confidence level of the intervals."""
        return self.options.level

    def full_name(self, construct: str) -> str:
        """Name of a construct as readers know it."""
        return self.scores.full_name(construct)

    def human_scale(self, construct: str) -> Scale | None:
        """Scale of people's values on a construct."""
        return self.context.human_scale(construct)

    def scorer_scale(self, construct: str, scorer: str) -> Scale | None:
        """Scale of a scorer on a construct."""
        return self.scores.scale(construct, scorer)

    @property
    def ordered(self) -> Analysis:
        """The analysis without nominal constructs."""
        context = self.context.ordered
        return self if context is self.context else replace(self, context=context)

    @property
    def rated(self) -> dict[str, ConstructData]:
        """Arrays of each construct, over the queries that people rated."""
        return self.context.rated

    @property
    def reference_words(self) -> str:
        """What judges and metrics are compared with."""
        adjudicated = self.options.reference == "adjudicated"
        return "the adjudicated value" if adjudicated else "the mean of a response's raters"
