"""The content of a report, computed once for the page, the JSON and the CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.core.analysis import Analysis
from analysis.decisions.records import CorrectedMeans, UseDecision
from analysis.render.drawing import Figure
from analysis.render.section import Chapter
from analysis.render.table import Table
from analysis.render.verdicts import Verdict
from study.base.scales import Scale

SCHEMA_VERSION = 1


@dataclass(frozen=True, eq=False)
class Document:
    """A report's content; `provenance` is what its JSON has under that name."""

    analysis: Analysis
    verdicts: tuple[Verdict, ...]
    decisions: tuple[UseDecision, ...]
    """For what each judge can be used: as a whole, and on each construct."""
    corrected_means: tuple[CorrectedMeans, ...]
    chapters: tuple[Chapter, ...]
    not_established: tuple[str, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    largest_disagreements: tuple[Mapping[str, object], ...] = ()
    """The responses on which a judge and people differ most, as report.json has them."""

    def with_checks(self, checks: Sequence[Mapping[str, Any]]) -> Document:
        """The same report with the result of its verification."""
        return replace(self, provenance={**self.provenance, "verification": list(checks)})

    @property
    def figures(self) -> list[Figure]:
        """The figures of all sections."""
        return [figure for chapter in self.chapters for figure in chapter.figures]

    @property
    def tables(self) -> list[Table]:
        """The tables of all sections."""
        return [table for chapter in self.chapters for table in chapter.tables]

    @property
    def scorers(self) -> list[dict[str, Any]]:
        """Every scorer with its kind, its note, and the scorers that it is derived from."""
        notes, derived_from = self.analysis.options.scorer_notes, self.analysis.options.derived_from
        return [
            {
                "scorer": name,
                "kind": kind,
                "note": notes.get(name),
                "derived_from": list(derived_from.get(name, ())),
            }
            for name, kind in self.analysis.scorer_kinds.items()
        ]

    @property
    def scales(self) -> list[dict[str, Any]]:
        """Declared scales by construct, and by scorer where they differ; null where undeclared."""
        scores = self.analysis.scores
        declared = [_scale(key, None, scores.scale(key)) for key in scores.constructs]
        return declared + [
            _scale(key, scorer, scale) for (scorer, key), scale in scores.scorer_scales.items()
        ]


def _scale(construct: str, scorer: str | None, scale: Scale | None) -> dict[str, Any]:
    return {
        "construct": construct,
        "scorer": scorer,
        "min": scale.min if scale else None,
        "max": scale.max if scale else None,
        "step": scale.step if scale else None,
        "level": scale.level if scale else None,
    }
