"""The allocation of blocks to raters: by language, balanced and seeded. No database access.

A unit is what goes to a rater as a whole: a query, or a single response. The raters' numbers of
units differ by one at most. Among equally loaded raters, those come first whom no shared unit links
to the raters already chosen, then those who share the fewest units with them, so that all pairs of
raters meet and severities can be separated from responses; then those with the least to read.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from study.assignment.demand import Block
from study.assignment.raters import RaterProfile
from study.errors import StudyError


@dataclass
class Loads:
    """The load of each rater; rows and columns are raters in a fixed order."""

    units: list[set[int]]
    words: NDArray[np.float64]
    shared: NDArray[np.int64]
    """Number of units that two raters have in common."""
    revealed: list[set[int]] = field(default_factory=list)
    """Queries of which each rater has seen a later stage: they come last for these."""


def choose_raters(
    blocks: Sequence[Block],
    units: Sequence[int],
    raters: Sequence[int],
    words: Sequence[float],
    loads: Loads,
    rng: np.random.Generator,
    eligible: Sequence[frozenset[int]] | None = None,
) -> list[tuple[int, ...]]:
    """Return the indices in `raters` of those who get each block, and add to `loads`.

    Parameters
    ----------
    blocks, units
        The blocks to assign, and the unit of each. A rater who has the unit already comes before
        others.
    raters
        Database keys of the raters.
    words
        Words to read in each block.
    loads
        The current loads, which are updated.
    rng
        Breaks ties.
    eligible
        The indices of the raters to whom each block may be assigned; all by default.

    Raises
    ------
    StopIteration
        A block needs more raters than are available.
    """
    place = {rater: index for index, rater in enumerate(raters)}
    counts = np.array([len(mine) for mine in loads.units], dtype=np.int64)
    chosen: list[tuple[int, ...]] = [()] * len(blocks)
    group = _groups(loads.shared)
    everybody = set(range(len(raters)))
    for index in _order(blocks, words, rng):
        block = blocks[index]
        excluded = {place[rater] for rater in block.excluded_raters if rater in place}
        out = excluded if eligible is None else excluded | (everybody - eligible[index])
        unit = units[index]
        has_unit = np.array([unit in mine for mine in loads.units])
        revealed = np.zeros(len(raters), dtype=bool)
        if loads.revealed:
            revealed = np.array([block.query in queries for queries in loads.revealed])
        chance = rng.random(len(raters))
        together = [*excluded]
        picked: list[int] = []
        for _ in range(block.need):
            met = loads.shared[:, together].sum(axis=1) if together else np.zeros(len(raters))
            linked = np.isin(group, group[together])
            order = np.lexsort((chance, loads.words, met, linked, counts, ~has_unit, revealed))
            best = next(i for i in order.tolist() if i not in out and i not in picked)
            if together and not linked[best]:
                group[group == group[best]] = group[together[0]]
            picked.append(best)
            together.append(best)
        for newcomer in picked:
            for other in together:
                if other != newcomer:
                    loads.shared[newcomer, other] += 1
                    if other not in picked:
                        loads.shared[other, newcomer] += 1
            loads.words[newcomer] += words[index]
            if unit not in loads.units[newcomer]:
                loads.units[newcomer].add(unit)
                counts[newcomer] += 1
        chosen[index] = tuple(picked)
    return chosen


def _order(
    blocks: Sequence[Block],
    words: Sequence[float],
    rng: np.random.Generator,
) -> list[int]:
    # Many raters first, and then longest first: each rater then has some of the long ones, and
    # the short ones even it out.
    chance = rng.permutation(len(blocks))
    needs = np.array([block.need for block in blocks], dtype=np.int64)
    order = np.lexsort((chance, -np.asarray(words, dtype=float), -needs))
    return [int(index) for index in order]


def _groups(shared: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each rater, the same for raters whom shared units link."""
    group = np.arange(len(shared))
    for first, second in zip(*np.nonzero(shared), strict=True):
        group[group == group[second]] = group[first]
    return group


