"""Missing values as a finding: how many of whose, and why."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.topics.missingness.missing_by_system import missing_by_system

#: The reason given where the table has no row for a response that others scored.
NO_ROW = "no row"


def missing(context: Context) -> Iterator[Estimate]:
    """`missing_share` of each scorer by reason, of all responses that have any row there; then
    where they gather and what they could have changed.
    """
    table = context.scores.frame
    first = table[table["repeat"] == 0]
    for construct, rows in first.groupby("construct", observed=True, sort=False):
        for scope in ("pooled", *(f"system:{name}" for name in context.scores.systems)):
            system = scope.removeprefix("system:") if scope != "pooled" else None
            chosen = rows[rows["system"] == system] if system else rows
            yield from _by_reason(str(construct), chosen, scope, system)
    yield from missing_by_system(context)


def _by_reason(
    construct: str, rows: pd.DataFrame, scope: str, system: str | None
) -> Iterator[Estimate]:
    responses, queries = rows["response_id"].nunique(), rows["query_id"].nunique()
    for scorer, own in rows.groupby("scorer", observed=True, sort=False):
        distinct = own.drop_duplicates("response_id")
        gaps = distinct.loc[distinct["value"].isna(), "missing_reason"].value_counts(sort=False)
        counts = {str(reason): int(count) for reason, count in gaps.items() if count}
        if len(distinct) < responses:
            counts[NO_ROW] = responses - len(distinct)
        for reason, count in counts.items():
            yield Estimate(
                "missing_share",
                (construct,),
                (str(scorer),),
                (system,) if system else (),
                scope,
                value=count / responses,
                n_responses=responses,
                n_queries=queries,
                n_dropped=count,
                params={"reason": reason, "count": count},
            )
