"""Counterbalancing: the orders of responses and constructs over the raters of a query."""

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from study.assignment.permanent_random_numbers import permanent_number

T = TypeVar("T")


def turned(base: Sequence[T], turn: int) -> list[T]:
    """Return the order of the rater whose turn it is, from 0.

    Every second order is the reverse of the one before it, so that over each two raters all have
    the same mean place; each further two begin where nobody has begun while there is such a place.
    """
    order = list(base)
    if not order:
        return order
    start = turn // 2 * 2 % len(order)
    order = order[start:] + order[:start]
    return order if turn % 2 == 0 else order[::-1]


class Orders:
    """The orders of a study: random by the seed, and turned from rater to rater."""

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
