"""Section of the report: values that are missing, and answers that were hard to read."""

from __future__ import annotations

from analysis.report.sections.section import Section
from analysis.report.tables.answers import answers_read
from analysis.report.tables.scores import gaps

SECTION = Section(
    key="missing",
    title="Missing values",
    tables=(
        gaps,
        answers_read,
    ),
)
