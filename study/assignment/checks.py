"""Attention checks: queries of which a rater sees damaged copies or imported responses only."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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


class CheckQuery(NamedTuple):
    """A query that the rater does not have otherwise, with responses and their constructs."""

    query: int
    originals: Responses
    """Responses that can be copied, those to copy first in front."""
    imported: Responses
    """Responses that were imported as checks."""


@dataclass
class CheckMaterial:
    """The material for a rater's checks."""

    copies: Copies
    queries: Sequence[CheckQuery]
    """Those to use first in front."""
    falling: Sequence[str]
    """Constructs on which a copy must be worse."""
    length: Callable[[int], int]
    """Response to its number of words."""
    layout: Callable[[int], str]
    """Query to its layout for the rater."""


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


def made_checks(
    work: Mapping[int, Responses], target: int, material: CheckMaterial, rng: np.random.Generator
) -> list[Group]:
    """Return up to `target` checks, each a separate query.

    A check has as many responses, on the same constructs, as one of the rater's own queries, which
    is drawn at random, so that it cannot be told by counting. All of its responses are damaged
    copies or imported as checks. At most every second check has imported responses as long as there
    are copies.

    Parameters
    ----------
    work
        Query to the rater's responses in the main rating.
    """
    own = [tuple(responses.values()) for responses in work.values() if responses]
    unused = list(material.queries)
    groups: list[Group] = []
    for imported, most in ((True, target // 2), (False, target), (True, target)):
        while len(groups) < most:
            # Own queries of another form are tried where no query has the form that was drawn.
            drawn = dict.fromkeys(
                tuple(sorted(own[i], key=sorted)) for i in rng.permutation(len(own))
            )
            group = next(filter(None, (_made(f, unused, material, imported) for f in drawn)), None)
            if group is None:
                break
            unused = [query for query in unused if query.query != group.query]
            groups.append(group)
    return [groups[index] for index in rng.permutation(len(groups))]


def _made(
    form: Sequence[frozenset[str]],
    queries: Iterable[CheckQuery],
    material: CheckMaterial,
    imported: bool,
) -> Group | None:
    """Return a check with responses on these constructs from the first query that has them."""
    for query in queries:
        if bool(query.imported) != imported:
            continue
        chosen = matched(form, query, material.falling, material.length)
        made = [
            (r if r in query.imported else material.copies.of(r, material.falling), keys)
            for r, keys in chosen.items()
        ]
        pieces = [
            Piece(r, tuple(sorted(keys)), "check", layout=material.layout(query.query))
            for r, keys in made
            if r is not None
        ]
        if pieces and len(pieces) == len(form):
            return Group(query.query, pieces)
    return None


def matched(
    form: Sequence[frozenset[str]],
    query: CheckQuery,
    falling: Iterable[str],
    length: Callable[[int], int],
) -> dict[int, frozenset[str]]:
    """Return as many responses to a query as the form has, with its constructs; empty if it cannot.

    Imported checks come first, then responses of which a damaged copy can be rated lower.
    """
    chosen: dict[int, frozenset[str]] = {}
    for keys in sorted(form, key=len, reverse=True):
        fitting = [r for r, mine in query.imported.items() if keys <= mine and r not in chosen]
        fitting += [
            r
            for r, mine in query.originals.items()
            if keys <= mine
            and r not in chosen
            and not keys.isdisjoint(falling)
            and length(r) >= LEAST_WORDS
        ]
        if not fitting:
            return {}
        chosen[fitting[0]] = keys
    return chosen


def interleave(
    waiting: Sequence[Group],
    new: Sequence[Group],
    checks: Sequence[Group],
    rng: np.random.Generator,
) -> list[Group]:
    """Return new groups and checks in order, the checks spread evenly over all work.

    A check that comes among waiting groups, which have their positions already, gets the positions
    of the group that it follows.
    """
    everything = [*waiting, *new]
    places = np.arange(1 if waiting else 0, len(everything) + 1)
    parts = np.array_split(places, len(checks)) if checks else []
    by_place: dict[int, list[Group]] = {}
    for check, part in zip(checks, parts, strict=True):
        place = int(rng.choice(part if len(part) else places))
        behind = waiting[place - 1].places if 0 < place <= len(waiting) else {}
        by_place.setdefault(place, []).append(
            replace(check, places={round_: [max(mine)] for round_, mine in behind.items()})
        )
    ordered = list(by_place.get(0, ()))
    for place, group in enumerate(everything, start=1):
        ordered += [group, *by_place.get(place, ())]
    return ordered
