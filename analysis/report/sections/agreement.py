"""Section of the report: judges and metrics against people."""

from __future__ import annotations

from analysis.report.figures.against_humans import against_humans as against_humans_figure
from analysis.report.figures.ceiling import ceiling as ceiling_figure
from analysis.report.sections.section import Section
from analysis.report.tables.agreement import against_humans, ceiling
from analysis.report.tables.answers import from_bare_numbers
from analysis.report.tables.edits import edits_made, with_edits
from analysis.report.tables.scores import on_preferences

SECTION = Section(
    key="agreement",
    title="Judge against people",
    figures=(
        ceiling_figure,
        against_humans_figure,
    ),
    tables=(
        against_humans,
        ceiling,
        from_bare_numbers,
        with_edits,
        edits_made,
        on_preferences,
    ),
)
