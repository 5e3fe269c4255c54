"""Where the variance of ratings comes from, and what another design would give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.statistics.reliability.generalizability import GStudy, difference_error, g_study

#: Designs for which the error of a difference of two systems is predicted.
QUERIES = (25, 50, 100, 200, 400, 800)
RATERS = (1, 2, 3, 5)


def generalizability(context: Context) -> Iterator[Estimate]:
    """Variance components of ratings, and the error of a difference in other designs."""
    for data in context.rated.values():
        # One rating a response is enough to ask.
        if data.raters and data.systems:
            yield from _components(data)


def _components(data: ConstructData) -> Iterator[Estimate]:
    rated = np.isfinite(data.ratings).any(axis=1) & data.produced.any(axis=1)
    # A response of several systems counts for the first of them.
    system = data.produced.argmax(axis=1) if data.produced.size else np.zeros(0, dtype=np.int64)
    study = g_study(data.ratings[rated], data.query[rated], system[rated])
    record: dict[str, Any] = {
        "constructs": (data.construct,),
        "scorers": data.raters,
        "systems": data.systems,
        "target": "raters_like_these",
        "n_responses": int(rated.sum()),
        "n_queries": study.n_queries,
        "n_raters": study.n_raters,
    }
    for name, variance in study.variance.items():
        share = max(variance, 0.0) / study.total if study.total > 0 else float("nan")
        yield Estimate(
            "variance_component",
            value=variance,
            reason=study.reasons.get(name),
            params={"component": name, "share": share if np.isfinite(share) else None},
            **record,
        )
    yield from _designs(study, record)


def _designs(study: GStudy, record: dict[str, Any]) -> Iterator[Estimate]:
    for raters_ in RATERS:
        for queries in QUERIES:
            error, reason = difference_error(study, queries, raters_)
            yield Estimate(
                "system_difference_error",
                value=error,
                reason=reason,
                params={"queries": queries, "raters": raters_},
                **record,
            )
            if reason is not None:
                # Without the components no design has an error: one record gives the reason.
                return


STATISTICS = (
    Statistic(
        "variance_component",
        "Variance component",
        "variance of params.component in squared points: query, system, rater, their pairs, "
        "residual; params.share of the sum",
        generalizability,
        targets=("raters_like_these",),
        source="Henderson 1953; Brennan 2001",
    ),
    Statistic(
        "system_difference_error",
        "Error of a difference",
        "standard error of the difference of two systems' means for params.queries queries and "
        "params.raters raters who rate all of it: root of 2 (query:system / n + system:rater / k "
        "+ residual / (n k))",
        generalizability,
        range=(0, None),
        better="lower",
        targets=("raters_like_these",),
        source="Brennan 2001",
    ),
)
