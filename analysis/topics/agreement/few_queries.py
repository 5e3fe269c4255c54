"""How often a comparison with a rater errs where few queries were rated, as simulated.

The intervals for these raters are then a little too short at one end. The explanation of a table
states it; intervals for raters like these err less often than their level allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER

#: From these numbers of queries on nothing is stated: on `human_ceiling_difference`, and on
#: `non_inferiority`, which errs as often as its level allows from 30 on.
ENOUGH_TO_BE_BETTER, ENOUGH_TO_BE_NON_INFERIOR = 120, 30

#: The level of the simulated intervals.
LEVEL = 0.95

#: Mean over the numbers of raters in tests/coverage/few_queries.csv, by number of queries: how
#: often a judge that equals a rater is called better, and how often one that is worse by exactly
#: the margin is called no worse.
BETTER = {10: 0.041, 15: 0.042, 20: 0.035, 30: 0.028, 60: 0.033}
NON_INFERIOR = {10: 0.069, 15: 0.065, 20: 0.065}


def better(analysis: Analysis) -> str:
    """On `human_ceiling_difference`; empty where there are enough queries."""
    differences = analysis.estimates.select(
        "human_ceiling_difference", target="these_raters", measure=ORDER
    )
    words = "a judge that equals these raters is called better than one"
    return _stated(analysis, differences, BETTER, ENOUGH_TO_BE_BETTER, words, (1 - LEVEL) / 2)


def non_inferior(analysis: Analysis) -> str:
    """On `non_inferiority`; empty where there are enough queries."""
    differences = analysis.estimates.select("non_inferiority", target="these_raters")
    words = "a judge that is worse than these raters by the whole margin is called no worse"
    enough = ENOUGH_TO_BE_NON_INFERIOR
    return _stated(analysis, differences, NON_INFERIOR, enough, words, 1 - LEVEL)


def _stated(
    analysis: Analysis,
    estimates: Iterable[Estimate],
    rates: Mapping[int, float],
    enough: int,
    words: str,
    nominal: float,
) -> str:
    """The rate at the largest simulated number of queries that the smallest sample reaches."""
    counts = [e.n_queries for e in estimates if e.has_interval]
    if not counts or min(counts) >= enough or analysis.options.level != LEVEL:
        return ""
    size = max((size for size in rates if size <= min(counts)), default=min(rates))
    return (
        f" With {size} queries {words} in {_share(rates[size])} of simulated studies, where "
        f"{_share(nominal)} is nominal."
    )


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
