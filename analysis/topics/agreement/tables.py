"""The tables on agreement: by scope, against a rater, in value."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.table import Table, TableBuilder
from analysis.topics.agreement import few_queries
from analysis.topics.agreement.absolute_agreement import LIMITS
from analysis.topics.agreement.human_ceiling import AGAINST_A_RATER

_SCOPES = {
    "within_query": "within a query",
    "pooled": "pooled",
    "between_queries": "between queries",
    "system_level": "between systems",
}
#: Of means of queries and of systems, which other sections show.
_OF_MEANS = ("between_queries", "system_level")


def against_humans(analysis: Analysis) -> Iterator[Table]:
    """Every judge and metric against the human reference, a row for each scope."""
    built, first = TableBuilder(), analysis.estimates.first
    for data, scorer, _, _ in analysis.context.scored():
        construct, scale = data.construct, analysis.context.human_scale(data.construct)
        for scope, name in _SCOPES.items():
            where = {"construct": construct, "scorer": scorer, "scope": scope}
            r = first("pearson", **where)
            if r is None:
                continue
            shown_bias = first("bias", target="these_raters", **where)
            built.add(
                construct,
                scorer,
                name,
                built.r(r),
                built.r(first("spearman", **where)),
                built.r(first("kendall_tau_b", **where)),
                built.points(first("mae", **where), scale),
                built.points(shown_bias, scale),
                f"{r.n_responses:,}",
                f"{r.n_queries:,}",
                detail=scope in _OF_MEANS,
            )
    adjudicated = analysis.options.reference == "adjudicated"
    target_words = "" if adjudicated else " for these raters"
    yield built.table(
        "judge-against-people",
        "Agreement by scope",
        f"Agreement with {analysis.reference_words}. Within a query: deviations from the query's "
        "mean (tau: pairs inside queries). Between queries and systems: their means. Mean "
        "absolute difference and bias (scorer minus people) on the construct's scale. Brackets: "
        f"intervals{target_words}.",
        ("Construct", "Scorer", "Scope",
         *(analysis.headings[name]
           for name in ("pearson", "spearman", "kendall_tau_b", "mae", "bias")),
         "Responses", "Queries"),
        heads=3,
    )  # fmt: skip


def ceiling(analysis: Analysis) -> Iterator[Table]:
    """Judge and rater against the same mean of the other raters."""
    built, first = TableBuilder(), analysis.estimates.first
    headings = analysis.headings
    for data, scorer, _, _ in analysis.context.scored():
        # There is none against an adjudicated value; the last section of the report explains this.
        if data.reference_kind == "adjudicated":
            continue
        for scope in ("within_query", "pooled"):
            for measure in ("kendall_tau_b", "pearson"):
                where = {
                    "construct": data.construct,
                    "scorer": scorer,
                    "scope": scope,
                    "measure": measure,
                }
                rater = first("human_ceiling", **where)
                built.add(
                    data.construct,
                    scorer,
                    _SCOPES[scope],
                    headings[measure],
                    *(
                        built.r(first(name, target="these_raters", **where))
                        for name in AGAINST_A_RATER
                    ),
                    built.r(first("human_ceiling_difference", target="raters_like_these", **where)),
                    f"{rater.n_responses:,}" if rater else "",
                )
    yield built.table(
        "human-ceiling",
        "Judge against a rater",
        "Both compared with the same mean of the other raters on the same responses, averaged over "
        "raters; the difference is judge minus rater. Intervals are for these raters, except that "
        "of the last difference: it is to a further rater who is drawn as these were, and is weak "
        f"below 5 raters.{few_queries.better(analysis)}",
        ("Construct", "Scorer", "Scope", "Measure", *(headings[name] for name in AGAINST_A_RATER),
         "Difference, raters like these", "Responses"),
        heads=4,
    )  # fmt: skip


def in_value(analysis: Analysis) -> Iterator[Table]:
    """A row for each construct and scorer on a common scale, pooled."""
    built, first = TableBuilder(), analysis.estimates.first
    headings = analysis.headings
    for data, scorer, _, withheld in analysis.context.scored():
        construct, scale = data.construct, analysis.context.human_scale(data.construct)
        where = {"construct": construct, "scorer": scorer, "scope": "pooled"}
        concordance = first("ccc", **where)
        if concordance is None or withheld:
            continue
        within = first("ccc", **(where | {"scope": "within_query"}))
        built.add(
            construct,
            scorer,
            built.r(concordance),
            built.r(within),
            built.points(first("rmse", **where), scale),
            *(built.points(first(name, **where), scale) for name in LIMITS),
            f"{concordance.n_responses:,}",
        )
    yield built.table(
        "agreement-in-value",
        "The same values, not only the same order",
        f"{headings['ccc']} (Lin), pooled and within a query; root of the mean squared "
        "difference; bias (judge minus people) with the limits of agreement, 1.96 standard "
        "deviations to each side, between which 95% of single differences lie if they are normal. "
        "In points of the scale.",
        ("Construct", "Scorer", headings["ccc"], f"{headings['ccc']} within a query",
         headings["rmse"], *(headings[name] for name in LIMITS), "Responses"),
        heads=2,
    )  # fmt: skip


def corrected_for_error(analysis: Analysis) -> Iterator[Table]:
    """Pearson's r, and r divided by the root of people's reliability."""
    built, first = TableBuilder(), analysis.estimates.first
    for e in analysis.estimates.select("pearson_disattenuated"):
        if not e.defined and e.n_raters < 2:
            continue
        construct, scorer = e.constructs[0], e.scorers[0]
        plain = first("pearson", construct=construct, scorer=scorer, scope="pooled")
        note = str(e.params["note"] or "")
        built.add(construct, scorer, built.r(plain), built.r(e), note, f"{e.n_responses:,}")
    yield built.table(
        "corrected-for-error",
        "Correlation if people's ratings had no error",
        "Pearson's r, pooled, and the same divided by the root of ICC(C,k), the reliability of the "
        "mean of k raters; never cut off at 1. Both are resampled together.",
        ("Construct", "Scorer", analysis.headings["pearson"],
         analysis.headings["pearson_disattenuated"], "Note", "Responses"),
        heads=2,
    )  # fmt: skip


def equivalence(analysis: Analysis) -> Iterator[Table]:
    """Bias against the margin that was declared."""
    built = TableBuilder()
    for e in analysis.estimates.select("equivalence_p"):
        scale = analysis.context.human_scale(e.constructs[0])
        bias = analysis.estimates.first(
            "bias", construct=e.constructs[0], scorer=e.scorers[0], scope="pooled",
            target="these_raters",
        )  # fmt: skip
        built.add(
            e.constructs[0], e.scorers[0], f"{e.params['margin']:g}", built.points(bias, scale),
            built.number(e, ".3f"), str(e.params.get("equivalent") or ""), f"{e.n_queries:,}",
        )  # fmt: skip
    yield built.table(
        "equivalence",
        "Is the bias small enough to ignore?",
        "Two one-sided t-tests that the bias is within the declared margin on each side, one "
        "mean difference a query.",
        ("Construct", "Scorer", "Margin", analysis.headings["bias"],
         analysis.headings["equivalence_p"], "Within the margin", "Queries"),
        heads=2,
    )  # fmt: skip
