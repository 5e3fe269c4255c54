"""Section of the report: whether constructs measure different things."""

from __future__ import annotations

from analysis.report.sections.section import Section

SECTION = Section(
    key="validity",
    title="Constructs among each other",
)
