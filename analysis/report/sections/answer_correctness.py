"""Section of the report: the audit of Answer Correctness."""

from __future__ import annotations

from analysis.report.sections.section import Section
from analysis.report.tables.scores import composed

SECTION = Section(
    key="answer-correctness",
    title="Answer Correctness",
    tables=(composed,),
)
