"""Averages, differences and ratios of correlations, and the multitrait-multimethod matrix.

The matrix is that of Campbell and Fiske (1959), Psychological Bulletin 56:81-105.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from analysis.core.arrays import BoolArray, FloatArray, IntArray
from analysis.core.statistic_family import StatisticFamily
from analysis.statistics.validity.correlation_family import AT_ONE

ACROSS_ONE = "{which} is 1 or -1, so that Fisher's z has no average"
NOT_POSITIVE = "{which} is not positive ({value:.2f}), so that the geometric mean is undefined"


@dataclass(frozen=True, eq=False)
class Derived:
    """A function of `members` (places in a family): (R, k) to (R,), NaN where undefined.

    `why` explains why it is undefined at the members' values (k,), or returns None. `apart` is true
    where the members are of different responses, whose numbers then add up.
    """

    members: tuple[int, ...]
    function: Callable[[FloatArray], FloatArray]
    why: Callable[[FloatArray], str | None]
    apart: bool = False


def with_derived(family: StatisticFamily, derived: Sequence[Derived]) -> StatisticFamily:
    """The family, followed by what is derived from it: all from the same resamples."""

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        base = family.weighted_statistic(weights)
        return np.column_stack([base, *(d.function(base[:, d.members]) for d in derived)])

    points = family.points()
    members = [list(d.members) for d in derived]
    reasons = [
        next((family.reasons[m] for m in d.members if family.reasons[m]), None)
        or d.why(points[list(d.members)])
        for d in derived
    ]
    return replace(
        family,
        weighted_statistic=weighted_statistic,
        contributing=np.column_stack(
            [family.contributing, *(family.contributing[:, m].any(axis=1) for m in members)]
        ),
        n_responses=_counted(family.n_responses, derived),
        n_dropped=_counted(family.n_dropped, derived),
        reasons=(*family.reasons, *reasons),
    )


def _counted(counts: IntArray, derived: Sequence[Derived]) -> IntArray:
    more = [
        int(counts[list(d.members)].sum() if d.apart else counts[list(d.members)].max(initial=0))
        for d in derived
    ]
    return np.concatenate([counts, np.array(more, dtype=np.int64)])


def fisher_average(correlations: FloatArray) -> FloatArray:
    """Average of correlations (R, k) on Fisher's z scale, back as a correlation (R,).

    NaN where one is undefined, or 1 or -1: its z is infinite.
    """
    if not correlations.shape[1]:
        return np.full(correlations.shape[0], np.nan)
    inside = np.abs(correlations) < 1 - AT_ONE
    z = np.arctanh(np.where(inside, correlations, np.nan))
    average: FloatArray = np.tanh(z.mean(axis=1))
    return average


def averaged_by_fisher(members: Sequence[int], names: Sequence[str]) -> Derived:
    """Average over, for instance, systems; `names` are theirs, for the reason."""

    def why(values: FloatArray) -> str | None:
        if not values.size:
            return "no system has responses with both values"
        for value, name in zip(values, names, strict=True):
            if abs(value) >= 1 - AT_ONE:
                return ACROSS_ONE.format(which=f"the correlation of {name}")
        return None

    return Derived(tuple(members), fisher_average, why, apart=True)


def mean_of(members: Sequence[int]) -> Derived:
    """Arithmetic mean of correlations."""
    return Derived(tuple(members), lambda values: values.mean(axis=1), lambda _: None)


def difference(first: int, second: int) -> Derived:
    """First minus second."""
    return Derived((first, second), lambda values: values[:, 0] - values[:, 1], lambda _: None)


def mean_difference(first: Sequence[int], second: Sequence[int]) -> Derived:
    """Mean of the first less mean of the second."""
    split = len(first)
    return Derived(
        (*first, *second),
        lambda values: values[:, :split].mean(axis=1) - values[:, split:].mean(axis=1),
        lambda _: None,
    )


def htmt_of(heterotrait: FloatArray, monotrait: FloatArray) -> FloatArray:
    """Ratio of heterotrait to monotrait correlations (R, h), (R, 2), both across methods.

    The mean of the heterotrait-heteromethod correlations over the geometric mean of the two
    monotrait-heteromethod correlations (Henseler, Ringle & Sarstedt 2015, equation 6, there for
    items of one questionnaire). NaN where the mean or either of the two is not positive.
    """
    mean = heterotrait.mean(axis=1)
    positive = (mean > 0) & (monotrait > 0).all(axis=1)
    root = np.sqrt(np.where(positive, monotrait.prod(axis=1), np.nan))
    ratio: FloatArray = np.where(positive, mean, np.nan) / root
    return ratio


def htmt(heterotrait: Sequence[int], monotrait: tuple[int, int], names: tuple[str, str]) -> Derived:
    """HTMT of two constructs; `names` are theirs, for the reason."""
    split = len(heterotrait)

    def why(values: FloatArray) -> str | None:
        for value, name in zip(values[split:], names, strict=True):
            if value <= 0:
                subject = f"the correlation of {name} with itself across methods"
                return NOT_POSITIVE.format(which=subject, value=value)
        mean = float(values[:split].mean())
        if mean <= 0:
            subject = "the mean correlation between the two constructs across methods"
            return NOT_POSITIVE.format(which=subject, value=mean)
        return None

    return Derived(
        (*heterotrait, *monotrait),
        lambda values: htmt_of(values[:, :split], values[:, split:]),
        why,
    )


Kind = Literal["monotrait_heteromethod", "heterotrait_monomethod", "heterotrait_heteromethod"]

#: With this many responses that have every value, all correlations rest on those.
COMMON_FROM = 30


@dataclass(frozen=True, eq=False)
class Variable:
    """One construct by one method: a judge, or people."""

    method: str
    trait: str
    values: FloatArray
    """(n,), NaN missing."""


def kind(first: Variable, second: Variable) -> Kind:
    """What a correlation of two variables is called."""
    if first.trait == second.trait:
        return "monotrait_heteromethod"
    same = first.method == second.method
    return "heterotrait_monomethod" if same else "heterotrait_heteromethod"


def common_items(variables: list[Variable]) -> BoolArray | None:
    """Responses (n,) with every value; None where they are fewer than 30: then pairwise.

    Correlations on different responses need not belong to any one set of variables: their matrix
    may have a negative eigenvalue.
    """
    common: BoolArray = np.logical_and.reduce([np.isfinite(v.values) for v in variables])
    return common if np.count_nonzero(common) >= COMMON_FROM else None


def smallest_eigenvalue(n_variables: int, correlations: FloatArray) -> float:
    """Smallest eigenvalue of the matrix with these correlations of pairs i < j; NaN if one is."""
    if not np.isfinite(correlations).all():
        return float("nan")
    matrix = np.eye(n_variables)
    for (i, j), r in zip(combinations(range(n_variables), 2), correlations, strict=True):
        matrix[i, j] = matrix[j, i] = r
    return float(np.linalg.eigvalsh(matrix)[0])
