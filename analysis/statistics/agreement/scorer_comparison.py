"""How the scores of two scorers differ, for instance of two runs of a judge.

Neither of the two is a reference. Shifts are second minus first, in points, with intervals over
queries; systems are compared on the responses that both have scored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray
from analysis.core.errors import AnalysisError
from analysis.core.query_statistic import NOISE, QueryStatistic
from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.association import association
from analysis.statistics.agreement.system_decisions import Decision, decisions
from analysis.statistics.discrimination.system_scores import rows_at_once, system_scores

_LARGEST = 5


@dataclass(frozen=True)
class ComparedValue:
    """A value with its interval; null, with the reason, where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Move:
    """One response whose score moved."""

    response_id: str
    first: float
    second: float


@dataclass(frozen=True)
class TurnedPair:
    """Two systems whose mean scores have another order with the second scorer.

    Differences are of the system named first minus the other; their intervals cover for all
    pairs of systems at once.
    """

    systems: tuple[str, str]
    first: ComparedValue
    second: ComparedValue
    decision: Decision
    """`opposite`: each scorer alone decides, and they decide differently."""


@dataclass(frozen=True)
class TwoScorers:
    """How the scores of two scorers on one construct differ."""

    construct: str
    n_both: int
    """Responses that both have scored, on which all figures rest."""
    n_first_only: int
    n_second_only: int
    n_queries: int
    equal: float | None
    """Share of the scores that are the same."""
    shift: ComparedValue
    """Mean of second minus first."""
    moved: ComparedValue
    """Mean size of a move, up or down."""
    order_within_queries: ComparedValue
    """Kendall's tau-b of the pairs of responses inside queries."""
    largest: tuple[Move, ...]
    """The largest moves, the largest one first."""
    n_pairs: int
    """Pairs of systems that were compared: those that share a query; none beyond 63 systems."""
    turned: tuple[TurnedPair, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the result as values for JSON."""
        return asdict(self)


def two_scorers(
    frame: pd.DataFrame,
    first: str,
    second: str,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> list[TwoScorers]:
    """Compare two scorers of a score table on each construct that both have scored.

    Of a scorer with repeats, the first (the lowest number) of each response is taken.

    Parameters
    ----------
    frame
        A score table: `response_id`, `query_id`, `system`, `construct`, `scorer`, `repeat` and
        `value`, a row for each system that gave a response.
    first, second
        Scorers of the table.
    level, resamples, seed
        Of the intervals: the jackknife over queries below 1,000 queries, else the bootstrap.

    Raises
    ------
    AnalysisError
        A scorer is not in the table, or the two have no construct in common.
    """
    parts = [_scores_of(frame, scorer) for scorer in (first, second)]
    common = [c for c in dict.fromkeys(frame["construct"]) if all(c in p.groups for p in parts)]
    if not common:
        raise AnalysisError(f"{first!r} and {second!r} have no construct in common.")
    return [
        _compared(
            construct,
            parts[0].get_group(construct),
            parts[1].get_group(construct),
            level,
            resamples,
            seed,
        )
        for construct in common
    ]


def _scores_of(frame: pd.DataFrame, scorer: str) -> Any:
    rows = frame[frame["scorer"] == scorer]
    if rows.empty:
        raise AnalysisError(f"The table has no scores of {scorer!r}.")
    lowest = rows.groupby(["construct", "response_id"])["repeat"].transform("min")
    return rows[rows["repeat"] == lowest].groupby("construct")


def _compared(
    construct: str,
    first: pd.DataFrame,
    second: pd.DataFrame,
    level: float,
    resamples: int,
    seed: int,
) -> TwoScorers:
    rows = pd.concat([first, second])
    ids = pd.Index(dict.fromkeys(rows["response_id"]))
    x, y = (
        part.drop_duplicates("response_id").set_index("response_id")["value"].reindex(ids)
        for part in (first, second)
    )
    response_queries = rows.drop_duplicates("response_id").set_index("response_id")["query_id"]
    query, names = pd.factorize(response_queries.reindex(ids))
    old, new = x.to_numpy(float), y.to_numpy(float)
    both = np.isfinite(old) & np.isfinite(new)
    resampling = QueryResampling(len(names), resamples, seed, level)

    def figure(measure: Any, scope: Any = "pooled") -> ComparedValue:
        statistic = association(measure, new, old, query, scope, n_queries=len(names))
        return _figure(statistic, resampling, correlation=measure == "kendall_tau_b")

    pairs, turned = _turned(rows, ids, old, new, query, resampling)
    moves = np.where(both, np.abs(new - old), -1.0)
    largest = [i for i in np.argsort(-moves, kind="stable")[:_LARGEST] if moves[i] > 0]
    return TwoScorers(
        construct=construct,
        n_both=int(both.sum()),
        n_first_only=int((np.isfinite(old) & ~both).sum()),
        n_second_only=int((np.isfinite(new) & ~both).sum()),
        n_queries=int(np.unique(query[both]).size),
        equal=float((old[both] == new[both]).mean()) if both.any() else None,
        shift=figure("bias"),
        moved=figure("mae"),
        order_within_queries=figure("kendall_tau_b", "within_query"),
        largest=tuple(Move(str(ids[i]), float(old[i]), float(new[i])) for i in largest),
        n_pairs=pairs,
        turned=turned,
    )


def _figure(
    statistic: QueryStatistic, resampling: QueryResampling, *, correlation: bool
) -> ComparedValue:
    interval = resampling.interval(statistic, "fisher_z" if correlation else None)
    return ComparedValue(
        _null(statistic.point),
        _null(interval.low),
        _null(interval.high),
        statistic.reason or interval.reason,
    )


def _turned(
    rows: pd.DataFrame,
    ids: pd.Index[Any],
    old: FloatArray,
    new: FloatArray,
    query: Any,
    resampling: QueryResampling,
) -> tuple[int, tuple[TurnedPair, ...]]:
    with_system = rows.dropna(subset=["system"])
    systems = sorted(set(with_system["system"]))
    if len(systems) < 2:
        return 0, ()
    produced = np.zeros((len(ids), len(systems)), dtype=bool)
    produced[
        ids.get_indexer(pd.Index(with_system["response_id"])),
        pd.Index(systems).get_indexer(pd.Index(with_system["system"])),
    ] = True
    both = np.isfinite(old) & np.isfinite(new)
    before, after = (
        system_scores(np.where(both, values, np.nan), query, produced, resampling.n_queries)
        for values in (old, new)
    )
    weights = resampling.bootstrap_blocks(rows_at_once(resampling.n_queries))
    outcome = decisions(after, before, weights, resampling.level, resampling.seed)
    turned = []
    # Equal means may differ by rounding.
    noise = NOISE * max(float(np.abs(np.concatenate([old[both], new[both]])).max(initial=0)), 1.0)
    for place, decision in enumerate(outcome.decisions):
        # Of decisions, the "judge" is the second scorer here and "people" the first.
        sizes = (outcome.people[place], outcome.judge[place])
        if not (min(sizes) < -noise and max(sizes) > noise):
            continue
        intervals = (outcome.people_intervals, outcome.judge_intervals)
        figures = [
            ComparedValue(
                _null(size), _null(of.low[place]), _null(of.high[place]), of.reasons[place]
            )
            for size, of in zip(sizes, intervals, strict=True)
        ]
        pair = (systems[outcome.first[place]], systems[outcome.second[place]])
        turned.append(TurnedPair(pair, figures[0], figures[1], decision))
    return int((outcome.n_shared > 0).sum()), tuple(turned)


def _null(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def shift_lines(results: Sequence[TwoScorers]) -> list[str]:
    """Return the result as lines of text."""
    lines: list[str] = []
    for result in results:
        apart = result.n_first_only + result.n_second_only
        alone = (
            f"; {result.n_first_only} only by the first, {result.n_second_only} only by the second"
            if apart
            else ""
        )
        lines += [
            "",
            f"{result.construct}: {result.n_both} responses scored by both{alone}.",
        ]
        if not result.n_both:
            continue
        lines += [
            f"  equal scores {result.equal:.1%}; mean shift {_in_text(result.shift, '+.2f')}",
            f"  mean move {_in_text(result.moved, '.2f')}; order within queries (Kendall's tau-b) "
            f"{_in_text(result.order_within_queries, '.3f')}",
        ]
        if result.largest:
            moves = ", ".join(
                f"{m.response_id} {m.first:g} to {m.second:g}" for m in result.largest
            )
            lines.append(f"  largest moves: {moves}")
        if result.n_pairs:
            lines.append(
                f"  systems: {len(result.turned)} of {result.n_pairs} pairs change their order"
            )
        for pair in result.turned:
            lines.append(
                f"    {pair.systems[0]} minus {pair.systems[1]}: {_in_text(pair.first, '+.2f')} "
                f"before, {_in_text(pair.second, '+.2f')} now"
                + ("; both intervals exclude 0" if pair.decision == "opposite" else "")
            )
    return lines


def _in_text(figure: ComparedValue, form: str) -> str:
    if figure.value is None:
        return f"not defined ({figure.reason})"
    if figure.low is None or figure.high is None:
        return f"{figure.value:{form}} (no interval: {figure.reason})"
    return f"{figure.value:{form}} [{figure.low:{form}}, {figure.high:{form}}]"
