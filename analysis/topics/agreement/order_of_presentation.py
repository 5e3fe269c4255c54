"""Judges that compared responses in both orders: how often the order decided."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import QueryStatistic
from analysis.core.statistic import Statistic
from analysis.core.uncertainty import Transform
from analysis.render.formatting import between, percent
from analysis.render.table_of import TableOf, each, formatted, number_of
from analysis.statistics.agreement.paired_statistics import mean_of


def order_effects(context: Context) -> Iterator[Estimate]:
    """`order_consistency` and `position_bias` of each judge on each construct.

    Only pairs with a choice in both orders enter, so that each response is as often shown first.
    """
    table = context.preferences
    if table is None or "value_a_first" not in table.frame:
        return
    queries = {name: place for place, name in enumerate(context.compared_queries)}
    total = len(queries)
    for construct in table.constructs:
        for scorer in table.scorers(construct, "judge", "metric"):
            rows = table.frame[
                (table.frame["construct"] == construct)
                & (table.frame["scorer"] == scorer)
                & (table.frame["repeat"] == 0)
            ]
            a_first = np.sign(rows["value_a_first"].to_numpy(dtype=np.float64))
            b_first = np.sign(rows["value_b_first"].to_numpy(dtype=np.float64))
            asked = np.isfinite(a_first) | np.isfinite(b_first)
            both = np.isfinite(a_first) & np.isfinite(b_first)
            if not asked.any():
                continue
            query = np.array(
                [queries[name] for name in rows["query_id"].astype("object")], dtype=np.int64
            )[both]
            a_first, b_first = a_first[both], b_first[both]
            compared = np.bincount(query, minlength=total) > 0
            measured: tuple[tuple[str, FloatArray, Transform | None], ...] = (
                ("order_consistency", (a_first == b_first).astype(np.float64), "logit"),
                # Where a is shown first, a negative value prefers what is shown first.
                ("position_bias", (b_first - a_first) / 2, None),
            )
            for name, values, transform in measured:
                statistic = QueryStatistic(
                    mean_of(values, query, total),
                    compared,
                    int(both.sum()),
                    int(asked.sum() - both.sum()),
                    None if both.any() else "no pair has a choice in both orders",
                )
                yield context.estimate(
                    name, statistic, context.compared_resampling, transform,
                    constructs=(construct,), scorers=(scorer,),
                )  # fmt: skip


STATISTICS = (
    Statistic(
        "order_consistency",
        "Same choice in both orders",
        "share of pairs of responses on which a judge makes the same choice (or a tie) whichever "
        "is shown first; a judge that guesses among the two has .5",
        order_effects,
        range=(0, 1),
        better="higher",
        source="Zheng et al. 2023, section 3.4",
    ),
    Statistic(
        "position_bias",
        "Position bias",
        "share of the choices for the response shown first minus share of those for the second, "
        "over pairs with a choice in both orders; ties count as neither",
        order_effects,
        range=(-1, 1),
        better="0",
        source="Zheng et al. 2023, section 3.4",
    ),
)


order_table = TableOf(
    "order-of-presentation",
    "Pairs asked in both orders",
    "How often a judge makes the same choice whichever response is shown first, and how much "
    "more often it chooses the first than the second. Different choices count as a tie among "
    "the preferences. A judge that guesses makes the same choice in half of the pairs.",
    each("order_consistency"),
    ("construct", "judge", formatted("order_consistency", ".1%"),
     formatted("position_bias", "+.1%"), "pairs", number_of("n_dropped", "Without a choice")),
)  # fmt: skip


def reading(analysis: Analysis) -> Iterator[str]:
    """What the order of presentation does to each judge."""
    for e in analysis.estimates.select("position_bias"):
        if not e.has_interval or e.ci_low <= 0 <= e.ci_high:
            continue
        which = "first" if e.value > 0 else "second"
        yield (
            f"{e.scorers[0]} prefers the response that it sees {which} on {e.constructs[0]}: "
            f"{percent(abs(e.value))} more of its choices {between(e)}. Asking both orders keeps "
            "this out of its preferences, at the price of more ties."
        )
