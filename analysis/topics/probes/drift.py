"""Whether a judge still answers the same prompts alike: rounds of one fixed set of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.family_estimates import simultaneous_estimates
from analysis.core.statistic import Statistic
from analysis.statistics.probes import Part, query_means

_KEY = ["response_id", "construct"]


def drift(context: Context) -> Iterator[Estimate]:
    """Shift of each later round against the first, and the share of prompts answered alike.

    Intervals are simultaneous over the rounds of a scorer: the largest shift is one of several.
    """
    if context.probes is None:
        return
    for scorer, rows in context.probes.drift.groupby("scorer", sort=False):
        rounds = sorted(rows["round"].unique())
        if len(rounds) > 1:
            yield from _scorer_drift(context, str(scorer), rows, rounds)


def _scorer_drift(
    context: Context, scorer: str, rows: pd.DataFrame, rounds: list[int]
) -> Iterator[Estimate]:
    constructs = tuple(c for c in context.scores.constructs if (rows["construct"] == c).any())
    scales = {context.scores.scale(construct, scorer) for construct in constructs}
    queries = pd.Index(context.scores.queries, dtype="object")
    first = rows[rows["round"] == rounds[0]]
    shifts, alike, records = [], [], []
    for number in rounds[1:]:
        later = rows[rows["round"] == number]
        both = first.merge(later, on=_KEY, suffixes=("", "_later"), how="inner")
        both_scored = both["value"].notna() & both["value_later"].notna()
        at = queries.get_indexer(pd.Index(both["query_id"].astype("object")))
        used = both_scored.to_numpy() & (at >= 0)
        difference = (both["value_later"] - both["value"]).to_numpy(dtype=np.float64)
        dropped = int(np.count_nonzero(~used))
        code = at[used].astype(np.int64)
        reason = "no prompt has a score in both rounds"
        shifts.append(Part(difference[used], code, dropped, reason))
        alike.append(Part((difference[used] == 0).astype(np.float64), code, dropped, reason))
        records.append(_record(constructs, scorer, rows, int(number), int(rounds[0])))
    resampling = context.whole_resampling
    if len(scales) == 1:
        yield from simultaneous_estimates(
            context,
            "drift_shift",
            query_means(shifts, resampling.n_queries),
            resampling,
            records,
        )
    else:
        why = "the constructs are on several scales, whose points can't be averaged"
        yield from (Estimate("drift_shift", reason=why, **record) for record in records)
    yield from simultaneous_estimates(
        context, "drift_equal_share", query_means(alike, resampling.n_queries), resampling, records
    )


def _record(
    constructs: tuple[str, ...], scorer: str, rows: pd.DataFrame, number: int, first: int
) -> dict[str, Any]:
    names = rows.loc[rows["round"].isin([first, number]), "served"].dropna()
    return {
        "constructs": constructs,
        "scorers": (scorer,),
        "params": {"round": number, "first": first, "served_names": int(names.nunique())},
    }


STATISTICS = (
    Statistic(
        "drift_shift",
        "Shift",
        "mean score of round params.round minus round params.first on the same prompts, all "
        "constructs together; simultaneous over the rounds; params.served_names, names that the "
        "server gave itself in the two",
        drift,
        better="0",
    ),
    Statistic(
        "drift_equal_share",
        "Equal",
        "share of the prompts of `drift_shift` with exactly the same score",
        drift,
        range=(0, 1),
        better="higher",
    ),
)
