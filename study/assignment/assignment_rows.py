"""The rows to store: the work of each rater in an order that is counterbalanced over raters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from study.assignment.stratified_sample import permanent_number
from study.facts.slots import OWN_CHANNEL
from study.settings.constructs import ConstructSpec

Rounds = dict[str, int]
"""Construct to the round in which it is rated."""


def rounds_of(constructs: Iterable[ConstructSpec], seed: int, rater: str | None) -> Rounds:
    """Return the rounds of a rater: constructs that need fewer fields come first.

    Constructs with the same fields are in an order that depends on seed and rater; all open slots
    have one order.
    """

    def turn(construct: ConstructSpec) -> tuple[int, float]:
        stage = 3 if "reference" in construct.sees else 2 if "context" in construct.sees else 1
        return stage, permanent_number(seed, "round", rater or "", construct.key)

    return {spec.key: place for place, spec in enumerate(sorted(constructs, key=turn))}


T = TypeVar("T")


def turned(base: Sequence[T], turn: int) -> list[T]:
    """Return the order of the rater whose turn it is, from 0.

    Every second order is the reverse of the one before it, so that over each two raters all have
    the same mean place; each further pair begins at a place where no order has begun yet.
    """
    order = list(base)
    if not order:
        return order
    start = turn // 2 * 2 % len(order)
    order = order[start:] + order[:start]
    return order if turn % 2 == 0 else order[::-1]


class Orders:
    """The orders of a study: random by the seed, and rotated from rater to rater."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._place = cache(lambda name: permanent_number(seed, "place", str(name)))
        self._keys = cache(self._shuffled)

    def responses(self, responses: Sequence[int], turn: int) -> list[int]:
        """Return the responses to a query in the order of this turn."""
        return turned(sorted(responses, key=lambda r: (self._place(r), r)), turn)

    def constructs(self, response: int, keys: Sequence[str], turn: int) -> list[str]:
        """Return the constructs of a response in the order of this turn."""
        return turned(self._keys(response, tuple(sorted(keys))), turn)

    def _shuffled(self, response: int, keys: tuple[str, ...]) -> tuple[str, ...]:
        numbers = {key: permanent_number(self._seed, "keys", str(response), key) for key in keys}
        return tuple(sorted(keys, key=lambda key: (numbers[key], key)))


Row = dict[str, Any]


class Piece(NamedTuple):
    """A response to rate."""

    response: int
    construct_keys: tuple[str, ...]
    purpose: str = "main"
    repeat: int = 0
    layout: str = "single"


@dataclass
class Group:
    """The assignments of a rater on one query in one phase."""

    query: int
    pieces: list[Piece] = field(default_factory=list)
    """New responses."""
    places: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Round to the positions of its existing assignments, if the rater has not begun them."""
    turn: int = 0
    """The rater's turn among those of the query, which decides the order of responses."""
    orders: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Round to the order of the responses, if it differs from that of the turn."""


def in_order(
    rater: int | None,
    groups: Sequence[Group],
    position: int,
    rounds: Rounds | None,
    orders: Orders,
    rng: np.random.Generator,
) -> list[Row]:
    """Return the rows of one rater and phase, with positions after `position`.

    Groups keep their order; responses to a query and constructs follow the rater's turn. With
    rounds, each construct has a separate row, and groups are shuffled again from the second round
    on. Additions to an existing group are placed among its rows.
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
            for piece in _in_turn(group, place, group.turn + number, orders):
                piece_keys = tuple(k for k in piece.construct_keys if keys is None or k in keys)
                if not piece_keys:
                    continue
                if group.places.get(place):
                    at = int(rng.choice(group.places[place]))
                else:
                    position += 1
                    at = position
                ordered = orders.constructs(piece.response, piece_keys, group.turn)
                rows.append(_row(rater, piece, ordered, at, place))
    return rows


def slot_rows(
    groups: Iterable[tuple[Group, int]],
    position: int,
    rounds: Rounds | None,
    orders: Orders,
    rng: np.random.Generator,
    channel: str = OWN_CHANNEL,
    open_to: Sequence[str] = (),
) -> list[Row]:
    """Return slots without a rater: for each group the given number, one after another.

    `open_to` is as in `study.schema.human_ratings.Assignment`.
    """
    work = list(groups)
    rows: list[Row] = []
    for index in rng.permutation(len(work)):
        group, need = work[index]
        for turn in range(need):
            mine = replace(group, turn=group.turn + turn)
            more = in_order(None, [mine], position, rounds, orders, rng)
            position += len(more)
            rows += more
    for row in rows:
        row |= {"channel": channel, "open_to": list(open_to)}
    return rows


def _in_turn(group: Group, place: int, turn: int, orders: Orders) -> list[Piece]:
    """Return the pieces of a group in their order."""
    by_response: dict[int, list[Piece]] = {piece.response: [] for piece in group.pieces}
    for piece in group.pieces:
        by_response[piece.response].append(piece)
    preset = [response for response in group.orders.get(place, ()) if response in by_response]
    order = dict.fromkeys([*preset, *orders.responses(list(by_response), turn)])
    return [piece for response in order for piece in by_response[response]]


def _row(rater: int | None, piece: Piece, keys: list[str], position: int, round_: int) -> Row:
    return {
        "rater_id": rater,
        "response_id": piece.response,
        "construct_keys": keys,
        "purpose": piece.purpose,
        "position": position,
        "round": round_,
        "repeat": piece.repeat,
        "layout": piece.layout,
        "channel": OWN_CHANNEL,
        "inclusion_prob": 1.0,
        "stratum": None,
        "replaces_id": None,
        "open_to": None,
    }
