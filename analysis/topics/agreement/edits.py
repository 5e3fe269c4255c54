"""What raters changed after they had been shown more, and the judge's agreement with that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.statistic import Statistic
from analysis.core.tables import ScoreTable
from analysis.render.formatting import listed, percent
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.agreement.association import compared
from analysis.topics.agreement.human_ceiling import SCOPES

#: Value of params.ratings of figures that come from the raters' last values.
LAST = "last"

_KEY = ["construct", "scorer", "response_id", "repeat"]


def edits(context: Context) -> Iterator[Estimate]:
    """How many values were changed and by how much, and correlations with the last values.

    The latter have params.ratings = last. Constructs on which no value was changed have no records.
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
    for scored in later.scored(without_reference=True):
        # Raters do not change an adjudicated reference.
        if scored.construct != construct or scored.data.reference_kind == "adjudicated":
            continue
        for estimate in compared(later, scored, "pearson", only=SCOPES):
            yield replace(estimate, params={**estimate.params, "ratings": LAST})


STATISTICS = (
    Statistic(
        "edited_share",
        "Changed",
        "share of the raters' values on a construct whose last value, given after more was shown, "
        "is not the one that counts; `scorers` are those who changed some; params.count of "
        "params.of, made up of changed (both are values), given_later and taken_back (only one of "
        "them is)",
        edits,
        range=(0, 1),
    ),
    Statistic(
        "edit_mean",
        "Mean change",
        "mean of those changes in points (last value minus the one that counts), params.count of "
        "them",
        edits,
        better="0",
    ),
    Statistic(
        "edit_mean_absolute",
        "Mean absolute change",
        "mean absolute size of those changes in points, params.count of them",
        edits,
        range=(0, None),
        better="lower",
    ),
)


def edits_made(analysis: Analysis) -> Iterator[Table]:
    """How many values were changed later, by whom, and by how much."""
    built, first = TableBuilder(), analysis.estimates.first
    headings = analysis.headings
    for share in analysis.estimates.select("edited_share"):
        construct, params = share.constructs[0], share.params
        scale = analysis.context.human_scale(construct)
        built.used.append(share)
        built.add(
            construct,
            f"{params['of']:,}",
            Cell(f"{params['count']:,}", parts=(percent(share.value),)),
            built.points(first("edit_mean", construct=construct), scale),
            built.points(first("edit_mean_absolute", construct=construct), scale),
            f"{params['given_later']:,}" if params["given_later"] else "",
            f"{params['taken_back']:,}" if params["taken_back"] else "",
            listed(share.scorers),
        )
    yield built.table(
        "edits",
        "Ratings changed after more was shown",
        "A rating counts as it was before its rater was shown the next fields of the query. Later "
        "changes are kept; these are the ratings whose last value is another. Mean change (last "
        "minus counted) and mean absolute change are in points, over ratings with both values; "
        "given later and taken back: ratings with only one of them.",
        ("Construct", "Ratings", headings["edited_share"], headings["edit_mean"],
         headings["edit_mean_absolute"], "Given later", "Taken back", "By"),
    )  # fmt: skip


def with_edits(analysis: Analysis) -> Iterator[Table]:
    """The reported agreement, and the agreement with the raters' last values."""
    built, estimates = TableBuilder(), analysis.estimates
    r = analysis.headings["pearson"]
    scopes = {"within_query": "within a query", "pooled": "pooled"}
    for construct, data in analysis.rated.items():
        for scorer, (scope, name) in product(data.scorers, scopes.items()):
            where = {"construct": construct, "scorer": scorer, "scope": scope}
            counted, last = (
                estimates.first("pearson", ratings=which, **where) for which in (None, LAST)
            )
            if counted is None or last is None:
                continue
            built.add(
                construct,
                scorer,
                name,
                built.r(counted),
                built.r(last),
                f"{counted.n_responses:,}",
                f"{last.n_responses:,}",
            )
    yield built.table(
        "edits-agreement",
        "The agreement with the changed ratings",
        "Pearson correlation of each scorer with the mean of the raters: as counted everywhere "
        "else in this report, and with each rating's last value in its place. Only constructs on "
        "which ratings were changed.",
        ("Construct", "Scorer", "Scope", f"{r}, as counted", f"{r}, last values", "Responses",
         "Responses, last values"),
        heads=3,
    )  # fmt: skip
