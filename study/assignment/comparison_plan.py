"""The plan of comparisons: which rater compares which pair of responses, and which is shown first.

Raters are balanced by number of pairs, then by pair of systems; raters whom no shared pair links
come before others, then those who share the fewest pairs. The response shown first alternates over
the raters of a pair, and over the pairs of a rater. `study.assignment.response_pairs` draws the
pairs.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, func, insert, select

from study.assignment.allocation import connected
from study.assignment.response_pairs import Pair, Systems, all_pairs, draw
from study.facts.slots import is_live_comparison
from study.schema import ComparisonBase
from study.schema.tables import comparisons
from study.settings.constructs import ConstructSpec
from study.study import Study


class ExistingComparison(NamedTuple):
    """An existing comparison."""

    rater: int
    pair: frozenset[int]
    construct: str
    first: int
    """The response that is shown first."""
    open: bool
    """It was not taken back."""


class PairRaters:
    """The raters of each pair: existing comparisons and those that are added."""

    def __init__(
        self,
        raters: list[int],
        existing: Sequence[ExistingComparison],
        pairs: Iterable[Pair],
        barred: Mapping[int, Container[int]],
        rng: np.random.Generator,
    ) -> None:
        self._raters = raters
        self._barred = barred
        self._rng = rng
        systems = {pair.name: pair.systems for pair in pairs}
        self._firsts_by_pair: dict[frozenset[int], dict[int, int]] = defaultdict(dict)
        """Pair to its raters, with the response that is shown first to each."""
        self._had: dict[tuple[frozenset[int], str], set[int]] = defaultdict(set)
        self._open: Counter[tuple[frozenset[int], str]] = Counter()
        self._swaps: Counter[int] = Counter()
        """Rater to how much more often b than a comes first in this plan."""
        self._met: dict[int, Counter[int]] = defaultdict(Counter)
        self._group = {rater: rater for rater in raters}
        self._pairs_of: Counter[int] = Counter()
        self._systems_of: dict[int, Counter[Systems]] = defaultdict(Counter)
        self.comparisons: Counter[int] = Counter()
        self.assigned: list[tuple[int, Pair, str, bool]] = []
        self.short = 0
        for comparison in existing:
            self._had[comparison.pair, comparison.construct].add(comparison.rater)
            if comparison.open:
                self._open[comparison.pair, comparison.construct] += 1
                self.comparisons[comparison.rater] += 1
                if comparison.rater not in self._firsts_by_pair[comparison.pair]:
                    self._join(
                        comparison.rater,
                        comparison.pair,
                        systems.get(comparison.pair, ()),
                        comparison.first,
                    )

    def give(
        self,
        pair: Pair,
        specs: Iterable[ConstructSpec],
        per_item: int,
        left_out: Counter[tuple[str, str]],
    ) -> None:
        """Assign a pair to further raters until each construct has `per_item`."""
        for spec in specs:
            if spec.key in pair.unratable:
                left_out[spec.key, pair.unratable[spec.key]] += 1
                continue
            for _ in range(per_item - self._open[pair.name, spec.key]):
                rater = self._next(pair, spec.key)
                if rater is None:
                    self.short += 1
                    continue
                if rater not in self._firsts_by_pair[pair.name]:
                    self._join(rater, pair.name, pair.systems, self._first(pair, rater))
                    self._swaps[rater] += (
                        1 if self._firsts_by_pair[pair.name][rater] == pair.b else -1
                    )
                swapped = self._firsts_by_pair[pair.name][rater] == pair.b
                self._had[pair.name, spec.key].add(rater)
                self._open[pair.name, spec.key] += 1
                self.comparisons[rater] += 1
                self.assigned.append((rater, pair, spec.key, swapped))

    def who_has_what(self) -> Iterator[tuple[int, frozenset[int]]]:
        """Yield each rater with their pairs."""
        for pair, raters in self._firsts_by_pair.items():
            for rater in raters:
                yield rater, pair

    def _next(self, pair: Pair, construct: str) -> int | None:
        having, had = self._firsts_by_pair[pair.name], self._had[pair.name, construct]
        free = [
            rater
            for rater in self._raters
            if rater not in had and pair.query not in self._barred.get(rater, ())
        ]
        # A rater of the pair on one construct compares it on the others, too.
        reading = [rater for rater in free if rater in having]
        if not free or reading:
            return min(reading, key=self._pairs_of.__getitem__, default=None)
        least = min(self._pairs_of[rater] for rater in free)
        equal = [rater for rater in free if self._pairs_of[rater] == least]
        if len(equal) == 1:
            return equal[0]
        groups = {self._group.get(other, other) for other in having}
        chances = self._rng.random(len(equal)).tolist()
        ranks = [
            (
                self._group[rater] in groups,
                sum(self._systems_of[rater][systems] for systems in pair.systems),
                sum(self._met[rater][other] for other in having),
                chance,
                rater,
            )
            for rater, chance in zip(equal, chances, strict=True)
        ]
        return min(ranks)[-1]

    def _join(
        self, rater: int, pair: frozenset[int], systems: Iterable[Systems], first: int
    ) -> None:
        for other in self._firsts_by_pair[pair]:
            self._met[rater][other] += 1
            self._met[other][rater] += 1
            old, new = self._group.get(rater, rater), self._group.get(other, other)
            if old != new:
                for member, group in self._group.items():
                    self._group[member] = new if group == old else group
        self._firsts_by_pair[pair][rater] = first
        self._pairs_of[rater] += 1
        self._systems_of[rater].update(systems)

    def _first(self, pair: Pair, rater: int) -> int:
        """Return the response to show first: the less frequent one, by pair, then by rater."""
        firsts = self._firsts_by_pair[pair.name].values()
        ahead = sum(1 if first == pair.b else -1 for first in firsts)
        for balance in (ahead, self._swaps[rater]):
            if balance:
                return pair.b if balance < 0 else pair.a
        return pair.b if self._rng.random() < 0.5 else pair.a


# Any number that no other plan of the same seed uses.
_COMPARING = 0x70616972


@dataclass(frozen=True)
class ComparisonsPlanned:
    """The figures of planned comparisons."""

    pairs: int = 0
    """Drawn pairs of responses, including those drawn before."""
    comparisons: int = 0
    """New ones: a pair, a construct and a rater."""
    short: int = 0
    """Comparisons without an available rater."""
    connected: bool = True
    """All raters are linked through pairs that they share."""
    by_rater: dict[str, int] = field(default_factory=dict)
    """Code to number of comparisons, including existing ones."""
    by_systems: dict[str, int] = field(default_factory=dict)
    """`A / B` to number of pairs of responses drawn."""
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """construct, reason, pairs: pairs that cannot be compared on a construct, and why."""

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain objects for JSON."""
        return asdict(self)


