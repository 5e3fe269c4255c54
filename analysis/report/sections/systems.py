"""Section of the report: which systems differ, by judge and by people."""

from __future__ import annotations

from analysis.report.sections.section import Section
from analysis.report.tables.scores import systems

SECTION = Section(
    key="systems",
    title="Differences between systems",
    tables=(systems,),
)
