"""A difference of two groups' means, as a function of how often each query counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import FloatArray, QueryStatistic, as_codes, as_values
from analysis.statistics.probes.query_means import Part, query_means


def difference_of_means(
    values: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    names: tuple[str, str] = ("the first group", "the second group"),
) -> QueryStatistic:
    """Mean of the first group's values minus that of the second group's.

    Parameters
    ----------
    values
        (n,), NaN where missing.
    first, second
        (n,) bool; a response in both or in neither does not enter, and is counted as dropped where
        it has a value.
    query
        (n,) codes.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    given = as_values(values, "values")
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if not given.shape == a.shape == b.shape:
        raise ValueError(f"shapes {given.shape}, {a.shape} and {b.shape} differ: expected (n,)")
    codes, total = as_codes(query, given.size, n_queries)
    known = np.isfinite(given)
    groups = [known & a & ~b, known & b & ~a]
    family = query_means([Part(given[one], codes[one]) for one in groups], total)
    empty = [name for name, one in zip(names, groups, strict=True) if not one.any()]

    def of_weights(weights: FloatArray) -> FloatArray:
        found = family.of_weights(weights)
        return np.asarray(found[:, 0] - found[:, 1])

    used = int(sum(np.count_nonzero(one) for one in groups))
    return QueryStatistic(
        of_weights,
        np.asarray(family.contributing.any(axis=1)),
        used,
        int(np.count_nonzero(known)) - used,
        f"no response of {' or '.join(empty)} has both values" if empty else None,
    )
