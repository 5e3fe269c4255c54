"""Section of the report: how the scores are distributed."""

from __future__ import annotations

from analysis.report.figures.distributions import distributions
from analysis.report.sections.section import Section
from analysis.report.tables.scores import properties

SECTION = Section(
    key="scores",
    title="How the scores are distributed",
    figures=(distributions,),
    tables=(properties,),
)
