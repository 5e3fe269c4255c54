"""What raters changed after they had been shown more, and the judge's agreement with that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.tables import ScoreTable
from analysis.topics.agreement.association import compared, reference_scorers
from analysis.topics.agreement.human_ceiling import SCOPES

#: Value of params.ratings of figures that come from the raters' last values.
LAST = "last"

_KEY = ["construct", "scorer", "response_id", "repeat"]


def edits(context: Context) -> Iterator[Estimate]:
    """How many values were changed and by how much, and correlations with the last values.

    The latter have params.ratings = last. Nothing is said where no value was changed.
    """
    if context.edited is None:
        return
    both = _human(context.scores).merge(
        _human(context.edited), on=_KEY, how="outer", suffixes=("", "_last")
    )
    later = Context(context.edited, context.preferences, context.options)
    for construct in context.scores.constructs:
        rows = both[both["construct"] == construct]
        differing = rows[~_equal(rows)]
        if len(differing):
            yield from _changes(construct, rows, differing)
            yield from _against_last(later, construct)


def _human(scores: ScoreTable) -> pd.DataFrame:
    """Return each human value once, however many systems gave the response."""
    frame = scores.frame
    rows = frame.loc[frame["scorer_kind"] == "human", [*_KEY, "query_id", "value"]]
    texts = dict.fromkeys((*_KEY[:-1], "query_id"), "object")
    return rows.astype(texts).drop_duplicates(_KEY)


def _equal(rows: pd.DataFrame) -> pd.Series[bool]:
    first, last = rows["value"], rows["value_last"]
    return first.eq(last) | (first.isna() & last.isna())


def _changes(construct: str, rows: pd.DataFrame, differing: pd.DataFrame) -> Iterator[Estimate]:
    change = (differing["value_last"] - differing["value"]).dropna().to_numpy()
    counts = {
        "count": len(differing),
        "changed": len(change),
        "given_later": int(differing["value"].isna().sum()),
        "taken_back": int(differing["value_last"].isna().sum()),
    }
    record: dict[str, Any] = {
        "constructs": (construct,),
        "scorers": tuple(sorted(differing["scorer"].unique())),
        "n_raters": rows["scorer"].nunique(),
    }
    yield Estimate(
        "edited_share",
        value=len(differing) / len(rows),
        n_responses=rows["response_id"].nunique(),
        n_queries=rows["query_id"].fillna(rows["query_id_last"]).nunique(),
        params={**counts, "of": len(rows)},
        **record,
    )
    reason = None if len(change) else "no value was changed to another one"
    moved = differing[differing["value"].notna() & differing["value_last"].notna()]
    for name, values in (("edit_mean", change), ("edit_mean_absolute", np.abs(change))):
        yield Estimate(
            name,
            value=float(values.mean()) if len(values) else np.nan,
            n_responses=moved["response_id"].nunique(),
            n_queries=moved["query_id"].nunique(),
            n_dropped=len(differing) - len(change),
            reason=reason,
            params={"count": len(change)},
            **record,
        )


def _against_last(later: Context, construct: str) -> Iterator[Estimate]:
    data = later.rated.get(construct)
    # An adjudicated reference is none of what raters changed.
    if data is None or data.reference_kind == "adjudicated":
        return
    people = reference_scorers(data)
    for scorer, values in data.scorers.items():
        for estimate in compared(later, data, scorer, values, people, "pearson", only=SCOPES):
            yield replace(estimate, params={**estimate.params, "ratings": LAST})
