"""Generalizability: how much of the variance of ratings is queries, systems, raters and more.

Model: rating = mean + query + system + rater + query:system + query:rater + system:rater +
residual, all random and independent. Components come from Henderson's first method, which equates
the uncorrected sums of squares of each factor with their expectations; it needs counts only, so
that missing cells and 5,000 responses of 5 raters cost milliseconds where a likelihood would cost
minutes. On complete data it is the analysis of variance. It is unbiased and may be negative.
Sources: Henderson (1953), Biometrics 9:226-252, method 1; Brennan (2001), Generalizability Theory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.query_statistic import as_codes
from analysis.statistics.reliability.rater_pairs import table_of_ratings

QUERY, SYSTEM, RATER = "query", "system", "rater"
RESIDUAL = "residual"

#: Each component with the factors whose levels together make its own.
FACTORS: dict[str, tuple[str, ...]] = {
    "query": (QUERY,),
    "system": (SYSTEM,),
    "rater": (RATER,),
    "query:system": (QUERY, SYSTEM),
    "query:rater": (QUERY, RATER),
    "system:rater": (SYSTEM, RATER),
    RESIDUAL: (QUERY, SYSTEM, RATER),
}

#: With a singular value below this share of the largest, a component is not identified.
_SINGULAR = 1e-9


@dataclass(frozen=True)
class GStudy:
    """Variance of each component in squared points; NaN with its reason where not identified.

    Components may be negative: an estimate that is unbiased at 0 must be able to.
    """

    variance: dict[str, float]
    reasons: dict[str, str]
    n_ratings: int
    n_queries: int
    n_systems: int
    n_raters: int

    @property
    def total(self) -> float:
        """Sum of the components that are identified, negative ones counting 0."""
        identified = [v for v in self.variance.values() if np.isfinite(v)]
        return float(np.sum(np.maximum(identified, 0.0))) if identified else float("nan")


def g_study(
    values: npt.ArrayLike,
    query: npt.ArrayLike,
    system: npt.ArrayLike,
) -> GStudy:
    """Components of ratings (n, raters), with query and system codes (n,) of the responses.

    A response of several systems counts for one of them. Components whose levels coincide in the
    design (query:system and residual where every response has one rating) have no value, and a
    reason that names them.
    """
    array = table_of_ratings(values)
    queries, _ = as_codes(query, len(array), None)
    systems, _ = as_codes(system, len(array), None)
    item, rater = np.nonzero(np.isfinite(array))
    y = array[item, rater]
    codes: dict[str, IntArray] = {
        QUERY: _levels(queries[item]),
        SYSTEM: _levels(systems[item]),
        RATER: _levels(rater.astype(np.int64)),
    }
    sizes = {name: _count(code) for name, code in codes.items()}
    counts = (int(y.size), sizes[QUERY], sizes[SYSTEM], sizes[RATER])
    why = _undefined(y, sizes)
    if why is not None:
        names = dict.fromkeys(FACTORS, float("nan"))
        return GStudy(names, dict.fromkeys(FACTORS, why), *counts)
    levels = {name: _crossed([codes[part] for part in parts]) for name, parts in FACTORS.items()}
    merged, reasons = _identified(levels)
    variance = dict.fromkeys(FACTORS, float("nan"))
    solved = _henderson(y - y.mean(), [levels[name] for name in merged])
    for name, component in zip(merged, solved, strict=True):
        if name not in reasons:
            variance[name] = float(component)
            if np.isnan(component):
                reasons[name] = "the missing ratings leave too little to identify the components"
    return GStudy(variance, reasons, *counts)


def difference_error(study: GStudy, queries: int, raters: int) -> tuple[float, str | None]:
    """Standard error in points of the difference of two systems' means, or NaN and the reason.

    For `queries` queries that both systems answer and `raters` raters who rate all of it, both
    drawn anew: 2 (query:system / n + system:rater / k + residual / (n k)) under the root. What
    queries and raters contribute equally to both systems cancels. Negative components count 0.
    Raises ValueError without a query or a rater.
    """
    if queries < 1 or raters < 1:
        raise ValueError(f"{queries} queries and {raters} raters: expected at least 1 of each")
    parts = {"query:system": queries, "system:rater": raters, RESIDUAL: queries * raters}
    for name in parts:
        if np.isnan(study.variance[name]):
            return float("nan"), f"{name}: {study.reasons[name]}"
    variance = sum(max(study.variance[name], 0.0) / number for name, number in parts.items())
    return float(np.sqrt(2 * variance)), None


def _undefined(y: FloatArray, sizes: dict[str, int]) -> str | None:
    for name, size in sizes.items():
        if size < 2:
            plural = "queries" if name == QUERY else f"{name}s"
            return f"needs ratings of at least 2 {plural}, there is {size or 'none'}"
    if np.ptp(y) == 0:
        return f"all ratings are {y[0]:g}: without variation the components are undefined"
    return None


def _levels(codes: IntArray) -> IntArray:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _count(codes: IntArray) -> int:
    return int(codes.max()) + 1 if codes.size else 0


def _crossed(parts: list[IntArray]) -> IntArray:
    joint = parts[0]
    for part in parts[1:]:
        joint = _levels(joint * _count(part) + part)
    return joint


def _identified(
    levels: dict[str, IntArray],
) -> tuple[list[str], dict[str, str]]:
    """Components to solve for, one for each set with the same levels, and why others have none."""
    sets: list[list[str]] = []
    for name, codes in levels.items():
        for group in sets:
            other = levels[group[0]]
            same = _count(other) == _count(codes) == _count(_crossed([other, codes]))
            if same:
                group.append(name)
                break
        else:
            sets.append([name])
    reasons = {}
    for group in sets:
        if len(group) > 1:
            together = f"{', '.join(group[:-1])} and {group[-1]}"
            for name in group:
                reasons[name] = f"{together} have the same levels here: they are confounded"
    return [group[-1] for group in sets], reasons


def _henderson(y: FloatArray, levels: list[IntArray]) -> FloatArray:
    """Components of centered y (N,) by the levels (N,) of each; NaN where not identified."""
    # The mean is a component with one level, whose square is an unknown too.
    factors = [np.zeros(y.size, dtype=np.int64), *levels]
    sizes = [_count(code) for code in factors]
    counts = [np.bincount(code, minlength=size) for code, size in zip(factors, sizes, strict=True)]
    left, right = np.empty((len(factors), len(factors))), np.empty(len(factors))
    for row, code in enumerate(factors):
        sums = np.bincount(code, weights=y, minlength=sizes[row])
        right[row] = np.sum(sums**2 / counts[row])
        for column, other in enumerate(factors):
            joint, inverse = np.unique(code * sizes[column] + other, return_counts=True)
            left[row, column] = np.sum(inverse**2 / counts[row][joint // sizes[column]])
    system = left / y.size
    if np.linalg.matrix_rank(system / np.abs(system).max(axis=0), tol=_SINGULAR) < len(factors):
        return np.full(len(levels), np.nan)
    return np.asarray(np.linalg.solve(system, right / y.size)[1:], dtype=np.float64)
