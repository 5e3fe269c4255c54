"""Everything a report shows, worked out once: for the page, the JSON and the CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any

from analysis.core import Analysis
from analysis.core.report_inputs import Beside
from analysis.core.scales import Scale
from analysis.pipeline import chapters
from analysis.render.figure import Figure
from analysis.render.limitations import not_established
from analysis.render.section import Chapter
from analysis.render.table import Table
from analysis.render.verdict.contradictions import with_contradictions
from analysis.render.verdict.verdicts import Verdict, verdicts

SCHEMA_VERSION = 1

_PACKAGES = ("ccrs-study", "matplotlib", "numba", "numpy", "pandas", "scipy")


@dataclass(frozen=True, eq=False)
class Document:
    """A report's content; `provenance` is what its JSON has under that name."""

    analysis: Analysis
    verdicts: tuple[Verdict, ...]
    chapters: tuple[Chapter, ...]
    not_established: tuple[str, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def with_checks(self, checks: Sequence[Mapping[str, Any]]) -> Document:
        """The same report with the result of its verification."""
        return replace(self, provenance={**self.provenance, "verification": list(checks)})

    @property
    def figures(self) -> list[Figure]:
        """The figures of all sections."""
        return [figure for one in self.chapters for figure in one.figures]

    @property
    def tables(self) -> list[Table]:
        """The tables of all sections."""
        return [table for one in self.chapters for table in one.tables]

    @property
    def scorers(self) -> list[dict[str, Any]]:
        """Every scorer with its kind, the note on it if there is one, and whom it is made of."""
        notes, made_of = self.analysis.options.scorer_notes, self.analysis.options.made_of
        return [
            {
                "scorer": name,
                "kind": kind,
                "note": notes.get(name),
                "made_of": list(made_of.get(name, ())),
            }
            for name, kind in self.analysis.scorer_kinds.items()
        ]

    @property
    def scales(self) -> list[dict[str, Any]]:
        """Declared scales, by construct and where a scorer has its own; null where undeclared."""
        scores = self.analysis.scores
        found = [_scale(key, None, scores.scale(key)) for key in scores.constructs]
        return found + [
            _scale(key, scorer, scale) for (scorer, key), scale in scores.scorer_scales.items()
        ]


def as_document(
    analysis: Analysis,
    command: str | None = None,
    found: Sequence[Verdict] | None = None,
    judge_runs: Sequence[Mapping[str, Any]] = (),
    reasons: Mapping[tuple[str, str, str], str] | None = None,
) -> Document:
    """Work out a report: verdicts (unless `found` already), figures and tables.

    The verdicts gain notes on figures that contradict each other, for which all must be computed.

    `command` is how the report was made, and `judge_runs` what the judges' scores were made
    with (as in schema.json). `reasons` are what judges wrote before their scores, by scorer,
    response and construct.
    """
    analysis = replace(analysis, beside=Beside(tuple(judge_runs), dict(reasons or {})))
    return Document(
        analysis,
        with_contradictions(analysis, verdicts(analysis) if found is None else found),
        tuple(chapters(analysis)),
        tuple(not_established(analysis)),
        _provenance(analysis, command, judge_runs),
    )


def _provenance(
    analysis: Analysis, command: str | None, judge_runs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    options = analysis.options
    preferences = analysis.preferences
    return {
        "versions": {"python": python_version()} | {name: _version(name) for name in _PACKAGES},
        "seed": options.seed,
        "options": {
            "reference": options.reference,
            "resamples": options.resamples,
            "ci_level": options.level,
            "ac_lambda": options.ac_lambda,
            "second_metrics": list(options.second_metrics),
            "published": options.published,
            "non_inferiority_margin": options.non_inferiority_margin,
            "bias_margin": options.bias_margin,
            "alt_test_epsilon": options.alt_test_epsilon,
            "overall": options.overall,
            "wanted_width": options.wanted_width,
            "looks": options.looks,
            "layout": options.layout,
        },
        "input_hash": {
            "scores": analysis.scores.digest(),
            "preferences": preferences.digest() if preferences is not None else None,
        },
        "judge_runs": [dict(run) for run in judge_runs],
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "verification": None,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _scale(construct: str, scorer: str | None, scale: Scale | None) -> dict[str, Any]:
    return {
        "construct": construct,
        "scorer": scorer,
        "min": scale.min if scale else None,
        "max": scale.max if scale else None,
        "step": scale.step if scale else None,
        "level": scale.level if scale else None,
    }
