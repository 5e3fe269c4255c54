"""Pairs of responses that were compared: a row for each pair, a column for each scorer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.core.arrays import FloatArray, IntArray
from analysis.core.context import Context
from analysis.core.query_statistic import NOISE, comparable
from analysis.core.tables import PreferenceTable

PAIR = ["query_id", "response_a", "response_b"]


def queries_of(context: Context, wide: pd.DataFrame) -> IntArray:
    """Place (pairs,) of the query of each pair among the rated queries."""
    names = wide.index.get_level_values("query_id")
    return pd.Index(context.rated_queries).get_indexer(names).astype(np.int64)


def pairs_of(context: Context, table: PreferenceTable, construct: str) -> pd.DataFrame:
    """First preferences on rated queries, a row for each pair and a column for each scorer.

    A pair that scorers name in both orders is one row, in the order of its first row.
    """
    rows = table.frame[(table.frame["construct"] == construct) & (table.frame["repeat"] == 0)]
    rows = rows[rows["query_id"].astype("object").isin(context.rated_queries)]
    plain = rows[[*PAIR, "scorer"]].astype("object").assign(value=rows["value"])
    first, second = PAIR[1:]
    pair = pd.Series(map(frozenset, zip(plain[first], plain[second], strict=True)), plain.index)
    in_order = plain.groupby([plain["query_id"], pair], sort=False)[first].transform("first")
    # A scorer with a row for each order has two preferences, which stay apart.
    once = ~plain.assign(pair=pair).duplicated(["query_id", "pair", "scorer"], keep=False)
    turned = (plain[first] != in_order) & once
    plain.loc[turned, [first, second]] = plain.loc[turned, [second, first]].to_numpy()
    plain.loc[turned, "value"] = -plain.loc[turned, "value"]
    return plain.pivot(  # noqa: PD010  (keys are unique: nothing to aggregate)
        index=PAIR, columns="scorer", values="value"
    )


def differences_of(context: Context, construct: str, wide: pd.DataFrame) -> dict[str, FloatArray]:
    """Score of response b minus score of a, by scorer; a judge's own preferences as they are."""
    deltas: dict[str, FloatArray] = {}
    kinds = context.preferences.scorer_kinds if context.preferences else {}
    for scorer in wide.columns:
        if kinds[str(scorer)] in {"judge", "metric"}:
            deltas[str(scorer)] = wide[scorer].to_numpy()
    data = context.whole.get(construct)
    if data is not None:
        place = pd.Index(data.responses, dtype="object")
        a = place.get_indexer(wide.index.get_level_values("response_a"))
        b = place.get_indexer(wide.index.get_level_values("response_b"))
        in_table = (a >= 0) & (b >= 0)
        for scorer, values in data.scorers.items():
            size = np.maximum(np.abs(values[a]), np.abs(values[b]))
            delta = values[b] - values[a]
            # Two scores that differ by float noise only have no order.
            ordered = np.where(np.abs(delta) <= NOISE * size, 0.0, comparable(delta, size))
            deltas[scorer] = np.where(in_table, ordered, np.nan)
    return deltas
