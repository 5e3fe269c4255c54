"""The sections of a report, in its order: each topic in one module."""

from __future__ import annotations

from analysis.core.analysis import Analysis
from analysis.render.section import Chapter, chapter
from analysis.topics.agreement import section as agreement
from analysis.topics.answer_correctness import section as answer_correctness
from analysis.topics.calibration import section as calibration
from analysis.topics.correction import section as correction
from analysis.topics.discrimination import section as discrimination
from analysis.topics.distribution import section as distribution
from analysis.topics.expected_score import section as expected_score
from analysis.topics.missingness import section as missingness
from analysis.topics.probes import section as probes
from analysis.topics.reliability import section as reliability
from analysis.topics.runs import section as runs
from analysis.topics.stability import section as stability
from analysis.topics.validity import section as validity

_ORDER = (
    agreement,
    reliability,
    calibration,
    probes,
    correction,
    discrimination,
    stability,
    validity,
    distribution,
    expected_score,
    answer_correctness,
    missingness,
    runs,
)


def chapters(analysis: Analysis) -> list[Chapter]:
    """Every section that has something to show."""
    found = (chapter(module.SECTION, analysis) for module in _ORDER)
    return [one for one in found if one is not None]
