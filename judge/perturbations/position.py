"""The passage that supports the answer, first, in the middle or last; and passages shuffled.

The prompts call no passage more important than another, so a fair judge moves neither up nor down.
The supporting passage is the one that shares most content words with the reference, or with the
response where the query has none.
"""

from collections.abc import Callable, Sequence

from judge.metrics.metric import Content
from judge.perturbations.perturbation import Change, Probe
from judge.perturbations.segmentation import content_words, drawn_from

_FEWEST = 3
"""Passages below which first, middle and last are not three places."""


def supporting(passages: Sequence[str], answer: str) -> int | None:
    """Return the place of the passage that shares most words with an answer; None: none shares any.

    Of several, the first one.
    """
    wanted = content_words(answer)
    shared = [len(content_words(passage) & wanted) for passage in passages]
    most = max(shared, default=0)
    return shared.index(most) if most else None


def _moved(to: Callable[[int], int]) -> Callable[[Content], Change | None]:
    def alter(content: Content) -> Change | None:
        passages = content.passages or ()
        if len(passages) < _FEWEST:
            return None
        place = supporting(passages, content.reference or content.text)
        goal = to(len(passages))
        if place is None or place == goal:
            return None
        others = [other for other in range(len(passages)) if other != place]
        return Change(order=(*others[:goal], place, *others[goal:]))

    return alter


def _shuffled(content: Content) -> Change | None:
    passages = content.passages or ()
    if len(passages) < 2:
        return None
    order = list(range(len(passages)))
    drawn_from(*passages).shuffle(order)
    if order == sorted(order):
        order = [*order[1:], order[0]]
    return Change(order=tuple(order))


PROBES = (
    Probe("support-first", "position", "either", True, _moved(lambda count: 0)),  # noqa: ARG005
    Probe("support-middle", "position", "either", True, _moved(lambda count: count // 2)),
    Probe("support-last", "position", "either", True, _moved(lambda count: count - 1)),
    Probe("shuffled", "order", "either", True, _shuffled),
)
