"""The pairs of responses that can be compared, and the draw of some of them.

Pairs are drawn for each pair of systems by permanent random numbers, made of the seed, the query
and the two responses: of the N queries that the two systems answered differently, the share
`design.comparisons` with the smallest numbers. So every pair of systems is drawn equally often,
and a larger share or further queries add pairs without taking any away.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import combinations
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from study.assignment.demand import NO_PASSAGES, NO_REFERENCE
from study.facts.current_responses import current_outputs
from study.schema.tables import queries, responses
from study.settings.constructs import ConstructSpec

Systems = tuple[str, str]


class Pair(NamedTuple):
    """Two different responses to one query; `a` is of the system that comes first by name."""

    query: int
    a: int
    b: int
    systems: tuple[Systems, ...]
    """The pairs of systems that gave them: several where systems share a response."""
    chance: float
    """The pair's permanent random number, from 0 to 1."""
    unratable: Mapping[str, str]
    """Construct to why the pair can't be compared on it."""

    @property
    def name(self) -> frozenset[int]:
        """The two responses, in no order."""
        return frozenset((self.a, self.b))


def draw(
    pairs: Sequence[Pair], share: float, before: Container[frozenset[int]]
) -> tuple[dict[frozenset[int], float], Counter[Systems]]:
    """Return the drawn pairs with their probabilities, and how many each pair of systems has.

    Of each pair of systems' pairs those with the smallest numbers are drawn. What was drawn
    before stays.
    """
    by_systems: dict[Systems, list[Pair]] = defaultdict(list)
    for pair in pairs:
        for systems in pair.systems:
            by_systems[systems].append(pair)
    probability: dict[frozenset[int], float] = {}
    counts: Counter[Systems] = Counter()
    for systems, those in by_systems.items():
        size = max(1, round(share * len(those)))
        for place, pair in enumerate(sorted(those, key=lambda pair: pair.chance)):
            if place < size or pair.name in before:
                # A response that two systems share is drawn with either.
                previous = probability.get(pair.name, 0.0)
                probability[pair.name] = max(previous, size / len(those))
                counts[systems] += 1
    return probability, counts


def all_pairs(
    connection: Connection,
    seed: int,
    specs: Sequence[ConstructSpec],
    drawn: Container[int] | None,
) -> list[Pair]:
    """Return every pair of different current responses of two systems to one query."""
    pairs: list[Pair] = []
    for query, answers in _answers(connection).items():
        if drawn is not None and query not in drawn:
            continue
        by_responses: dict[frozenset[int], list[tuple[Row[Any], Row[Any]]]] = {}
        for left, right in combinations(sorted(answers, key=lambda row: row.system), 2):
            if left.response_id != right.response_id:
                name = frozenset((left.response_id, right.response_id))
                by_responses.setdefault(name, []).append((left, right))
        for both in by_responses.values():
            first, second = both[0]
            pairs.append(
                Pair(
                    query,
                    first.response_id,
                    second.response_id,
                    tuple((left.system, right.system) for left, right in both),
                    _permanent(seed, first, second),
                    _unratable(first, second, specs),
                )
            )
    return pairs


def _unratable(first: Row[Any], second: Row[Any], specs: Iterable[ConstructSpec]) -> dict[str, str]:
    reasons = {}
    for spec in specs:
        if "context" in spec.sees and None in (first.context_hash, second.context_hash):
            reasons[spec.key] = NO_PASSAGES
        elif "reference" in spec.sees and not first.references:
            reasons[spec.key] = NO_REFERENCE
    return reasons


def _permanent(seed: int, first: Row[Any], second: Row[Any]) -> float:
    """Return a number from 0 to 1 that depends only on the seed and the pair."""
    names = sorted(f"{row.key}@{row.version}" for row in (first, second))
    text = "\0".join((str(seed), first.query_key, *names))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64


def _answers(connection: Connection) -> dict[int, list[Row[Any]]]:
    """Return the current outputs by query."""
    current = current_outputs()
    rows: Any = connection.execute(
        select(
            current.c.query_id,
            current.c.system,
            current.c.response_id,
            responses.c.key,
            responses.c.version,
            responses.c.context_hash,
            queries.c.key.label("query_key"),
            queries.c.references,
        )
        .join_from(current, responses, current.c.response_id == responses.c.id)
        .join(queries, current.c.query_id == queries.c.id)
        .order_by(current.c.query_id, current.c.system)
    )
    answers: dict[int, list[Row[Any]]] = {}
    for row in rows:
        answers.setdefault(row.query_id, []).append(row)
    return answers
