"""The whole analysis: every figure of a report, in one list."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

import pandas as pd

from analysis.compose.answer_correctness import answer_correctness
from analysis.compose.context import Context
from analysis.compose.human_ceiling import biases, ceilings
from analysis.compose.judge_against_humans import judge_against_humans
from analysis.compose.missing import missing
from analysis.compose.options import Options
from analysis.compose.preferences import preferences as on_preferences
from analysis.compose.reliability import reliability
from analysis.compose.score_properties import score_properties
from analysis.errors import AnalysisError
from analysis.estimates import Estimate, EstimateList
from analysis.matrix import ConstructData
from analysis.tables import PreferenceTable, ScoreTable


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a report is written from."""

    title: str
    context: Context
    estimates: EstimateList
    warnings: tuple[str, ...] = field(default=())

    @property
    def scores(self) -> ScoreTable:
        """The table of scores."""
        return self.context.scores

    @property
    def preferences(self) -> PreferenceTable | None:
        """The table of preferences, where there is one."""
        return self.context.preferences

    @property
    def options(self) -> Options:
        """The choices made."""
        return self.context.options

    @property
    def rated(self) -> dict[str, ConstructData]:
        """Arrays of each construct, over the queries that people rated."""
        return self.context.rated


def estimates(
    scores: ScoreTable,
    preferences: PreferenceTable | None = None,
    options: Options | None = None,
) -> list[Estimate]:
    """All figures of a report, in its order; undefined ones carry their reason."""
    return list(analyse(scores, preferences, options).estimates)


def analyse(
    scores: ScoreTable,
    preferences: PreferenceTable | None = None,
    options: Options | None = None,
    title: str = "Judge against people",
) -> Analysis:
    """Analyse a table of scores, with preferences if there are any.

    Raises
    ------
    AnalysisError
        Both tables are empty.
    """
    if scores.frame.empty and (preferences is None or preferences.frame.empty):
        raise AnalysisError("there are no scores and no preferences to analyse")
    context = Context(scores, preferences, options or Options())
    parts = (
        judge_against_humans,
        ceilings,
        biases,
        reliability,
        on_preferences,
        answer_correctness,
        score_properties,
        missing,
    )
    found = tuple(chain.from_iterable(part(context) for part in parts))
    warnings = [*scores.warnings, *(preferences.warnings if preferences else ())]
    return Analysis(title, context, EstimateList(found), (*warnings, *_weights(scores)))


def _weights(scores: ScoreTable) -> list[str]:
    probability: pd.Series[float] = scores.frame["inclusion_prob"]
    if (probability == 1).all():
        return []
    return [
        "responses were drawn with unequal or stated probabilities; the figures here describe the "
        "rated responses and are not weighted"
    ]
