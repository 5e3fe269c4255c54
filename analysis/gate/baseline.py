"""An earlier report to compare with, and how far a judge's repeats move a figure by themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.core.estimates import Estimate
from analysis.core.tables import ScoreTable
from analysis.pipeline.estimation import analyse

Key = tuple[Any, ...]


def read_baseline(path: Path) -> dict[Key, float | None]:
    """Values of an earlier report.json by figure; None where one was undefined.

    Raises
    ------
    AnalysisError
        The file can't be read or is no report.json.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        records = content["estimates"]
        return {
            _key(
                r["statistic"], r["constructs"], r["scorers"], r["systems"], r["scope"],
                r["target"], r["params"],
            ): r["value"]
            for r in records
        }  # fmt: skip
    except OSError as error:
        raise AnalysisError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise AnalysisError(
            f"{path} is no report.json; give the one that `ccrs report` wrote"
        ) from None


def value_then(estimate: Estimate, baseline: Mapping[Key, float | None]) -> float | None:
    """Value of the same figure in the baseline; None where it has none."""
    return baseline.get(key_of(estimate))


def key_of(estimate: Estimate) -> Key:
    """What makes a figure the same one in another report."""
    return _key(
        estimate.statistic, estimate.constructs, estimate.scorers, estimate.systems,
        estimate.scope, estimate.target, estimate.params,
    )  # fmt: skip


def _key(
    statistic: str,
    constructs: Sequence[str],
    scorers: Sequence[str],
    systems: Sequence[str],
    scope: str,
    target: str | None,
    params: Mapping[str, Any],
) -> Key:
    # Numbers among the params may be results, such as the raters averaged; words are choices.
    words = tuple(sorted((k, v) for k, v in params.items() if isinstance(v, str)))
    return (statistic, *map(tuple, (constructs, scorers, systems)), scope, target, words)


def repeats_of_judges(scores: ScoreTable) -> int:
    """Largest number of a judge's repeat in the table; 0 where no judge scored twice."""
    rows = scores.frame
    own = rows["scorer_kind"] == "judge"
    return int(rows.loc[own, "repeat"].max()) if own.any() else 0


def noise_floors(analysis: Analysis) -> dict[Key, float]:
    """For each figure, the span of its values when each repeat of the judges takes its turn.

    Empty where no judge scored a response twice. Repeat r stands in for the first scores of every
    judge that has one; the others keep theirs.
    """
    spans: dict[Key, list[float]] = {}
    most = repeats_of_judges(analysis.scores)
    if not most:
        return {}
    for turn in range(most + 1):
        figures = (
            analysis.estimates
            if turn == 0
            else analyse(
                _with_repeat(analysis.scores, turn), analysis.preferences, analysis.options
            ).estimates
        )
        for estimate in figures:
            if estimate.defined:
                spans.setdefault(key_of(estimate), []).append(estimate.value)
    return {key: max(values) - min(values) for key, values in spans.items() if len(values) > 1}


def _with_repeat(scores: ScoreTable, turn: int) -> ScoreTable:
    rows = scores.frame
    judge = rows["scorer_kind"] == "judge"
    repeated = rows.loc[judge & (rows["repeat"] == turn), "scorer"].unique()
    replaced = judge & rows["scorer"].isin(repeated)
    first = rows["repeat"] == 0
    kept = rows[(first & ~replaced) | (replaced & (rows["repeat"] == turn))]
    return ScoreTable(
        kept.assign(repeat=0).reset_index(drop=True),
        scores.scales,
        (),
        scores.scorer_scales,
        scores.construct_names,
    )
