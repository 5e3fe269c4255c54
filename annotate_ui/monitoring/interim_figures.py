"""The figures of an interim analysis: agreement of raters, and of a judge with raters."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.core.computation import one_blas_thread
from analysis.core.construct_data import ConstructData
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.statistics.reliability.icc import icc, icc_interval, icc_undefined_reason
from analysis.topics.agreement.association import judge_against_humans
from analysis.topics.agreement.human_ceiling import ceilings, raters_against_others
from analysis.topics.reliability.estimates import alphas
from analysis.topics.reliability.raters import unconnected

_SCOPES = ("pooled", "within_query")


def agreement(context: Context) -> list[dict[str, Any]]:
    """Return how far people agree: alpha, ICC(A,1), and each rater against the others."""
    with one_blas_thread():
        return [one.as_json() for one in _agreement(context)]


def beside_people(context: Context) -> list[dict[str, Any]]:
    """Return how far the judge that the table holds agrees with people, and its bias."""
    with one_blas_thread():
        return [
            one.as_json()
            for one in (
                *judge_against_humans(context, ("pearson", "bias"), _SCOPES),
                *ceilings(context, ("pearson",)),
            )
        ]


def _agreement(context: Context) -> Iterator[Estimate]:
    for construct, data in context.rated.items():
        if len(data.raters) > 1:
            yield from alphas(context, data, (context.level(construct),))
            yield _icc(context, data)
    yield from raters_against_others(context)


def _icc(context: Context, data: ConstructData) -> Estimate:
    rated = np.isfinite(data.ratings).any(axis=1)
    values, query = data.ratings[rated], data.query[rated]
    reason = unconnected(data) or icc_undefined_reason(values, "A,1")
    record: dict[str, Any] = {
        "constructs": (data.construct,),
        "scorers": data.raters,
        "target": "raters_like_these",
        "n_responses": len(values),
        "n_queries": int(np.unique(query).size),
        "n_raters": len(data.raters),
        "params": {"form": "A,1"},
    }
    if reason is not None:
        return Estimate("icc", reason=reason, **record)
    found = icc_interval(values, query, "A,1", level=context.options.level)
    given = found.reason is None
    return Estimate(
        "icc",
        value=icc(values, "A,1"),
        ci_low=found.low,
        ci_high=found.high,
        ci_level=found.level if given else None,
        method=found.method if given else None,
        reason=found.reason,
        **record,
    )
