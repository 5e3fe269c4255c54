"""The rows to be stored: each rater's work in an order of their own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from study.assignment.passes import Rounds
from study.assignment.presentation_order import Orders
from study.facts.slots import OWN_CHANNEL

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
    turn: int = 0
    """The rater's turn among those of the query, which decides on their order of responses."""
    orders: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Round to the order of the responses, where it is not that of the turn."""


def in_order(
    rater: int | None,
    groups: Sequence[Group],
    position: int,
    rounds: Rounds | None,
    orders: Orders,
    rng: np.random.Generator,
) -> list[Row]:
    """Return the rows of one rater and phase, behind `position`.

    Groups come as they are given, and responses to a query one after another, in the order of the
    rater's turn; so do constructs. With rounds, each construct has a row of its own, and groups are
    shuffled anew from the second round on. What joins a group that is there already goes among it.
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
            for piece in _in_turn(group, place, group.turn + number, orders, rng):
                wanted = tuple(k for k in piece.construct_keys if keys is None or k in keys)
                if not wanted:
                    continue
                if group.places.get(place):
                    at = int(rng.choice(group.places[place]))
                else:
                    position += 1
                    at = position
                ordered = orders.constructs(piece.response, wanted, group.turn)
                rows.append(_row(rater, piece, ordered, at, place))
    return rows


def of_slots(
    groups: Iterable[tuple[Group, int]],
    position: int,
    rounds: Rounds | None,
    orders: Orders,
    rng: np.random.Generator,
    channel: str = OWN_CHANNEL,
) -> list[Row]:
    """Return slots without a rater: of each group that many, one after another."""
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
        row["channel"] = channel
    return rows


def _in_turn(
    group: Group, place: int, turn: int, orders: Orders, rng: np.random.Generator
) -> list[Piece]:
    """Return the pieces of a group in their order, with its checks anywhere between."""
    pieces = group.pieces
    measured: dict[int, list[Piece]] = {
        piece.response: [] for piece in pieces if piece.purpose != "check"
    }
    for piece in pieces:
        if piece.purpose != "check":
            measured[piece.response].append(piece)
    preset = [response for response in group.orders.get(place, ()) if response in measured]
    order = dict.fromkeys([*preset, *orders.responses(list(measured), turn)])
    ordered = [piece for response in order for piece in measured[response]]
    for piece in pieces:
        if piece.purpose == "check":
            ordered.insert(int(rng.integers(len(ordered) + 1)), piece)
    return ordered


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
    }