def comparison_rows(
    connection: Connection,
    study: Study,
    raters: Mapping[str, int],
    *,
    per_item: int,
    drawn: Mapping[int, float] | None = None,
    barred: Mapping[int, Container[int]] | None = None,
) -> tuple[list[dict[str, Any]], ComparisonsPlanned]:
    """Plan the comparisons that are missing until each drawn pair has `per_item` raters.

    Parameters
    ----------
    connection
        The transaction of the caller; it is only read from.
    raters
        Codes with database keys; a new rater's is negative in a dry run.
    per_item
        Raters of each pair and construct.
    drawn
        Queries that pairs are drawn from, with the probability of each to be among them; all
        answered queries unless given. The probabilities of the pairs are multiplied by it.
    barred
        Rater (database key) to queries that this rater must not be given.

    Returns
    -------
    tuple
        Rows for `store_comparisons`, after the existing ones of each rater, and their figures.
    """
    design = study.config.design
    if not design.comparisons:
        return [], ComparisonsPlanned()
    keys = design.comparison_constructs
    specs = [c for c in study.config.constructs if not keys or c.key in keys]
    existing = _existing_comparisons(connection)
    pairs = all_pairs(connection, study.config.seed, specs, drawn)
    probability, by_systems = draw(pairs, design.comparisons, {h.pair for h in existing})
    chosen = [pair for pair in pairs if pair.name in probability]
    for pair in chosen:
        if drawn is not None:
            probability[pair.name] *= drawn[pair.query]
    rng = np.random.default_rng([study.config.seed, _COMPARING, len(existing)])
    plan = PairRaters(list(raters.values()), existing, chosen, barred or {}, rng)
    left_out: Counter[tuple[str, str]] = Counter()
    for index in rng.permutation(len(chosen)):
        plan.give(chosen[index], specs, per_item, left_out)
    rows = _in_order(plan.assigned, specs, probability, _last_positions(connection), rng)
    for row in rows:
        row["config_hash"] = study.config_hash
    return rows, ComparisonsPlanned(
        pairs=len(chosen),
        comparisons=len(rows),
        short=plan.short,
        connected=connected((rater, hash(pair)) for rater, pair in plan.who_has_what()),
        by_rater={code: plan.comparisons[rater] for code, rater in raters.items()},
        by_systems={" / ".join(systems): count for systems, count in sorted(by_systems.items())},
        left_out=[
            {"construct": key, "reason": reason, "pairs": count}
            for (key, reason), count in sorted(left_out.items())
        ],
    )


