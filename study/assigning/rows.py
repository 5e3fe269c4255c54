"""The rows to be stored: each rater's work in an order of their own."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from study.assigning.rounds import Rounds

Row = dict[str, Any]


class Piece(NamedTuple):
    """A response that somebody is to rate."""

    response: int
    construct_keys: tuple[str, ...]
    purpose: str = "main"
    repeat: int = 0
    layout: str = "single"


@dataclass
class Group:
    """The work of a rater on one query in one phase."""

    query: int
    pieces: list[Piece] = field(default_factory=list)
    """What is new."""
    places: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Round to the positions of what the rater has of it already and has not begun."""


def in_order(
    rater: int | None,
    groups: Sequence[Group],
    position: int,
    rounds: Rounds | None,
    rng: np.random.Generator,
) -> list[Row]:
    """Return the rows of one rater and phase, behind `position`.

    Groups come as they are given, and responses to a query one after another, shuffled. With
    rounds, each construct has a row of its own, and groups are shuffled anew from the second
    round on. What joins a group that is there already goes among it.
    """
    rows: list[Row] = []
    parts: list[tuple[int, frozenset[str] | None]] = [(0, None)]
    if rounds is not None:
        parts = [(place, frozenset({key})) for key, place in rounds.items()]
    shuffled = list(groups)
    for number, (place, keys) in enumerate(parts):
        if number:
            shuffled = [groups[index] for index in rng.permutation(len(groups))]
        for group in shuffled:
            for index in rng.permutation(len(group.pieces)):
                piece = group.pieces[index]
                wanted = tuple(k for k in piece.construct_keys if keys is None or k in keys)
                if not wanted:
                    continue
                if group.places.get(place):
                    at = int(rng.choice(group.places[place]))
                else:
                    position += 1
                    at = position
                rows.append(_row(rater, piece, wanted, at, place))
    return rows


def of_slots(
    groups: Iterable[tuple[Group, int]],
    position: int,
    rounds: Rounds | None,
    rng: np.random.Generator,
) -> list[Row]:
    """Return slots without a rater: of each group that many, one after another."""
    work = list(groups)
    rows: list[Row] = []
    for index in rng.permutation(len(work)):
        group, need = work[index]
        for _ in range(need):
            more = in_order(None, [group], position, rounds, rng)
            position += len(more)
            rows += more
    return rows


def with_shuffled_constructs(rows: list[Row], rng: np.random.Generator) -> list[Row]:
    """Give each row an order of constructs of its own, which is part of the design."""
    alike: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[row["construct_keys"]].append(row)
    for keys, those in alike.items():
        orders = rng.permuted(np.tile(np.arange(len(keys)), (len(those), 1)), axis=1)
        for row, order in zip(those, orders.tolist(), strict=True):
            row["construct_keys"] = [keys[i] for i in order]
    return rows


def _row(rater: int | None, piece: Piece, keys: tuple[str, ...], position: int, round_: int) -> Row:
    return {
        "rater_id": rater,
        "response_id": piece.response,
        "construct_keys": keys,
        "purpose": piece.purpose,
        "position": position,
        "round": round_,
        "repeat": piece.repeat,
        "layout": piece.layout,
        "channel": "own",
        "inclusion_prob": 1.0,
        "stratum": None,
        "replaces_id": None,
    }
