"""Probes of the order of passages: the supporting one first, in the middle or last, or a shuffle.

The prompts call no passage more important than another, so a fair judge gives the same score. The
supporting passage shares most content words with the reference, or with the response where the
query has none.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from random import Random

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe

# With fewer passages, first, middle and last are not three positions.
_FEWEST_PASSAGES = 3
_WORD = re.compile(r"\w+")
_FEWEST_LETTERS = 4


def supporting(passages: Sequence[str], answer: str) -> int | None:
    """Return the position of the passage that shares most content words with an answer.

    The first of several; None where no passage shares any.
    """
    words = _content_words(answer)
    shared = [len(_content_words(passage) & words) for passage in passages]
    most = max(shared, default=0)
    return shared.index(most) if most else None


def _content_words(text: str) -> frozenset[str]:
    """Return the words of four characters and more, and numbers, in lower case."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word for word in words if len(word) >= _FEWEST_LETTERS or word.isdigit())


def _moved(target: Callable[[int], int]) -> Callable[[Content], Change | None]:
    def alter(content: Content) -> Change | None:
        passages = content.passages or ()
        if len(passages) < _FEWEST_PASSAGES:
            return None
        position = supporting(passages, content.reference or content.text)
        goal = target(len(passages))
        if position is None or position == goal:
            return None
        others = [other for other in range(len(passages)) if other != position]
        return Change(order=(*others[:goal], position, *others[goal:]))

    return alter


def _shuffled(content: Content) -> Change | None:
    passages = content.passages or ()
    if len(passages) < 2:
        return None
    order = list(range(len(passages)))
    # The order depends on the texts alone.
    digest = blake2b("\x1f".join(passages).encode("utf-8", "surrogatepass"), digest_size=8)
    Random(int.from_bytes(digest.digest(), "big")).shuffle(order)  # noqa: S311  (nothing secret)
    if order == sorted(order):
        order = [*order[1:], order[0]]
    return Change(order=tuple(order))


PROBES = (
    Probe("support-first", "position", "either", True, _moved(lambda count: 0)),  # noqa: ARG005
    Probe("support-middle", "position", "either", True, _moved(lambda count: count // 2)),
    Probe("support-last", "position", "either", True, _moved(lambda count: count - 1)),
    Probe("shuffled", "order", "either", True, _shuffled),
)