def connected(pairs: Iterable[tuple[int, int]]) -> bool:
    """Return whether all raters are linked through responses that they share.

    `pairs` are (rater, response). Without a link, a severe rater can't be distinguished from
    one who rated weak responses.
    """
    parent: dict[tuple[str, int], tuple[str, int]] = {}

    def root(node: tuple[str, int]) -> tuple[str, int]:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for rater, response in pairs:
        parent[root(("rater", rater))] = root(("response", response))
    return len({root(node) for node in list(parent)}) <= 1


# A rater's main work: query to response to constructs.
Work = Mapping[int, Mapping[int, frozenset[str]]]

TOO_FEW_READ = "too few raters read {}"


@dataclass
class Allocation:
    """The blocks of each rater, and the blocks without enough raters."""

    blocks: dict[int, list[Block]] = field(default_factory=lambda: defaultdict(list))
    """Index of a rater to their blocks."""
    unread: list[tuple[Block, str]] = field(default_factory=list)
    """Blocks that may be assigned to too few raters, with the reason."""


def allocate(
    blocks: Sequence[Block],
    people: Sequence[RaterProfile],
    eligible: Mapping[int, frozenset[int]],
    works: Sequence[Work],
    revealed: Mapping[int, set[int]],
    cost: Callable[[int, Mapping[int, frozenset[str]]], float],
    rng: np.random.Generator,
    *,
    per_item: int,
    language: Callable[[int], str | None],
) -> Allocation:
    """Choose raters for each block.

    Parameters
    ----------
    eligible
        Query to the indices of the raters to whom it may be assigned.
    works
        The existing main rating of each rater.
    revealed
        Rater to queries of which they have seen a later stage.
    cost
        Words of responses to a query.

    Raises
    ------
    StudyError
        There are too few raters for a block, regardless of language.
    """
    shared = Allocation()
    free: list[Block] = []
    place = {person.id: index for index, person in enumerate(people)}
    for block in blocks:
        excluded = frozenset(place[r] for r in block.excluded_raters if r in place)
        if len(eligible[block.query] - excluded) >= block.need:
            free.append(block)
        elif len(eligible[block.query]) < len(people):
            shared.unread.append((block, TOO_FEW_READ.format(language(block.query))))
        else:
            raise _too_few(block, len(people) - len(excluded), len(people), per_item)
    chosen = choose_raters(
        free,
        [block.query for block in free],
        [person.id for person in people],
        [cost(block.query, _alike(block)) for block in free],
        _loads(people, works, revealed, cost),
        rng,
        [eligible[block.query] for block in free],
    )
    for block, places in zip(free, chosen, strict=True):
        for place_of_rater in places:
            shared.blocks[place_of_rater].append(block)
    return shared


def _too_few(block: Block, free: int, everybody: int, per_item: int) -> StudyError:
    return StudyError(
        f"With --per-item {per_item}, some responses need {block.need} more raters, "
        f"and {free} of the {everybody} named are available. Name more raters, "
        "or lower --per-item."
    )


def _loads(
    people: Sequence[RaterProfile],
    works: Sequence[Work],
    revealed: Mapping[int, set[int]],
    cost: Callable[[int, Mapping[int, frozenset[str]]], float],
) -> Loads:
    units = [set(work) for work in works]
    shared = np.zeros((len(people), len(people)), dtype=np.int64)
    for i, first in enumerate(units):
        for j, second in enumerate(units[:i]):
            shared[i, j] = shared[j, i] = len(first & second)
    words = [float(sum(cost(q, responses) for q, responses in work.items())) for work in works]
    revealed_by_rater = [revealed.get(person.id, set()) for person in people]
    return Loads(units=units, words=np.array(words), shared=shared, revealed=revealed_by_rater)


def _alike(block: Block) -> dict[int, frozenset[str]]:
    return dict.fromkeys(block.responses, frozenset(block.construct_keys))
