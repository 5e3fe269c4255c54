"""Section of the report: whether a score means what it says."""

from __future__ import annotations

from analysis.report.figures.bias_by_system import bias_by_system
from analysis.report.sections.section import Section

SECTION = Section(
    key="calibration",
    title="Level and calibration",
    figures=(bias_by_system,),
)
