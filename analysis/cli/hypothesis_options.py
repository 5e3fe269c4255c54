"""Declared hypotheses on their way from study.toml, or a file of their own, into the options."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.core.hypothesis import Hypothesis
    from analysis.core.tables import ScoreTable
    from study.settings.report import HypothesisSpec


def declared(
    specs: Sequence[HypothesisSpec],
    scores: ScoreTable,
    systems: Collection[str] = (),
    constructs: Collection[str] = (),
) -> tuple[Hypothesis, ...]:
    """Hypotheses on what the table has, or the study beside it: `systems` and `constructs`.

    Raises
    ------
    AnalysisError
        One speaks of a system, construct or scorer that nobody knows.
    """
    from analysis.core.hypothesis import Hypothesis, check_hypotheses
    from analysis.topics.distribution.estimates import MEAN_OF_RATERS

    found = tuple(Hypothesis(**spec.model_dump()) for spec in specs)
    scorers = [name for name, kind in scores.scorer_kinds.items() if kind != "human"]
    check_hypotheses(
        found,
        tuple(dict.fromkeys([*scores.systems, *systems])),
        tuple(dict.fromkeys([*scores.constructs, *constructs])),
        (*scorers, MEAN_OF_RATERS),
    )
    return found
