"""Bradley-Terry strengths of systems from comparisons of their responses.

The model of Bradley and Terry (1952), Biometrika 39, 324-345: system i is preferred to system j
with probability 1 / (1 + exp(s_j - s_i)). A tie counts as half a win of each. The strengths, which
sum to 0, are those of largest likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.query_statistic import QueryStatistic

#: Newton steps; a few suffice wherever the estimate exists.
_STEPS = 100

#: Largest change of a strength in one step, so that the first steps do not overshoot.
_STRIDE = 2.0

#: Change of the strengths (log odds) at which they are final.
_FINAL = 1e-10

NOT_LINKED = (
    "the comparisons do not order these systems: some systems are never compared with the others, "
    "or win or lose every comparison with them"
)
ONE_SYSTEM = "no two systems are compared"


def strengths(wins: npt.ArrayLike) -> FloatArray:
    """Strengths of largest likelihood.

    Parameters
    ----------
    wins : array_like of shape (..., systems, systems)
        How often the system of the row is preferred to that of the column; ties count half. The
        diagonal is not read.

    Returns
    -------
    ndarray of shape (..., systems)
        Log odds, with the sum 0. NaN where the likelihood has no maximum: where the systems fall
        into two groups of which one never wins against the other (Ford 1957).
    """
    matrix = np.asarray(wins, dtype=np.float64)
    shape = matrix.shape[:-1]
    size = matrix.shape[-1]
    matrix = matrix.reshape(-1, size, size) * (1 - np.eye(size))
    defined = _is_linked(matrix > 0)
    out = np.full((len(matrix), size), np.nan)
    if defined.any():
        out[defined] = _newton(matrix[defined])
    return out.reshape(shape)


def _newton(wins: FloatArray) -> FloatArray:
    n_games = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=2)
    found = np.zeros(won.shape)
    # Equal strengths added to all change nothing: the sum is held at 0.
    level = np.full(wins.shape[1:], 1.0)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(found[:, None, :] - found[:, :, None]))
        gradient = won - (n_games * chance).sum(axis=2)
        weight = n_games * chance * (1 - chance)
        curvature = -weight
        places = np.arange(won.shape[1])
        curvature[:, places, places] = weight.sum(axis=2)
        scale = weight.max(axis=(1, 2))[:, None, None]
        step = np.linalg.solve(curvature + scale * level, gradient[..., None])[..., 0]
        step -= step.mean(axis=1, keepdims=True)
        longest = np.abs(step).max(axis=1, keepdims=True)
        found += step * np.minimum(1.0, _STRIDE / np.maximum(longest, _STRIDE))
        if longest.max() < _FINAL:
            break
    return found


def _is_linked(beats: BoolArray) -> BoolArray:
    """Whether every system can be reached from every other by wins, for each matrix (R, S, S)."""
    size = beats.shape[1]
    reached = beats | np.eye(size, dtype=bool)
    for _ in range(max(1, int(np.ceil(np.log2(max(size, 2)))))):
        reached = np.matmul(reached, reached)
    return np.asarray(reached.all(axis=(1, 2)))


@dataclass(frozen=True, eq=False)
class BradleyTerry:
    """The strengths of systems as functions of the weights of the queries.

    `wins` (Q, S, S) are the wins within each query, ties half.
    """

    wins: FloatArray
    n_responses: int
    _last: dict[bytes, FloatArray] = field(default_factory=dict)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return int(self.wins.shape[1])

    def weighted_statistic(self, weights: FloatArray) -> FloatArray:
        """Strengths (R, S) under each row of weights (R, Q)."""
        key = blake2b(np.ascontiguousarray(weights).tobytes(), digest_size=16).digest()
        if key not in self._last:
            # The systems are read one after the other from the same weights.
            self._last.clear()
            n_queries = self.wins.shape[0]
            sums = weights @ self.wins.reshape(n_queries, -1)
            self._last[key] = strengths(sums.reshape(-1, self.n_systems, self.n_systems))
        return self._last[key]

    def statistic(self, system: int) -> QueryStatistic:
        """The strength of one system."""
        contributing = self.wins.sum(axis=(1, 2)) > 0
        ones = np.ones((1, self.wins.shape[0]))
        reason = None
        if self.n_systems < 2 or not contributing.any():
            reason = ONE_SYSTEM
        elif np.isnan(self.weighted_statistic(ones)).any():
            reason = NOT_LINKED
        return QueryStatistic(
            lambda weights: self.weighted_statistic(weights)[:, system],
            contributing,
            self.n_responses,
            reason=reason,
        )


def wins_by_query(
    first: IntArray, second: IntArray, value: FloatArray, query: IntArray, shape: tuple[int, int]
) -> FloatArray:
    """Wins (Q, S, S) from comparisons.

    Parameters
    ----------
    first, second
        Systems (n,), as numbers.
    value
        Preference (n,): positive where the second is better, 0 for a tie; no NaN.
    query
        Query (n,), as numbers.
    shape
        Number of queries and of systems.
    """
    n_queries, n_systems = shape
    wins = np.zeros((n_queries, n_systems, n_systems))
    second_wins = np.where(value > 0, 1.0, np.where(value < 0, 0.0, 0.5))
    np.add.at(wins, (query, second, first), second_wins)
    np.add.at(wins, (query, first, second), 1 - second_wins)
    return wins
