"""The sections of a report, in its order: each topic in one module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.section import Chapter, Section, chapter
from analysis.topics.agreement import section as agreement
from analysis.topics.answer_correctness import section as answer_correctness
from analysis.topics.binary import section as binary
from analysis.topics.calibration import section as calibration
from analysis.topics.correction import section as correction
from analysis.topics.discrimination import section as discrimination
from analysis.topics.distribution import section as distribution
from analysis.topics.expected_score import section as expected_score
from analysis.topics.judges import section as judges
from analysis.topics.missingness import section as missingness
from analysis.topics.probes import section as probes
from analysis.topics.reliability import section as reliability
from analysis.topics.runs import section as runs
from analysis.topics.slices import section as slices
from analysis.topics.stability import section as stability
from analysis.topics.validity import section as validity

SECTIONS: tuple[Section, ...] = tuple(
    topic.SECTION
    for topic in (
        agreement,
        binary,
        judges,
        reliability,
        calibration,
        slices,
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
)


def statistics() -> tuple[Statistic, ...]:
    """Every statistic that a report may have, in its order."""
    return tuple(statistic for section in SECTIONS for statistic in section.statistics)


def headings() -> dict[str, str]:
    """The heading of every statistic by its id."""
    return {statistic.id: statistic.heading for statistic in statistics()}


def sections_compared(analysis: Analysis) -> dict[str, list[Estimate]]:
    """The comparisons from which each section makes claims."""
    return {section.key: list(section.compared(analysis)) for section in SECTIONS}


def sections_joint(analysis: Analysis) -> dict[str, Mapping[str, Iterable[Estimate]]]:
    """The families of joint claims of each section, by its key and theirs."""
    return {section.key: section.joint(analysis) for section in SECTIONS}


def chapters(analysis: Analysis) -> list[Chapter]:
    """Every section that has something to show."""
    parts = (chapter(section, analysis) for section in SECTIONS)
    return [part for part in parts if part is not None]
