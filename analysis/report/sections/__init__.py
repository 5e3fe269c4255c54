"""The sections of a report, in its order: each topic in one module."""

from __future__ import annotations

from analysis.compose import Analysis
from analysis.report.sections import (
    agreement,
    answer_correctness,
    calibration,
    corrected,
    expected,
    missing,
    people,
    probes,
    runs,
    scores,
    stability,
    systems,
    validity,
)
from analysis.report.sections.section import Chapter, chapter

_ORDER = (
    agreement,
    people,
    calibration,
    probes,
    corrected,
    systems,
    stability,
    validity,
    scores,
    expected,
    answer_correctness,
    missing,
    runs,
)


def chapters(analysis: Analysis) -> list[Chapter]:
    """Every section that has something to show."""
    found = (chapter(module.SECTION, analysis) for module in _ORDER)
    return [one for one in found if one is not None]
