"""Section of the report: system means corrected by ratings."""

from __future__ import annotations

from analysis.report.sections.section import Section

SECTION = Section(
    key="corrected",
    title="Corrected scores",
)
