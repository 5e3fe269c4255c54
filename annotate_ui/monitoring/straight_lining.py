"""Whether a rater gives the same value over and over, longer than their own values would by chance.

A run across responses to one query says little: an easy query deserves the same value throughout.
So whole queries change places in the permutations, and values within a query change places among
themselves; a run that goes on across queries is what stands out.
"""

from dataclasses import dataclass

import numpy as np

from analysis.core.query_statistic import FloatArray, IntArray

#: Permutations that are tried first, and as many as are tried where these do not settle it.
_FIRST, _MOST = 99, 1999


@dataclass(frozen=True)
class ValueRun:
    """The longest run of equal values in the order of rating.

    `expected` is the median longest run of the permutations, `p` the share of them (with the order
    of rating itself) whose longest run is no shorter.
    """

    length: int
    expected: float
    p: float
    n_values: int
    n_queries: int


def longest_run(values: FloatArray, query: IntArray, seed: int = 0) -> ValueRun:
    """The longest run of equal values (n,) in order, against permutations of whole queries.

    Raises
    ------
    ValueError
        There are no values, or not a query for each.
    """
    if values.ndim != 1 or not values.size or values.shape != query.shape:
        raise ValueError(f"values {values.shape} and query {query.shape}: expected equal (n,)")
    codes = np.unique(values, return_inverse=True)[1]
    groups = np.unique(query, return_inverse=True)[1]
    own = int(_longest(codes[None, :])[0])
    draw = np.random.default_rng([seed, values.size])
    found = _permuted(codes, groups, draw, _FIRST)
    # Most raters are far from any doubt: a tenth of the permutations shows it.
    if np.count_nonzero(found >= own) < 0.05 * _FIRST:
        found = np.concatenate([found, _permuted(codes, groups, draw, _MOST - _FIRST)])
    p = (1 + np.count_nonzero(found >= own)) / (1 + found.size)
    return ValueRun(own, float(np.median(found)), float(p), values.size, int(groups.max()) + 1)


def _permuted(codes: IntArray, groups: IntArray, draw: np.random.Generator, count: int) -> IntArray:
    """Longest runs (count,) of permutations of the queries, and of the values within them."""
    place = draw.random((count, int(groups.max()) + 1))[:, groups]
    within = draw.random((count, codes.size))
    order = np.lexsort((within, place), axis=1)
    return _longest(codes[order])


def _longest(rows: IntArray) -> IntArray:
    """Length of the longest run in each row (R, n)."""
    count, n = rows.shape
    starts = np.ones((count, n), dtype=bool)
    starts[:, 1:] = rows[:, 1:] != rows[:, :-1]
    # Where a row begins, a run begins, so that the rows can be read as one.
    first = np.flatnonzero(starts)
    lengths = np.diff(np.append(first, count * n))
    longest = np.zeros(count, dtype=np.int64)
    np.maximum.at(longest, first // n, lengths)
    return longest
