"""The multitrait-multimethod matrix of Campbell & Fiske (1959)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from analysis.core.query_statistic import BoolArray, FloatArray

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
