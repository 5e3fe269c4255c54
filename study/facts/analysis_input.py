"""What an analysis reads of a study, all of one state."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Connection

from study.facts.combined_scorers import in_words, lacking, low_is_good
from study.facts.current_responses import (
    RESPONSE_COLUMNS,
    current_responses,
    current_systems,
    response_rows,
)
from study.facts.judgments import judge_runs
from study.facts.marks_table import marks_table
from study.facts.probe_table import probe_table, suspected_responses
from study.facts.ratings import interim_analysis_counts, rules_of_raters
from study.facts.score_table import compact_score_table, preference_table
from study.settings.constructs import RETRIEVAL, ConstructSpec
from study.settings.study_toml import StudyConfig


@dataclass(frozen=True)
class AnalysisInput:
    """One state of a study, as its tables are: scores, comparisons, marks, probes, runs, settings.

    It is in `study` and consists of frames and settings, since `analysis` imports of `study` the
    declarations of its base alone: the commands, which may import both, make the tables of
    `analysis` of it.
    """

    config: StudyConfig
    versions: Mapping[str, int]
    """The current version of each construct."""
    constructs: Mapping[str, ConstructSpec]
    """Those of study.toml, and that of retrieval if it has scores."""
    scores: pd.DataFrame
    preferences: pd.DataFrame
    marks: pd.DataFrame
    probes: pd.DataFrame
    suspected: Mapping[str, tuple[int, int]]
    """By run: responses whose text is flagged, and those that it judged."""
    traits: dict[str, Any]
    """What was kept of each response that people rated, by its id."""
    runs: list[dict[str, Any]]
    """The conditions of the runs that have scores."""
    low_is_good: frozenset[str]
    """Scorers of which a low value is a good sign."""
    rules: Mapping[str, tuple[str, ...]]
    """Rules of each construct that raters had in view."""
    interim_analyses: int
    systems: tuple[str, ...]

    @property
    def scorer_notes(self) -> dict[str, str]:
        """Remarks on scorers; that on a jury or composite begins with its members."""
        notes = {name: spec.note for name, spec in self.config.scorers.items() if spec.note}
        for name, spec in self.config.combined.items():
            words = in_words(spec, self.low_is_good)
            notes[name] = ". ".join(filter(None, [words, notes.get(name)]))
        return notes

    @property
    def not_computed(self) -> dict[str, str]:
        """Juries and composites without a row, and which of their members have no scores."""
        pairs = self.scores[["scorer", "construct"]].drop_duplicates()
        scored: dict[str, list[str]] = {}
        for scorer, construct in zip(pairs["scorer"], pairs["construct"], strict=True):
            scored.setdefault(str(scorer), []).append(str(construct))
        return {
            name: "; ".join([in_words(spec, self.low_is_good), *lacking(spec, scored)])
            for name, spec in self.config.combined.items()
            if name not in scored
        }


def analysis_input(
    connection: Connection,
    config: StudyConfig,
    versions: Mapping[str, int],
    traits_of: Callable[[Mapping[str, Any]], Any],
) -> AnalysisInput:
    """Return what an analysis reads of a study.

    `traits_of` returns what is kept of a response that people rated, whose texts are not kept.
    """
    scores = compact_score_table(connection, versions, config=config)
    constructs = {construct.key: construct for construct in config.constructs}
    if (scores["construct"] == RETRIEVAL.key).any():
        constructs.setdefault(RETRIEVAL.key, RETRIEVAL)
    scorers = set(scores["scorer"].unique())
    runs = [run for run in judge_runs(connection) if run["name"] in scorers]
    return AnalysisInput(
        config=config,
        versions=versions,
        constructs=constructs,
        scores=scores,
        preferences=preference_table(connection, versions),
        marks=marks_table(connection, versions),
        probes=probe_table(connection, versions),
        suspected=suspected_responses(connection),
        traits=_traits(connection, scores, traits_of),
        low_is_good=low_is_good(connection, config),
        runs=runs,
        rules=rules_of_raters(connection, versions),
        interim_analyses=sum(interim_analysis_counts(connection).values()),
        systems=tuple(current_systems(connection)) if config.hypotheses else (),
    )


def _traits(
    connection: Connection, scores: pd.DataFrame, traits_of: Callable[[Mapping[str, Any]], Any]
) -> dict[str, Any]:
    rated = scores["scorer_kind"].isin(["human", "adjudicated"])
    ids = set(scores.loc[rated, "response_id"])
    chosen = current_responses(connection, ids)[0] if ids else []
    traits: dict[str, Any] = {}
    for values in response_rows(connection, chosen):
        row = dict(zip(RESPONSE_COLUMNS, values, strict=True))
        if row["response_id"] in ids and row["response_id"] not in traits:
            traits[row["response_id"]] = traits_of(row)
    return traits
