"""Scores of systems, and paired differences of their means with simultaneous intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.resampling import PERCENTILE_FROM
from analysis.core.simultaneous_intervals import simultaneous_intervals
from analysis.statistics.discrimination.system_scores import (
    PairedDifferences,
    on_resamples,
    paired_differences,
    rows_at_once,
    scheme_for,
)
from analysis.statistics.reliability.adjusted_systems import AdjustedSystems
from analysis.topics.distribution.people_by_system import ADJUSTED, adjusted_people


@dataclass(frozen=True, eq=False)
class SystemsScored:
    """Scores (Q, S) of a judge, a metric or the human reference."""

    construct: str
    scorers: tuple[str, ...]
    systems: tuple[str, ...]
    scores: FloatArray
    answered: BoolArray
    """(Q, S): whether the system gave a response."""
    on: str
    """All responses, or only those with a human reference."""
    whole: bool
    """Whether the queries are those of the whole table, or the rated ones."""
    people: bool
    """Whether this is the human reference."""
    leads: bool
    """Whether pairs are listed; of a judge on rated responses only the power is given."""
    of: str | None

    @property
    def name(self) -> str:
        """The scorer, or what the reference is."""
        return self.of or self.scorers[0]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of systems."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @property
    def missing(self) -> BoolArray:
        """(Q, S): responses without a score."""
        return np.asarray(self.answered & np.isnan(self.scores))

    def record(self, params: dict[str, Any]) -> dict[str, Any]:
        """What all records of these scores have in common."""
        of = {"of": self.of} if self.of else {}
        return {
            "constructs": (self.construct,),
            "scorers": self.scorers,
            "scope": "system_level",
            "n_raters": len(self.scorers) if self.people else 0,
            "params": {"on": self.on, **of, **params},
        }


#: Resamples that carry a critical value: more would not change its second digit.
ROWS = 2000


def system_differences(context: Context, scored: Sequence[SystemsScored]) -> Iterator[Estimate]:
    """Of each table a record a pair of systems, on the queries that both have scores on."""
    prepared = [paired_differences(scores.scores) for scores in scored]
    values = _values(context, scored, prepared)
    for place, (scores, table) in enumerate(zip(scored, prepared, strict=True)):
        people = adjusted_people(context, scores.construct) if scores.people else None
        if people is not None:
            yield from _adjusted(context, scores, people, table)
        else:
            yield from _records(context, scores, table, values.get(place))


def _adjusted(
    context: Context, scored: SystemsScored, people: AdjustedSystems, table: PairedDifferences
) -> Iterator[Estimate]:
    """People's differences where raters are not balanced over systems."""
    options = context.options
    pairs = people.differences(table.first, table.second, options.level, options.seed)
    counts = np.isfinite(scored.scores).sum(axis=0)
    for place, (i, j) in enumerate(zip(table.first, table.second, strict=True)):
        either = np.isfinite(scored.scores[:, [i, j]]).any(axis=1)
        params: dict[str, Any] = {
            **ADJUSTED,
            "simultaneous": scored.n_pairs,
            "unadjusted": float(table.point[place]),
            "imbalance": float(people.balance.imbalance[i, j]),
        }
        yield Estimate(
            "system_difference",
            systems=(scored.systems[i], scored.systems[j]),
            target="raters_like_these",
            value=float(pairs.values[place]),
            **pairs.at(place).fields,
            n_responses=int(counts[i] + counts[j]),
            n_queries=int(either.sum()),
            reason=pairs.reasons[place],
            **scored.record(params),
        )


def _values(
    context: Context, scored: Sequence[SystemsScored], prepared: Sequence[PairedDifferences]
) -> dict[int, FloatArray]:
    """Values on resamples by place; tables over the same queries share their products."""
    values: dict[int, FloatArray] = {}
    for whole in (True, False):
        together = []
        for place, table in enumerate(scored):
            if table.whole is not whole or not table.n_pairs:
                continue
            if scheme_for(prepared[place], PERCENTILE_FROM) == "jackknife":
                values[place] = prepared[place].without_each_query()
            else:
                together.append(place)
        if together:
            resampling = context.whole_resampling if whole else context.rated_resampling
            tables = [prepared[place] for place in together]
            rows = rows_at_once(resampling.n_queries)
            drawn = on_resamples(tables, resampling.bootstrap_blocks(rows, ROWS))
            values |= dict(zip(together, drawn, strict=True))
    return values


def _records(
    context: Context, scored: SystemsScored, table: PairedDifferences, values: FloatArray | None
) -> Iterator[Estimate]:
    if values is None:
        return
    point, shared = table.point, table.n_queries
    scheme = scheme_for(table, PERCENTILE_FROM)
    intervals = simultaneous_intervals(
        point, values, scheme, context.options.level, context.options.seed
    )
    counts = np.isfinite(scored.scores).sum(axis=0)
    for place, (i, j) in enumerate(zip(table.first, table.second, strict=True)):
        names = scored.systems[i], scored.systems[j]
        interval = intervals.at(place)
        reason = interval.reason
        if np.isnan(point[place]):
            without = [name for name, at in zip(names, (i, j), strict=True) if not counts[at]]
            reason = (
                f"no scores of {' and '.join(without)}" if without else "no query with both systems"
            )
        yield Estimate(
            "system_difference",
            systems=names,
            target="these_raters" if scored.people else None,
            value=float(point[place]),
            **interval.fields,
            n_responses=2 * int(shared[place]),
            n_queries=int(shared[place]),
            n_dropped=int(counts[i] + counts[j]) - 2 * int(shared[place]),
            reason=reason,
            **scored.record(
                {"simultaneous": scored.n_pairs, "critical_value": intervals.critical_value}
            ),
        )
