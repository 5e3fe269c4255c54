"""Which share of the pairs that people order a scorer orders alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.statistics.agreement.concordance import concordance

_SCOPES: tuple[Literal["pooled", "within_query"], ...] = ("pooled", "within_query")


def concordances(context: Context) -> Iterator[Estimate]:
    """`concordance` of each scorer, over all responses and within queries."""
    for scored in context.scored():
        data = scored.data
        for scope in _SCOPES:
            statistic = concordance(
                scored.values, data.reference, data.query, scope, n_queries=data.n_queries
            )
            yield context.estimate(
                "concordance", statistic, transform="logit", **scored.record(scope)
            )


STATISTICS = (
    Statistic(
        "concordance",
        "Pairs ordered alike",
        "share of the pairs of responses that people order which the scorer orders alike; a pair "
        "that it ties counts half: .5 for a scorer without any order, 1 for the order of people",
        concordances,
        range=(0, 1),
        better="higher",
        scopes=("pooled", "within_query"),
        targets=("these_raters",),
        source="Harrell, Lee and Mark 1996",
    ),
)
