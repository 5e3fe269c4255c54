"""The sections of a report, in its order: each topic in one module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.render.section import Chapter, Section, chapter, without_metrics
from analysis.topics.agreement import section as agreement
from analysis.topics.agreement.scorers_compared import compared_scorers
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


#: Beginnings of the keys of tables that are about metrics.
_WITH_METRICS = ("scorers-", "published-figures", "answer-correctness", "metric-set")


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
    """Every section that has something to show.

    Metrics stand beside judges in one table for each construct, and in those of `_WITH_METRICS`;
    all other tables show of these scorers the judges.
    """
    parts = [part for section in SECTIONS if (part := chapter(section, analysis)) is not None]
    compared = compared_scorers(analysis.ordered)
    kinds = analysis.scorer_kinds
    return [
        replace(
            part,
            tables=tuple(
                table
                if table.key.startswith(_WITH_METRICS)
                else without_metrics(table, compared, kinds)
                for table in part.tables
            ),
        )
        for part in parts
    ]
