"""Several constructs on the same responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.core.construct_data import BoolArray, ConstructData, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Aligned:
    """Responses (n,) of several constructs, with the place of each construct's own among them."""

    constructs: tuple[str, ...]
    query: IntArray
    n_queries: int
    systems: tuple[str, ...]
    produced: BoolArray
    """(n, S): which system produced the response."""
    places: Mapping[str, IntArray]

    def of_system(self, system: str) -> BoolArray:
        """Which responses (n,) a system produced."""
        return np.asarray(self.produced[:, self.systems.index(system)])

    def spread(self, construct: str, values: FloatArray) -> FloatArray:
        """Values (m, ...) of a construct's own responses as (n, ...), NaN for the others."""
        out = np.full((self.query.size, *values.shape[1:]), np.nan)
        out[self.places[construct]] = values
        return out


def aligned(constructs: Mapping[str, ConstructData]) -> Aligned:
    """Put constructs of one table side by side; they share queries and systems."""
    index: dict[str, int] = {}
    places = {
        key: np.array([index.setdefault(r, len(index)) for r in data.responses], dtype=np.int64)
        for key, data in constructs.items()
    }
    first = next(iter(constructs.values()))
    query = np.zeros(len(index), dtype=np.int64)
    produced = np.zeros((len(index), len(first.systems)), dtype=bool)
    for key, data in constructs.items():
        query[places[key]] = data.query
        produced[places[key]] |= data.produced
    return Aligned(tuple(constructs), query, first.n_queries, first.systems, produced, places)
