"""Attention checks among a rater's main work: damaged copies of responses, and imported checks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, insert, select

from study.assignment.assignment_rows import Group, Piece
from study.assignment.reading_time import WordCounts
from study.assignment.sampling_frame import primary
from study.schema import (
    digest,
    now,
)
from study.schema.tables import (
    assignments,
    check_pairs,
    expected_values,
    passages,
    queries,
    response_passages,
    responses,
)
from study.settings.constructs import ConstructSpec

DAMAGE = "another_answer"

LEAST_WORDS = 5
"""A shorter text could be an equally good answer to another question."""

# Answers to other queries that are compared with an original.
_POOL = 400
# A copy must differ in content, not in length.
_SHORTEST, _LONGEST = 0.5, 2.0
_POOLING = 0x636F7079


def expected_lower(constructs: Iterable[ConstructSpec]) -> list[str]:
    """Return the constructs on which an answer to another query is worse than the original.

    These are all constructs with question, passages or reference, except Information Density: an
    answer to another question may be equally dense.
    """
    return [
        c.key
        for c in constructs
        if c.key != "ID" and {"question", "context", "reference"}.intersection(c.sees)
    ]


class Copies:
    """Finds or creates the damaged copy of an original; each has at most one."""

    def __init__(
        self,
        connection: Connection,
        seed: int,
        answers: Sequence[int],
        reading: WordCounts,
        *,
        dry_run: bool,
    ) -> None:
        self._connection = connection
        self._reading = reading
        self._dry_run = dry_run
        rows = connection.execute(
            select(check_pairs.c.original_id, check_pairs.c.damaged_id).where(
                check_pairs.c.damage == DAMAGE
            )
        )
        self._made: dict[int, int | None] = {row[0]: row[1] for row in rows}
        self._seed = seed
        self._answers = answers
        self._pool: list[Any] | None = None
        rated = connection.execute(
            select(responses.c.query_id)
            .join_from(assignments, responses, assignments.c.response_id == responses.c.id)
            .where(assignments.c.purpose.in_(("main", "calibration")))
            .distinct()
        )
        self.rated = set(rated.scalars())
        """Queries whose answers are assigned to raters."""
        self._used: set[int] = set()
        self.queries: dict[int, int] = {}
        """Query of each copy that was requested."""

    def of(self, original: int, construct_keys: Sequence[str]) -> int | None:
        """Return the copy of an original; None if no answer can serve as one.

        In a dry run a new copy's key is a negative number.
        """
        if original not in self._made:
            self._made[original] = self._make(original, construct_keys)
        copy = self._made[original]
        if copy is not None and copy not in self.queries:
            query = select(responses.c.query_id).where(responses.c.id == original)
            self.queries[copy] = self._connection.execute(query).scalar_one()
        return self._made[original]

    def _make(self, original: int, construct_keys: Sequence[str]) -> int | None:
        row = self._connection.execute(
            select(
                responses.c.query_id,
                responses.c.text,
                responses.c.context_hash,
                queries.c.references,
                queries.c.attributes,
            )
            .join_from(responses, queries, responses.c.query_id == queries.c.id)
            .where(responses.c.id == original)
        ).one()
        hashes = self._passages(original)
        passages = set(
            self._connection.execute(
                select(responses.c.content_hash).where(responses.c.query_id == row.query_id)
            ).scalars()
        )
        for donor in self._ranked(row):
            content = digest(donor.text.encode(), *hashes)
            if content in passages:
                continue
            self._used.add(donor.id)
            copy = -original
            if not self._dry_run:
                copy = self._store(original, row, donor.text, content, construct_keys)
            self._reading.enter(copy, donor.text, like=original)
            return copy
        return None

    def _store(
        self, original: int, row: Any, text: str, content: bytes, construct_keys: Sequence[str]
    ) -> int:
        name = digest(str(row.query_id).encode(), content).hex()[:16]
        copy = self._connection.execute(
            insert(responses)
            .values(
                key=f"check-{name}",
                version=1,
                text=text,
                role="check",
                query_id=row.query_id,
                content_hash=content,
                context_hash=row.context_hash,
            )
            .returning(responses.c.id)
        ).scalar_one()
        places = self._connection.execute(
            select(
                response_passages.c.position,
                response_passages.c.passage_id,
                response_passages.c.document,
            ).where(response_passages.c.response_id == original)
        ).mappings()
        copied = [{"response_id": copy, **place} for place in places]
        if copied:
            self._connection.execute(insert(response_passages), copied)
        self._connection.execute(
            insert(check_pairs).values(
                original_id=original,
                damaged_id=copy,
                construct_keys=list(construct_keys),
                damage=DAMAGE,
                created_at=now(),
            )
        )
        return int(copy)

    def _passages(self, response: int) -> list[bytes]:
        return list(
            self._connection.execute(
                select(passages.c.content_hash)
                .join_from(
                    response_passages, passages, response_passages.c.passage_id == passages.c.id
                )
                .where(response_passages.c.response_id == response)
                .order_by(response_passages.c.position)
            ).scalars()
        )

    def _ranked(self, row: Any) -> list[Any]:
        """Return answers to other queries, those that share the fewest words first.

        Answers that are not assigned to any rater come first: a rater who has seen a text as an
        answer to its own query would recognize the copy.
        """
        own_words = _words(row.text)
        original_words = own_words.union(*(_words(reference) for reference in row.references))
        length, language = len(row.text.split()), _language(row.attributes)

        def badness(donor: Any) -> tuple[bool, bool, bool, bool, float]:
            words = _words(donor.text)
            ratio = len(donor.text.split()) / max(length, 1)
            return (
                donor.id in self._used,
                donor.query_id in self.rated,
                language is not None and _language(donor.attributes) != language,
                not _SHORTEST <= ratio <= _LONGEST,
                len(words & original_words) / max(len(words), 1),
            )

        others = [d for d in self._donors() if d.query_id != row.query_id and d.text.strip()]
        return sorted(others, key=badness)

    def _donors(self) -> list[Any]:
        if self._pool is None:
            rng = np.random.default_rng([self._seed, _POOLING])
            chosen = rng.permutation(len(self._answers))[:_POOL]
            ids = [self._answers[index] for index in chosen]
            self._pool = list(
                self._connection.execute(
                    select(
                        responses.c.id, responses.c.query_id, responses.c.text, queries.c.attributes
                    )
                    .join_from(responses, queries, responses.c.query_id == queries.c.id)
                    .where(responses.c.id.in_(ids))
                    .order_by(responses.c.id)
                )
            )
        return self._pool


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())


def _language(attributes: Any) -> str | None:
    language = (attributes or {}).get("language")
    return primary(language) if isinstance(language, str) else None


# What a rater has of a query: response to constructs.
Responses = Mapping[int, frozenset[str]]


class Imported(NamedTuple):
    """A response that was imported as a check, with ranges that the owner declared."""

    response: int
    query: int


@dataclass
class CheckMaterial:
    """The material for a rater's checks."""

    copies: Copies
    imported: Sequence[Imported]
    keys_of: Callable[[int], tuple[str, ...]]
    """Imported response to the constructs that it can be rated on."""
    falling: Sequence[str]
    """Constructs on which a copy must be worse."""
    length: Callable[[int], int]
    """Response to its number of words."""
    layout: Callable[[int], str]
    """Query to its layout for the rater."""
    rank: Callable[[int], float] = float
    """Response to its rank among the originals of its query, the same for all raters."""
    previous: frozenset[int] = field(default_factory=frozenset)
    """Responses that were assigned to the rater before."""


