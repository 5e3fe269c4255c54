"""Checks, strewn among a rater's main work: damaged copies, and material that was imported."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from study.assignment.assignment_rows import Group, Piece
from study.assignment.damaged_copies import LEAST_WORDS, Copies
from study.schema import ExpectedValue, Response, table

# What a rater has of a query: response to constructs.
Responses = Mapping[int, frozenset[str]]


class Imported(NamedTuple):
    """A response that was brought in as a check, with ranges that the owner declared."""

    response: int
    query: int


@dataclass
class CheckMaterial:
    """What checks are made of."""

    copies: Copies
    imported: Sequence[Imported]
    keys_of: Callable[[int], tuple[str, ...]]
    """Imported response to the constructs that it can be rated on."""
    falling: Sequence[str]
    """Constructs on which a copy must fall."""
    length: Callable[[int], int]
    """Response to its number of words."""
    layout: Callable[[int], str]
    """Query to the layout in which the rater has it."""
    rank: Callable[[int], float] = float
    """Response to its place among the originals of its query: the same for all raters."""
    taken: frozenset[int] = field(default_factory=frozenset)
    """Responses that the rater was given before."""


def imported_checks(connection: Connection, measured: Iterable[int]) -> list[Imported]:
    """Return the responses with an expected range for checks that no system gave."""
    e, r = table(ExpectedValue), table(Response)
    answers = set(measured)
    rows = connection.execute(
        select(r.c.id, r.c.query_id)
        .join_from(e, r, e.c.response_id == r.c.id)
        .where(e.c.purpose == "check")
        .distinct()
        .order_by(r.c.id)
    )
    return [Imported(row[0], row[1]) for row in rows if row[0] not in answers]


def interleave_checks(
    groups: list[Group],
    work: Mapping[int, Responses],
    wanted: int,
    material: CheckMaterial,
    barred: set[int],
    rng: np.random.Generator,
) -> int:
    """Add up to `wanted` checks to a rater's groups, which are in order; return how many.

    Mostly damaged copies, spread evenly over the work; at most every second one is imported while
    there are copies. A check joins the responses to its query, and one of a query that the rater
    has not is a group of its own.

    Parameters
    ----------
    work
        Query to what the rater has of it in the main rating.
    barred
        Queries that have a check or that the rater has begun.
    """
    imported = [i for i in material.imported if i.response not in material.taken]
    imported = [imported[i] for i in rng.permutation(len(imported))]
    by_hand = _join_imported(groups, work, imported, wanted // 2, material, barred, rng)
    made = by_hand + _join_copies(groups, work, wanted - by_hand, material, barred, rng)
    if made < wanted:
        made += _join_imported(groups, work, imported, wanted - made, material, barred, rng)
    return made


def _join_copies(
    groups: Sequence[Group],
    work: Mapping[int, Responses],
    wanted: int,
    material: CheckMaterial,
    barred: set[int],
    rng: np.random.Generator,
) -> int:
    places = [place for place, group in enumerate(groups) if group.query in work]
    made = 0
    for part in np.array_split(np.array(places, dtype=np.int64), wanted) if wanted else ():
        # Where a part of the work has nothing to copy, the check is made in another.
        others = rng.permutation([place for place in places if place not in part])
        for place in (*rng.permutation(part), *others):
            group = groups[int(place)]
            if group.query not in barred and _copy_into(group, work[group.query], material):
                barred.add(group.query)
                made += 1
                break
    return made


def _copy_into(group: Group, responses: Responses, material: CheckMaterial) -> bool:
    for original in sorted(responses, key=material.rank):
        keys = responses[original]
        falling = [key for key in material.falling if key in keys]
        if not falling or material.length(original) < LEAST_WORDS:
            continue
        copy = material.copies.of(original, material.falling)
        if copy is None or copy in material.taken:
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
    wanted: int,
    material: CheckMaterial,
    barred: set[int],
    rng: np.random.Generator,
) -> int:
    made = 0
    by_query = {group.query: group for group in groups}
    while imported and made < wanted:
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
        made += 1
    return made
