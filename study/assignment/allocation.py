"""Who is given which block: within languages, and balanced."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from study.assignment.demand import Block
from study.assignment.load_balance import Loads, choose_raters
from study.assignment.rater_profiles import RaterProfile
from study.errors import StudyError

# A rater's main work: query to response to constructs.
Work = Mapping[int, Mapping[int, frozenset[str]]]

TOO_FEW_READ = "too few raters read {}"


@dataclass
class Allocation:
    """Who has what, and what nobody has."""

    blocks: dict[int, list[Block]] = field(default_factory=lambda: defaultdict(list))
    """Place of a rater to the blocks they are given."""
    unread: list[tuple[Block, str]] = field(default_factory=list)
    """Blocks that too few raters may be given, with the reason."""


def allocate(
    blocks: Sequence[Block],
    people: Sequence[RaterProfile],
    able: Mapping[int, frozenset[int]],
    works: Sequence[Work],
    shown: Mapping[int, set[int]],
    cost: Callable[[int, Mapping[int, frozenset[str]]], float],
    rng: np.random.Generator,
    *,
    per_item: int,
    split_queries: bool,
    language: Callable[[int], str | None],
) -> Allocation:
    """Choose raters for each block.

    Parameters
    ----------
    able
        Query to the places of those who may be given it.
    works
        What each rater has of the main rating already.
    shown
        Rater to queries of which they were shown a later stage.
    cost
        Words of responses to a query.

    Raises
    ------
    StudyError
        There are too few raters for a block, whatever they read.
    """
    shared = Allocation()
    free: list[Block] = []
    place = {person.id: index for index, person in enumerate(people)}
    for block in blocks:
        taken = frozenset(place[r] for r in block.taken_by if r in place)
        if len(able[block.query] - taken) >= block.need:
            free.append(block)
        elif len(able[block.query]) < len(people):
            shared.unread.append((block, TOO_FEW_READ.format(language(block.query))))
        else:
            raise _too_few(block, len(people) - len(taken), len(people), per_item)
    units = [block.responses[0] if split_queries else block.query for block in free]
    chosen = choose_raters(
        free,
        units,
        [person.id for person in people],
        [cost(block.query, _alike(block)) for block in free],
        _loads(people, works, shown, cost, split_queries),
        rng,
        [able[block.query] for block in free],
    )
    for block, places in zip(free, chosen, strict=True):
        for place_of_rater in places:
            shared.blocks[place_of_rater].append(block)
    return shared


def _too_few(block: Block, free: int, everybody: int, per_item: int) -> StudyError:
    return StudyError(
        f"{per_item} raters an item take {block.need} further raters for some responses, "
        f"and {free} of the {everybody} named are free for them. Name more raters, "
        "or lower --per-item."
    )


def _loads(
    people: Sequence[RaterProfile],
    works: Sequence[Work],
    shown: Mapping[int, set[int]],
    cost: Callable[[int, Mapping[int, frozenset[str]]], float],
    split_queries: bool,
) -> Loads:
    units: list[set[int]] = []
    for work in works:
        units.append(set().union(*work.values()) if split_queries else set(work))
    shared = np.zeros((len(people), len(people)), dtype=np.int64)
    for i, first in enumerate(units):
        for j, second in enumerate(units[:i]):
            shared[i, j] = shared[j, i] = len(first & second)
    words = [float(sum(cost(q, responses) for q, responses in work.items())) for work in works]
    seen = [shown.get(person.id, set()) for person in people]
    return Loads(units=units, words=np.array(words), shared=shared, shown=seen)


def _alike(block: Block) -> dict[int, frozenset[str]]:
    return dict.fromkeys(block.responses, frozenset(block.construct_keys))
