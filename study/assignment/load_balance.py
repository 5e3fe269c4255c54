"""The plan: who is given which block, balanced and seeded. Knows no database.

A unit is what goes to a rater as a whole: a query, or a single response. Raters end with numbers
of units that differ by one at most; among equally loaded raters, those go first whom nothing links
to the raters already chosen, then those who have shared the fewest units with them, so that all
pairs meet and severities can be separated from responses; then those with the least to read.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from study.assignment.demand import Block


@dataclass
class Loads:
    """What each rater has so far; rows and columns are raters in a fixed order."""

    units: list[set[int]]
    words: NDArray[np.float64]
    shared: NDArray[np.int64]
    """Number of units that two raters have in common."""
    shown: list[set[int]] = field(default_factory=list)
    """Queries of which each rater was shown a later stage: they are asked last."""


def choose_raters(
    blocks: Sequence[Block],
    units: Sequence[int],
    raters: Sequence[int],
    words: Sequence[float],
    loads: Loads,
    rng: np.random.Generator,
    able: Sequence[frozenset[int]] | None = None,
) -> list[tuple[int, ...]]:
    """Return the places (in `raters`) of those who are given each block, adding to `loads`.

    Parameters
    ----------
    blocks, units
        What is to be given, and the unit that each block is part of. A rater who has the unit
        already goes before others.
    raters
        Database keys of the raters.
    words
        Words to read in each block.
    loads
        What the raters have already; it is brought up to date.
    rng
        Breaks ties.
    able
        The places of those who may take each block, such as by language; everybody by default.

    Raises
    ------
    StopIteration
        A block wants more raters than there are who don't have it yet.
    """
    place = {rater: index for index, rater in enumerate(raters)}
    counts = np.array([len(mine) for mine in loads.units], dtype=np.int64)
    chosen: list[tuple[int, ...]] = [()] * len(blocks)
    group = _groups(loads.shared)
    everybody = set(range(len(raters)))
    for index in _order(blocks, words, rng):
        block = blocks[index]
        taken = {place[rater] for rater in block.taken_by if rater in place}
        out = taken if able is None else taken | (everybody - able[index])
        unit = units[index]
        known = np.array([unit in mine for mine in loads.units])
        shown = np.zeros(len(raters), dtype=bool)
        if loads.shown:
            shown = np.array([block.query in queries for queries in loads.shown])
        chance = rng.random(len(raters))
        together = [*taken]
        picked: list[int] = []
        for _ in range(block.need):
            met = loads.shared[:, together].sum(axis=1) if together else np.zeros(len(raters))
            linked = np.isin(group, group[together])
            order = np.lexsort((chance, loads.words, met, linked, counts, ~known, shown))
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
    """Say whether all raters are linked through responses that they share.

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
