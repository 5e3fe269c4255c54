"""Comparison of figures with thresholds, a baseline, and the noise of a judge's repeats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.errors import AnalysisError
from analysis.core.estimates import Estimate
from analysis.core.tables import ScoreTable
from analysis.gate.thresholds import Threshold, picked
from analysis.pipeline.estimation import analyse


@dataclass(frozen=True)
class Checked:
    """The comparison of one figure with one threshold.

    `number` is the bounded number; `before` the value in the baseline and `noise` the span of the
    judges' repeats, if there are any. `shortfalls` describe the bounds that are not met.
    """

    threshold: Threshold
    estimate: Estimate
    number: float
    before: float | None
    noise: float | None
    shortfalls: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all bounds are met."""
        return not self.shortfalls

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        e = self.estimate
        return {
            "statistic": e.statistic, "constructs": list(e.constructs), "scorers": list(e.scorers),
            "systems": list(e.systems), "scope": e.scope, "target": e.target,
            "params": dict(e.params), "on": self.threshold.on, "number": self.number,
            "value": e.value, "minimum": self.threshold.minimum, "maximum": self.threshold.maximum,
            "allowed_drop": self.threshold.allowed_drop,
            "allowed_rise": self.threshold.allowed_rise,
            "before": self.before, "noise": self.noise, "holds": self.holds,
            "shortfalls": list(self.shortfalls),
        }  # fmt: skip


def check(
    analysis: Analysis,
    thresholds: Sequence[Threshold],
    baseline: Mapping[Key, float | None] | None = None,
) -> list[Checked]:
    """Compare the figures with every threshold.

    A change against the baseline counts only where it exceeds what the judges' own repeats differ
    by. A figure without the number that a threshold bounds never passes: it is an error.

    Raises
    ------
    AnalysisError
        There are no thresholds; one matches no figure, or several that it must distinguish; a
        figure is undefined or has no interval; a baseline is needed, or lacks the figure.
    """
    if not thresholds:
        raise AnalysisError(
            "there are no checks; declare some, such as\n\n"
            '[[check]]\nstatistic = "kendall_tau_b"\nscope = "within_query"\n'
            'on = "ci_low"\nminimum = 0.3\n\nor demand an answer: --require rank_systems=yes'
        )
    compares = any(threshold.needs_baseline for threshold in thresholds)
    if compares and baseline is None:
        raise AnalysisError(
            "allowed_drop and allowed_rise compare with an earlier report; name its report.json "
            "with --baseline"
        )
    chosen = [(t, e) for t in thresholds for e in picked(t, analysis.estimates.records)]
    noise = noise_floors(analysis) if compares else {}
    return [_checked(t, e, baseline or {}, noise) for t, e in chosen]


def _checked(
    threshold: Threshold,
    estimate: Estimate,
    baseline: Mapping[Key, float | None],
    noise: Mapping[Key, float],
) -> Checked:
    number = float(getattr(estimate, threshold.on))
    whose = (
        f"{threshold} of {', '.join(estimate.constructs)}"
        if not threshold.construct
        else (str(threshold))
    )
    if np.isnan(number):
        problem = "is undefined" if threshold.on == "value" else f"has no {threshold.on}"
        raise AnalysisError(f"{whose} {problem}: {estimate.reason}")
    short = []
    if threshold.minimum is not None and number < threshold.minimum:
        short.append(f"{number:.4g} is below {threshold.minimum:g}")
    if threshold.maximum is not None and number > threshold.maximum:
        short.append(f"{number:.4g} is above {threshold.maximum:g}")
    before, floor = None, None
    if threshold.needs_baseline:
        before = value_then(estimate, baseline)
        if before is None:
            raise AnalysisError(f"the baseline has no value for {whose}; write a new one")
        floor = noise.get(key_of(estimate))
        change = estimate.value - before
        for allowed, moved, word in (
            (threshold.allowed_drop, -change, "below"),
            (threshold.allowed_rise, change, "above"),
        ):
            if allowed is not None and moved > max(allowed, floor or 0.0):
                short.append(f"{moved:.4g} {word} the baseline's {before:.4g}")
    return Checked(threshold, estimate, number, before, floor, tuple(short))


Key = tuple[Any, ...]


def read_baseline(path: Path) -> dict[Key, float | None]:
    """Values of an earlier report.json by figure; None where one was undefined.

    Raises
    ------
    AnalysisError
        The file can't be read or is not a report.json.
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
            f"{path} is not a report.json; give the one that `ccrs report` wrote"
        ) from None


def value_then(estimate: Estimate, baseline: Mapping[Key, float | None]) -> float | None:
    """Value of the same figure in the baseline; None where it is missing."""
    return baseline.get(key_of(estimate))


def key_of(estimate: Estimate) -> Key:
    """The fields that identify a figure across reports."""
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
    by_judges = rows["scorer_kind"] == "judge"
    return int(rows.loc[by_judges, "repeat"].max()) if by_judges.any() else 0


def noise_floors(analysis: Analysis) -> dict[Key, float]:
    """For each figure, the range of its values when each repeat of the judges is used in turn.

    Empty where no judge scored a response twice. Repeat r replaces the first scores of every judge
    that has it; the others keep theirs.
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
                _with_repeat(analysis.scores, turn),
                analysis.preferences,
                analysis.options,
                given=(),
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
    selected = rows[(first & ~replaced) | (replaced & (rows["repeat"] == turn))]
    return ScoreTable(
        selected.assign(repeat=0).reset_index(drop=True),
        scores.scales,
        (),
        scores.scorer_scales,
        scores.construct_names,
    )
