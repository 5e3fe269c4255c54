"""The rows to be stored: a plan in each rater's own order of work."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from study.assigning.given import Held
from study.assigning.needs import Block
from study.assigning.planning import Loads, choose_raters
from study.assigning.reading_time import Reading

Row = dict[str, Any]


def rows_of_raters(
    blocks: Sequence[Block],
    raters: Sequence[int],
    held: Held,
    shown: Mapping[int, set[int]],
    last: Mapping[int | None, int],
    reading: Reading,
    rng: np.random.Generator,
    *,
    split_queries: bool,
) -> list[Row]:
    """Choose raters for each block, and set the new work behind what they have already.

    Queries come in an order of the rater's own, and the responses to a query one after another.
    """
    by_rater: dict[int, dict[int, list[tuple[int, Block]]]] = defaultdict(dict)
    units = [block.responses[0] if split_queries else block.query for block in blocks]
    chosen = choose_raters(
        blocks,
        units,
        raters,
        [float(reading.words(block.query, _alike(block))) for block in blocks],
        _loads(raters, held, shown, reading, split_queries),
        rng,
    )
    for block, places in zip(blocks, chosen, strict=True):
        for place in places:
            mine = by_rater[place].setdefault(block.query, [])
            mine += [(response, block) for response in block.responses]
    rows: list[Row] = []
    for place, rater in enumerate(raters):
        position = last.get(rater, -1)
        queries = list(by_rater.get(place, {}).values())
        for index in rng.permutation(len(queries)):
            work = queries[index]
            for response, block in (work[i] for i in rng.permutation(len(work))):
                position += 1
                rows.append(_row(rater, response, block, position))
    return _with_shuffled_constructs(rows, rng)


def rows_of_slots(
    blocks: Sequence[Block], last: Mapping[int | None, int], rng: np.random.Generator
) -> list[Row]:
    """Return slots without a rater, those of a query one after another."""
    position = last.get(None, -1)
    rows: list[Row] = []
    for index in rng.permutation(len(blocks)):
        block = blocks[index]
        for _ in range(block.need):
            for response in block.responses:
                position += 1
                rows.append(_row(None, response, block, position))
    return _with_shuffled_constructs(rows, rng)


def _loads(
    raters: Sequence[int],
    held: Held,
    shown: Mapping[int, set[int]],
    reading: Reading,
    split_queries: bool,
) -> Loads:
    units: list[set[int]] = []
    for rater in raters:
        queries = held.get(rater, {})
        units.append(set().union(*queries.values()) if split_queries else set(queries))
    shared = np.zeros((len(raters), len(raters)), dtype=np.int64)
    for i, one in enumerate(units):
        for j, other in enumerate(units[:i]):
            shared[i, j] = shared[j, i] = len(one & other)
    words = [float(reading.total(held.get(rater, {}))) for rater in raters]
    seen = [shown.get(rater, set()) for rater in raters]
    return Loads(units=units, words=np.array(words), shared=shared, shown=seen)


def _alike(block: Block) -> dict[int, frozenset[str]]:
    return dict.fromkeys(block.responses, frozenset(block.construct_keys))


def _row(rater: int | None, response: int, block: Block, position: int) -> Row:
    return {
        "rater_id": rater,
        "response_id": response,
        "construct_keys": block.construct_keys,
        "purpose": "main",
        "position": position,
        "repeat": 0,
        "channel": "own",
        "inclusion_prob": 1.0,
    }


def _with_shuffled_constructs(rows: list[Row], rng: np.random.Generator) -> list[Row]:
    # The order of constructs within a stage is part of the design, so it is stored.
    alike: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[row["construct_keys"]].append(row)
    for keys, those in alike.items():
        orders = rng.permuted(np.tile(np.arange(len(keys)), (len(those), 1)), axis=1)
        for row, order in zip(those, orders.tolist(), strict=True):
            row["construct_keys"] = [keys[i] for i in order]
    return rows
