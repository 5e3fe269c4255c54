"""Who is given which pair: balanced, seeded, and added to what there is. Knows no database.

Raters are balanced by number of pairs, then by pair of systems; raters whom no shared pair links
go before others, then those who have met least. The response shown first alternates over the
raters of a pair, and over the pairs of a rater.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from study.assignment.response_pairs import Pair, Systems
from study.settings.constructs import ConstructSpec


class ExistingComparison(NamedTuple):
    """A comparison that somebody was given."""

    rater: int
    pair: frozenset[int]
    construct: str
    first: int
    """The response that is shown first."""
    open: bool
    """It was not taken back."""


class PairRaters:
    """Who is given which pair: what there was, and what is added."""

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
        self._of_pair: dict[frozenset[int], dict[int, int]] = defaultdict(dict)
        """Pair to its raters, with the response that is shown first to each."""
        self._had: dict[tuple[frozenset[int], str], set[int]] = defaultdict(set)
        self._open: Counter[tuple[frozenset[int], str]] = Counter()
        self._swaps: Counter[int] = Counter()
        """Rater to how much more often b was put first than a in this plan."""
        self._met: dict[int, Counter[int]] = defaultdict(Counter)
        self._group = {rater: rater for rater in raters}
        self._pairs_of: Counter[int] = Counter()
        self._systems_of: dict[int, Counter[Systems]] = defaultdict(Counter)
        self.comparisons: Counter[int] = Counter()
        self.given: list[tuple[int, Pair, str, bool]] = []
        self.short = 0
        for comparison in existing:
            self._had[comparison.pair, comparison.construct].add(comparison.rater)
            if comparison.open:
                self._open[comparison.pair, comparison.construct] += 1
                self.comparisons[comparison.rater] += 1
                if comparison.rater not in self._of_pair[comparison.pair]:
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
        """Give a pair to the raters who are missing on each construct."""
        for spec in specs:
            if spec.key in pair.unratable:
                left_out[spec.key, pair.unratable[spec.key]] += 1
                continue
            for _ in range(per_item - self._open[pair.name, spec.key]):
                rater = self._next(pair, spec.key)
                if rater is None:
                    self.short += 1
                    continue
                if rater not in self._of_pair[pair.name]:
                    self._join(rater, pair.name, pair.systems, self._first(pair, rater))
                    self._swaps[rater] += 1 if self._of_pair[pair.name][rater] == pair.b else -1
                swapped = self._of_pair[pair.name][rater] == pair.b
                self._had[pair.name, spec.key].add(rater)
                self._open[pair.name, spec.key] += 1
                self.comparisons[rater] += 1
                self.given.append((rater, pair, spec.key, swapped))

    def who_has_what(self) -> Iterator[tuple[int, frozenset[int]]]:
        """Return raters with the pairs they have."""
        for pair, raters in self._of_pair.items():
            for rater in raters:
                yield rater, pair

    def _next(self, pair: Pair, construct: str) -> int | None:
        having, had = self._of_pair[pair.name], self._had[pair.name, construct]
        free = [
            rater
            for rater in self._raters
            if rater not in had and pair.query not in self._barred.get(rater, ())
        ]
        # Who reads the two responses anyway compares them on each construct.
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
        for other in self._of_pair[pair]:
            self._met[rater][other] += 1
            self._met[other][rater] += 1
            old, new = self._group.get(rater, rater), self._group.get(other, other)
            if old != new:
                for member, group in self._group.items():
                    self._group[member] = new if group == old else group
        self._of_pair[pair][rater] = first
        self._pairs_of[rater] += 1
        self._systems_of[rater].update(systems)

    def _first(self, pair: Pair, rater: int) -> int:
        """Say which is shown first: what the pair, then what the rater, has had less often."""
        shown = self._of_pair[pair.name].values()
        ahead = sum(1 if first == pair.b else -1 for first in shown)
        for balance in (ahead, self._swaps[rater]):
            if balance:
                return pair.b if balance < 0 else pair.a
        return pair.b if self._rng.random() < 0.5 else pair.a
