"""The tables on agreement: by scope, against a rater, in value."""

from __future__ import annotations

from analysis.core.analysis import Analysis
from analysis.render.table_of import (
    Line,
    TableOf,
    coefficient,
    each,
    each_scorer,
    formatted,
    in_points,
    param,
)
from analysis.topics.agreement import few_queries
from analysis.topics.agreement.absolute_agreement import LIMITS
from analysis.topics.agreement.human_ceiling import AGAINST_A_RATER

#: Of means of queries and of systems, which other sections show.
_OF_MEANS = ("between_queries", "system_level")


def _whose_intervals(analysis: Analysis, _rows: Line) -> str:
    adjudicated = analysis.options.reference == "adjudicated"
    return f" Brackets: intervals{'' if adjudicated else ' for these raters'}."


against_humans = TableOf(
    "judge-against-people",
    "Agreement by scope",
    "Agreement with {reference_words}. Within a query: deviations from the query's mean (tau: "
    "pairs inside queries). Between queries and systems: their means. Mean absolute difference "
    "and bias (scorer minus people) on the construct's scale.",
    each_scorer("pearson", scope=("within_query", "pooled", *_OF_MEANS)),
    ("construct", "scorer", "scope", "pearson", "spearman", "kendall_tau_b", in_points("mae"),
     in_points("bias", target="these_raters"), "responses", "queries"),
    heads=3,
    note=_whose_intervals,
    detail=lambda row: row.where["scope"] in _OF_MEANS,
)  # fmt: skip

ceiling = TableOf(
    "human-ceiling",
    "Judge against a rater",
    "Both compared with the same mean of the other raters on the same responses, averaged over "
    "raters; the difference is judge minus rater. Intervals are for these raters, except that "
    "of the last difference: it is to a further rater who is drawn as these were, and is weak "
    "below 5 raters.",
    # There is none against an adjudicated value; the last section of the report explains this.
    each_scorer(
        "human_ceiling",
        keep=lambda one: one.data.reference_kind != "adjudicated",
        scope=("within_query", "pooled"),
        measure=("kendall_tau_b", "pearson"),
    ),
    ("construct", "scorer", "scope", "measure",
     *(coefficient(name, target="these_raters") for name in AGAINST_A_RATER),
     coefficient("human_ceiling_difference", "Difference, raters like these",
                 target="raters_like_these"),
     "responses"),
    heads=4,
    note=lambda analysis, _rows: few_queries.better(analysis),
)  # fmt: skip

in_value = TableOf(
    "agreement-in-value",
    "The same values, not only the same order",
    "{ccc} (Lin), pooled and within a query; root of the mean squared difference; bias (judge "
    "minus people) with the limits of agreement, 1.96 standard deviations to each side, between "
    "which 95% of single differences lie if they are normal. In points of the scale.",
    each_scorer("ccc", keep=lambda one: one.withheld is None, scope=("pooled",)),
    ("construct", "scorer", "ccc", coefficient("ccc", "{ccc} within a query", scope="within_query"),
     *(in_points(name) for name in ("rmse", *LIMITS)), "responses"),
)  # fmt: skip

corrected_for_error = TableOf(
    "corrected-for-error",
    "Correlation if people's ratings had no error",
    "Pearson's r, pooled, and the same divided by the root of ICC(C,k), the reliability of the "
    "mean of k raters; never cut off at 1. Both are resampled together.",
    each("pearson_disattenuated", keep=lambda e: e.defined or e.n_raters >= 2),
    ("construct", "scorer", coefficient("pearson", scope="pooled"), "pearson_disattenuated",
     param("note", "Note"), "responses"),
)  # fmt: skip

equivalence = TableOf(
    "equivalence",
    "Is the bias small enough to ignore?",
    "Two one-sided t-tests that the bias is within the declared margin on each side, one "
    "mean difference a query.",
    each("equivalence_p"),
    ("construct", "scorer", param("margin", "Margin", "g"),
     in_points("bias", scope="pooled", target="these_raters"), formatted("equivalence_p", ".3f"),
     param("equivalent", "Within the margin"), "queries"),
)  # fmt: skip
