"""Section of the report: people among themselves."""

from __future__ import annotations

from analysis.report.sections.section import Section
from analysis.report.tables.agreement import raters, reliability

SECTION = Section(
    key="people",
    title="People among themselves",
    tables=(
        reliability,
        raters,
    ),
)