def imported_checks(connection: Connection, measured: Iterable[int]) -> list[Imported]:
    """Return the responses with expected values for checks that belong to no system."""
    answers = set(measured)
    rows = connection.execute(
        select(responses.c.id, responses.c.query_id)
        .join_from(expected_values, responses, expected_values.c.response_id == responses.c.id)
        .where(expected_values.c.purpose == "check")
        .distinct()
        .order_by(responses.c.id)
    )
    return [Imported(row[0], row[1]) for row in rows if row[0] not in answers]


def interleave_checks(
    groups: list[Group],
    work: Mapping[int, Responses],
    target: int,
    material: CheckMaterial,
    barred: set[int],
    rng: np.random.Generator,
) -> int:
    """Add up to `target` checks to a rater's groups, which are in order; return how many.

    Most are damaged copies, spread evenly over the work; at most every second one is imported as
    long as there are copies. A check is placed among the responses to its query; if the rater has
    none of them, it is a separate group.

    Parameters
    ----------
    work
        Query to the rater's responses in the main rating.
    barred
        Queries with a check, or that the rater has begun.
    """
    imported = [i for i in material.imported if i.response not in material.previous]
    imported = [imported[i] for i in rng.permutation(len(imported))]
    by_hand = _join_imported(groups, work, imported, target // 2, material, barred, rng)
    added = by_hand + _join_copies(groups, work, target - by_hand, material, barred, rng)
    if added < target:
        added += _join_imported(groups, work, imported, target - added, material, barred, rng)
    return added


def _join_copies(
    groups: Sequence[Group],
    work: Mapping[int, Responses],
    target: int,
    material: CheckMaterial,
    barred: set[int],
    rng: np.random.Generator,
) -> int:
    places = [place for place, group in enumerate(groups) if group.query in work]
    added = 0
    for part in np.array_split(np.array(places, dtype=np.int64), target) if target else ():
        # If no response of a part of the work can be copied, the check goes to another part.
        others = rng.permutation([place for place in places if place not in part])
        for place in (*rng.permutation(part), *others):
            group = groups[int(place)]
            if group.query not in barred and _copy_into(group, work[group.query], material):
                barred.add(group.query)
                added += 1
                break
    return added


def _copy_into(group: Group, responses: Responses, material: CheckMaterial) -> bool:
    for original in sorted(responses, key=material.rank):
        keys = responses[original]
        falling = [key for key in material.falling if key in keys]
        if not falling or material.length(original) < LEAST_WORDS:
            continue
        copy = material.copies.of(original, material.falling)
        if copy is None or copy in material.previous:
            continue
        ordered = tuple(sorted(keys))
        piece = Piece(copy, ordered, "check", layout=material.layout(group.query))
        group.pieces.append(piece)
        return True
    return False


def _join_imported(
    groups: list[Group],
    work: Mapping[int, Responses],
    imported: list[Imported],
    target: int,
    material: CheckMaterial,
    barred: set[int],
    rng: np.random.Generator,
) -> int:
    added = 0
    by_query = {group.query: group for group in groups}
    while imported and added < target:
        check = imported.pop()
        keys = material.keys_of(check.response)
        group = by_query.get(check.query)
        if not keys or check.query in barred or (check.query in work and group is None):
            continue
        alone = group is None
        group = group or Group(check.query)
        piece = Piece(check.response, keys, "check", layout=material.layout(check.query))
        group.pieces.append(piece)
        barred.add(check.query)
        if alone:
            groups.insert(int(rng.integers(len(groups) + 1)), group)
        added += 1
    return added
