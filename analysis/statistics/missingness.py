"""Missing values: how far they could move a mean, and whether systems differ in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.query_statistic import as_values


@dataclass(frozen=True)
class MeanBounds:
    """Mean of all if every missing value were the scale's least (`low`) or greatest (`high`)."""

    low: float
    high: float
    missing: int
    n: int


def mean_bounds(values: npt.ArrayLike, minimum: float, maximum: float) -> MeanBounds:
    """Worst-case bounds on the mean of values (n,), NaN for missing; NaN without any value.

    They are valid whatever the reasons for missing are; they include no sampling error.

    Raises
    ------
    ValueError
        The ends of the scale are not in order.

    Notes
    -----
    Manski (1989), Journal of Human Resources 24:343-360; Horowitz and Manski (2000), Journal of the
    American Statistical Association 95:77-84.

    Examples
    --------
    >>> mean_bounds([60, 80, float("nan"), 100], 0, 100)
    MeanBounds(low=60.0, high=85.0, missing=1, n=4)
    """
    if not minimum < maximum:
        raise ValueError(f"a scale from {minimum:g} to {maximum:g} has no range")
    array = as_values(values)
    scored = array[np.isfinite(array)]
    missing = array.size - scored.size
    if not array.size:
        return MeanBounds(float("nan"), float("nan"), 0, 0)
    total = float(scored.sum())
    return MeanBounds(
        (total + missing * minimum) / array.size,
        (total + missing * maximum) / array.size,
        missing,
        array.size,
    )


#: Random numbers drawn at a time, and in all: with more cells fewer permutations are drawn.
NUMBERS_AT_ONCE, NUMBERS = 1_000_000, 30_000_000

ONE_SYSTEM = "no query has responses of 2 systems"
NOTHING_DIFFERS = "no query has both a missing value and a present one"


@dataclass(frozen=True)
class MissingDiffers:
    """Permutation test of equal missingness; `n_queries` are those with missing and present."""

    p: float
    statistic: float
    resamples: int
    n_queries: int
    reason: str | None = None


def missing_differs_by_system(
    missing: npt.ArrayLike, present: npt.ArrayLike, resamples: int = 2000, seed: int = 0
) -> MissingDiffers:
    """Test whether missingness differs between systems that answer the same queries.

    Within each query missing values are reassigned at random among the systems that answered. The
    statistic is the sum over systems of (missing - expected)², where a query's missing values are
    expected in equal parts; on complete tables that is Cochran's Q but for a factor.

    Parameters
    ----------
    missing, present
        (n_queries, n_systems) bool: the score is missing; the system has a response at all.
    resamples, seed
        Permutations (fewer with very many cells, see `NUMBERS`), and their seed.

    Raises
    ------
    ValueError
        The shapes differ, or no permutation is asked for.

    Notes
    -----
    Cochran (1950), Biometrika 37:256-266. p = (count + 1) / (permutations + 1).
    """
    absent, answered = np.asarray(missing, dtype=bool), np.asarray(present, dtype=bool)
    if absent.shape != answered.shape or absent.ndim != 2:
        raise ValueError(
            f"shapes {absent.shape} and {answered.shape}: expected equal (queries, systems)"
        )
    if resamples < 1:
        raise ValueError(f"{resamples} permutations: draw at least 1")
    absent = absent & answered
    n_answered, n_absent = answered.sum(axis=1), absent.sum(axis=1)
    mixed = (n_absent > 0) & (n_absent < n_answered)
    nan = float("nan")
    if not mixed.any():
        return MissingDiffers(
            nan, nan, 0, 0, NOTHING_DIFFERS if (n_answered > 1).any() else ONE_SYSTEM
        )
    absent, answered, n_answered, n_absent = (
        absent[mixed],
        answered[mixed],
        n_answered[mixed],
        n_absent[mixed],
    )
    expected = ((n_absent / n_answered)[:, None] * answered).sum(axis=0)
    observed = float(np.sum((absent.sum(axis=0) - expected) ** 2))
    drawn = int(max(200, min(resamples, NUMBERS // absent.size)))
    at_once = max(1, NUMBERS_AT_ONCE // absent.size)
    # Sums of squares of equal tables differ by rounding only.
    limit = observed * (1 - 1e-9)
    count = 0
    for block, start in enumerate(range(0, drawn, at_once)):
        rows = min(at_once, drawn - start)
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))
        keys = np.where(answered, rng.random((rows, *answered.shape)), np.inf)
        place = keys.argsort(axis=2).argsort(axis=2)
        totals = (place < n_absent[:, None]).sum(axis=1)
        count += int(np.count_nonzero(((totals - expected) ** 2).sum(axis=1) >= limit))
    return MissingDiffers((count + 1) / (drawn + 1), observed, drawn, len(absent))
