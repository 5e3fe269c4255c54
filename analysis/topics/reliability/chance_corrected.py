"""Agreement beyond chance on scales of few levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import comparable
from analysis.core.scales import Scale
from analysis.statistics.reliability.chance_corrected import (
    Coefficient,
    Weighting,
    agreement_standard_error,
    chance_corrected,
)

#: Beyond this many levels equal ratings are chance, and the unweighted coefficients say little.
FEW_LEVELS = 11

_KINDS: tuple[tuple[str, Coefficient, Weighting], ...] = (
    ("fleiss_kappa", "fleiss", "unweighted"),
    ("brennan_prediger", "brennan_prediger", "unweighted"),
    ("gwet_ac", "gwet", "unweighted"),
    ("gwet_ac", "gwet", "quadratic"),
)


def categorical(context: Context, data: ConstructData, record: Any) -> Iterator[Estimate]:
    """Fleiss, Brennan-Prediger, AC1 and AC2, where the scale has at most 11 levels."""
    scale = context.human_scale(data.construct)
    levels = few_levels(data, scale)
    if levels is None:
        return
    nominal = scale is not None and scale.level == "nominal"
    for name, coefficient, weighting in _KINDS:
        if nominal and weighting == "quadratic":
            continue
        params: dict[str, str | float | int | None] = {"weights": weighting, "levels": len(levels)}
        if coefficient == "gwet":
            error = agreement_standard_error(data.ratings, weighting, levels)
            params["standard_error"] = error if np.isfinite(error) else None
        statistic = chance_corrected(
            coefficient, data.ratings, data.query, weighting, levels, data.n_queries
        )
        yield context.estimate(name, statistic, params=params, **record)


def few_levels(data: ConstructData, scale: Scale | None) -> Sequence[float] | None:
    """Levels of the ratings: by the declared step, else those that occur; None beyond 11."""
    seen = np.unique(comparable(data.ratings[np.isfinite(data.ratings)]))
    if not seen.size:
        return None
    if scale is not None and scale.step is not None:
        count = round(scale.width / scale.step) + 1
        if count > FEW_LEVELS:
            return None
        levels = scale.min + scale.step * np.arange(count)
        off = np.abs(seen[:, None] - levels).min(axis=1)
        # Half points given where none were offered: every value that occurs is then a level.
        if off.max() <= 1e-9 * max(1.0, float(np.abs(levels).max())):
            return [float(level) for level in levels]
    return [float(level) for level in seen] if seen.size <= FEW_LEVELS else None
