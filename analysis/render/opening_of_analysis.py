"""The first lines of a report, from an analysis."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.core.analysis import Analysis
from analysis.decisions.records import UseDecision
from analysis.decisions.table_facts import scored_facts
from analysis.render.opening import JudgeOpening, openings


def openings_of(analysis: Analysis, decisions: Sequence[UseDecision]) -> list[JudgeOpening]:
    """The first lines about each judge that has answers, in their order."""
    about = dict.fromkeys((d.construct, d.scorer) for d in decisions if d.construct is not None)
    facts = [scored_facts(analysis, construct, scorer) for construct, scorer in about if construct]
    return openings(analysis, analysis.estimates, facts, decisions)