def store_comparisons(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store the rows of a plan."""
    if not rows:
        return
    for row in rows:
        fields = {name: row[name] for name in ComparisonBase.model_fields if name in row}
        ComparisonBase.model_validate(fields)
    connection.execute(insert(comparisons), [dict(row) for row in rows])


def _in_order(
    allocated: Iterable[tuple[int, Pair, str, bool]],
    specs: Sequence[ConstructSpec],
    probability: Mapping[frozenset[int], float],
    last: Mapping[int, int],
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return rows in each rater's order: queries shuffled, and no field before it must be seen."""
    fields = {spec.key: ("reference" in spec.sees, "context" in spec.sees) for spec in specs}
    by_rater: dict[int, dict[int, list[tuple[int, Pair, str, bool]]]] = {}
    for comparison in allocated:
        by_rater.setdefault(comparison[0], {}).setdefault(comparison[1].query, []).append(
            comparison
        )
    rows = []
    for rater, queries in by_rater.items():
        position = last.get(rater, -1)
        work = list(queries.values())
        for index in rng.permutation(len(work)):
            mine = [work[index][i] for i in rng.permutation(len(work[index]))]
            for _, pair, key, swapped in sorted(mine, key=lambda comparison: fields[comparison[2]]):
                position += 1
                rows.append(
                    {
                        "rater_id": rater,
                        "query_id": pair.query,
                        "response_a_id": pair.a,
                        "response_b_id": pair.b,
                        "construct_key": key,
                        "position": position,
                        "swapped": swapped,
                        "inclusion_prob": probability[pair.name],
                        "stratum": None,
                    }
                )
    return rows


def _existing_comparisons(connection: Connection) -> list[ExistingComparison]:
    rows = connection.execute(
        select(
            comparisons.c.rater_id,
            comparisons.c.response_a_id,
            comparisons.c.response_b_id,
            comparisons.c.construct_key,
            comparisons.c.swapped,
            is_live_comparison().label("live"),
        ).order_by(comparisons.c.id)
    )
    return [
        ExistingComparison(
            row.rater_id,
            frozenset((row.response_a_id, row.response_b_id)),
            row.construct_key,
            row.response_b_id if row.swapped else row.response_a_id,
            bool(row.live),
        )
        for row in rows
    ]


def _last_positions(connection: Connection) -> dict[int, int]:
    rows = connection.execute(
        select(comparisons.c.rater_id, func.max(comparisons.c.position)).group_by(
            comparisons.c.rater_id
        )
    )
    return {rater: int(position) for rater, position in rows}
