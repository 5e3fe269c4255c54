"""Whether raters mark the same sentences of a response, with the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray, IntArray
from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.query_statistic import QueryStatistic, ratio, sums_by_query
from analysis.core.statistic import Statistic
from analysis.render.formatting import listed, with_interval
from analysis.render.table_of import TableOf, each, formatted, in_words, param
from analysis.statistics.reliability.alpha import alpha_of_weights


@dataclass(frozen=True)
class _Marks:
    """The marks for one construct, over sentences."""

    construct: str
    raters: tuple[str, ...]
    marked: FloatArray
    """(sentences, raters): 1 marked, 0 not, NaN where the rater gave no answer."""
    response: IntArray
    """(sentences,): code of the response."""
    query: IntArray
    """(sentences,): code of the query."""


def sentence_marks(context: Context) -> Iterator[Estimate]:
    """Alpha on sentences, and the share of sentences that each rater marks, by construct."""
    n_queries = context.rated_resampling.n_queries
    for marks in _marks(context):
        paired = np.isfinite(marks.marked).sum(axis=1) >= 2
        alpha = alpha_of_weights(marks.marked, marks.query, "nominal", n_queries)
        answered = marks.marked[paired]
        counted = {
            "sentences": int(paired.sum()),
            "marked_by_any": int((np.nansum(answered, axis=1) > 0).sum()),
            "marked_by_all": int((np.nanmin(answered, axis=1) > 0).sum()) if paired.any() else 0,
        }
        yield context.estimate(
            "sentence_alpha",
            replace(
                alpha,
                n_responses=np.unique(marks.response[paired]).size,
                n_dropped=np.setdiff1d(marks.response, marks.response[paired]).size,
                reason=alpha.reason and _reason(answered),
            ),
            constructs=(marks.construct,),
            scorers=marks.raters,
            target="these_raters",
            n_raters=len(marks.raters),
            params=counted,
        )
        for place, rater in enumerate(marks.raters):
            share = _share(marks, place, n_queries)
            yield context.estimate(
                "sentence_marked_share",
                share,
                transform="logit",
                constructs=(marks.construct,),
                scorers=(rater,),
                target="these_raters",
                n_raters=1,
                params={"sentences": int(np.isfinite(marks.marked[:, place]).sum())},
            )


def _marks(context: Context) -> Iterator[_Marks]:
    if context.marks is None:
        return
    rows = context.marks.first
    queries = pd.Index(context.rated_queries, dtype="object")
    for construct in context.marked_constructs:
        construct_rows = rows[rows["construct"] == construct]
        unit = ["query_id", "response_id", "sentence"]
        wide = construct_rows.pivot_table("marked", unit, "scorer", aggfunc="first")
        index = wide.index
        yield _Marks(
            construct,
            tuple(map(str, wide.columns)),
            wide.to_numpy(dtype=np.float64),
            pd.factorize(index.get_level_values("response_id"))[0].astype(np.int64),
            queries.get_indexer(index.get_level_values("query_id")).astype(np.int64),
        )


def _reason(answered: FloatArray) -> str:
    if not answered.size:
        return "no sentence has the answers of two raters"
    state = "no" if np.nanmax(answered) == 0 else "every"
    return f"{state} sentence was marked by any rater: without variation alpha is undefined"


def _share(marks: _Marks, place: int, n_queries: int) -> QueryStatistic:
    """The share of sentences that a rater marks, as a function of query weights."""
    values = marks.marked[:, place]
    seen = np.isfinite(values)
    columns = np.column_stack([values[seen], np.ones(int(seen.sum()))])
    sums = sums_by_query(columns, marks.query[seen], n_queries)

    def weighted_statistic(weights: FloatArray) -> FloatArray:
        marked, count = (weights @ sums).T
        return ratio(marked, count, count > 0)

    responses = np.unique(marks.response[seen]).size
    return QueryStatistic(weighted_statistic, sums[:, 1] > 0, responses)


agreement_on_sentences = TableOf(
    "sentence-agreement",
    "Marks on sentences",
    "Whether raters mark the same sentences of a response: Krippendorff's alpha, nominal, with "
    "the sentence as the unit (marked or not) and an interval for these raters, clustered by "
    "query. Sentences are those with the answers of two raters or more; of these, some were "
    "marked by one rater at least, and some by all who answered.",
    each("sentence_alpha"),
    ("construct", "sentence_alpha", "raters", "responses", param("sentences", "Sentences", ","),
     param("marked_by_any", "Marked by any", ","), param("marked_by_all", "Marked by all", ",")),
    heads=1,
)  # fmt: skip


marks_by_rater = TableOf(
    "sentence-marks-by-rater",
    "Share of sentences that a rater marks",
    "Of the sentences that a rater looked through and answered for, the share that the rater "
    "marked, with an interval clustered by query.",
    each("sentence_marked_share"),
    ("construct", in_words("Rater", "{e.scorers[0]}"), formatted("sentence_marked_share", ".0%"),
     param("sentences", "Sentences", ","), "responses"),
    heads=1,
)  # fmt: skip


def reading(analysis: Analysis) -> Iterator[str]:
    """Alpha on sentences in words."""
    alphas = [
        f"{e.constructs[0]} {with_interval(e)}"
        for e in analysis.estimates.select("sentence_alpha")
        if e.defined
    ]
    if alphas:
        yield f"Agreement of raters on which sentences to mark, alpha: {listed(alphas)}."


STATISTICS = (
    Statistic(
        "sentence_alpha",
        "Alpha on sentences",
        "Krippendorff's alpha, nominal, of marks on sentences: the unit is a sentence, marked or "
        "not (params.sentences with the answers of two raters; params.marked_by_any, "
        "params.marked_by_all)",
        sentence_marks,
        range=(-1, 1),
        better="higher",
        targets=("these_raters",),
        source="Krippendorff 2011",
        nominal=True,
    ),
    Statistic(
        "sentence_marked_share",
        "Marked",
        "share of sentences that a rater marked, of params.sentences that they answered for",
        sentence_marks,
        range=(0, 1),
        targets=("these_raters",),
        nominal=True,
    ),
)
