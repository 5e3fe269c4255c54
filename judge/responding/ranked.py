"""The best of scored chunks, and the fusion of two rankings."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranked(NamedTuple):
    """A chunk at its place in a ranking."""

    chunk: int
    """Position in the list of chunks."""
    score: float


Ranking = list[Ranked]


def best(scores: NDArray[np.float64], k: int) -> Ranking:
    """Return the k chunks of the highest scores; equal scores stay in the order of the chunks.

    Parameters
    ----------
    scores
        One for each chunk; -inf leaves a chunk out.

    Examples
    --------
    >>> [place.chunk for place in best(np.array([0.5, 2.0, 1.0, 2.0]), 3)]
    [1, 3, 2]
    """
    least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
    kept = np.flatnonzero((scores >= least) & (scores > -np.inf))
    # A stable sort leaves equal scores in their order.
    kept = kept[np.argsort(-scores[kept], kind="stable")][:k]
    return [Ranked(int(chunk), float(scores[chunk])) for chunk in kept]


def fused(rankings: Sequence[Ranking], constant: int, k: int) -> Ranking:
    """Return the fusion of rankings by reciprocal ranks (Cormack, Clarke and Büttcher 2009).

    The score of a chunk is the sum of 1 / (constant + rank) over the rankings that have it; equal
    scores stay in the order of the chunks.

    Examples
    --------
    >>> one, other = [Ranked(7, 9.0), Ranked(3, 8.0)], [Ranked(3, 0.9)]
    >>> [(place.chunk, round(place.score, 5)) for place in fused([one, other], 60, 2)]
    [(3, 0.03252), (7, 0.01639)]
    """
    totals: dict[int, float] = {}
    for ranking in rankings:
        for rank, place in enumerate(ranking, 1):
            totals[place.chunk] = totals.get(place.chunk, 0.0) + 1 / (constant + rank)
    order = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return [Ranked(chunk, score) for chunk, score in order[:k]]
