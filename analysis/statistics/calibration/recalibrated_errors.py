"""How much closer to people a recalibrated judge is, on responses it was not recalibrated on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.core.folds import METHODS, QUERIES_NEEDED, recalibrated_out_of_fold
from analysis.core.pairs import read_pairs
from analysis.core.query_statistic import FloatArray, ratio, sums_by_query
from analysis.core.statistic_family import StatisticFamily

RAW = "raw"
FEW = "recalibrating takes {needed} queries with both values, there are {n}"


@dataclass(frozen=True, eq=False)
class RecalibratedErrors:
    """Errors in points, before and after; `names` (m,) has id and method of each of the family."""

    names: tuple[tuple[str, str], ...]
    family: StatisticFamily


def recalibrated_errors(
    judge: npt.ArrayLike,
    human: npt.ArrayLike,
    query: npt.ArrayLike,
    n_queries: int | None = None,
    seed: int = 0,
) -> RecalibratedErrors:
    """Mean absolute and root mean square error, raw and recalibrated out of fold, all (n,).

    With each method's difference to raw on the same responses. The recalibrated scores are held
    fixed when queries are resampled, so that intervals speak of this recalibration.
    """
    pairs, both = read_pairs(judge, human, query, None, n_queries)
    predicted = [pairs.x] + [
        recalibrated_out_of_fold(pairs.x, pairs.y, pairs.query, method, pairs.n_queries, seed=seed)
        for method in METHODS
    ]
    error = np.column_stack(predicted) - pairs.y[:, None]
    # With too few queries nothing is predicted, and the reason says so.
    known = np.where(np.isfinite(error), error, 0.0)
    columns = np.hstack([np.ones((pairs.x.size, 1)), np.abs(known), known**2])
    sums = sums_by_query(columns, pairs.query, pairs.n_queries)
    count, there = len(predicted), int(np.count_nonzero(pairs.contributing))
    few = FEW.format(needed=QUERIES_NEEDED, n=there) if there < QUERIES_NEEDED else None
    none = None if both.any() else "no response has both values"

    names = tuple(
        (f"recalibrated_{name}", method) for name in ("mae", "rmse") for method in (RAW, *METHODS)
    ) + tuple(
        (f"recalibrated_{name}_difference", method)
        for name in ("mae", "rmse")
        for method in METHODS
    )
    reasons = [none or (few if method != RAW else None) for _, method in names]
    defined = np.array([reason is None for reason in reasons])

    def of_weights(weights: FloatArray) -> FloatArray:
        found = weights @ sums
        n = found[:, :1]
        mean = ratio(found[:, 1:], n, n > 0)
        mae, rmse = mean[:, :count], np.sqrt(mean[:, count:])
        apart = (mae[:, 1:] - mae[:, :1], rmse[:, 1:] - rmse[:, :1])
        return np.where(defined, np.hstack([mae, rmse, *apart]), np.nan)

    return RecalibratedErrors(
        names,
        StatisticFamily(
            of_weights,
            np.column_stack([pairs.contributing] * len(names)),
            np.full(len(names), pairs.n_responses),
            np.full(len(names), pairs.n_dropped),
            reasons,
        ),
    )
