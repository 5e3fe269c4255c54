"""The tables of a study as `analysis` takes them, and traits of its responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from analysis.core.mark_table import MarkTable
from analysis.core.probe_table import ProbeTable, Suspects
from analysis.core.tables import PreferenceTable, ScoreTable
from judge.perturbations.catalogue import has_markdown, supporting
from study.columns import EXPECTED

if TYPE_CHECKING:
    from study.facts.analysis_input import AnalysisInput

_FEWEST = 3
"""With fewer passages the position of the supporting one is not informative."""


def traits_of(response: Mapping[str, Any]) -> tuple[float, float]:
    """Return `markdown` (1 or 0) and `support` of a response.

    `support` is the position of the passage that shares most words with the reference (or, without
    one, with the response), from 0, the first, to 1, the last; NaN with fewer than three passages.
    """
    texts = [text for text, _ in response["passages"]]
    answer = (response["references"] or [response["response"]])[0]
    place = supporting(texts, answer) if len(texts) >= _FEWEST else None
    support = float("nan") if place is None else place / (len(texts) - 1)
    return float(has_markdown(response["response"])), support


class StudyTables(NamedTuple):
    """The tables of a study, named as in `ReportInput`; None where it has nothing of the kind."""

    scores: ScoreTable
    preferences: PreferenceTable | None
    probes: ProbeTable
    marks: MarkTable | None


def study_tables(given: AnalysisInput) -> StudyTables:
    """Make the tables, which checks them."""
    config = given.config
    scales = {key: spec.scale for key, spec in given.constructs.items()}
    names = {key: spec.name for key, spec in given.constructs.items()}
    declared = (scales, config.scorer_scales(given.scores["scorer"].unique(), scales), names)
    compared, marks = given.preferences, given.marks
    return StudyTables(
        ScoreTable.from_frame(given.scores, *declared),
        PreferenceTable.from_frame(compared, config.preferences.scale) if len(compared) else None,
        _probes(given),
        MarkTable.from_frame(marks) if len(marks) else None,
    )


def _probes(given: AnalysisInput) -> ProbeTable:
    """Answers to probes, with traits of responses and families of scorers and systems."""
    return replace(
        ProbeTable.from_frame(
            given.probes, {name: Suspects(*counts) for name, counts in given.suspected.items()}
        ),
        traits=pd.DataFrame.from_dict(
            given.traits, orient="index", columns=["markdown", "support"]
        ),
        scorer_families={
            scorer: spec.family
            for name, spec in given.config.scorers.items()
            if spec.family is not None
            for scorer in (name, name + EXPECTED)
        },
        system_families={
            name: spec.family
            for name, spec in given.config.systems.items()
            if spec.family is not None
        },
    )
