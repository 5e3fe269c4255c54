"""The tables of a report on agreement, from its list of estimates."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.table import Table, TableBuilder

_SCOPES = {
    "within_query": "within a query",
    "pooled": "pooled",
    "between_queries": "between queries",
    "system_level": "between systems",
}


def against_humans(analysis: Analysis) -> Iterator[Table]:
    """Every judge and metric against the human reference, a row for each scope."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, data in analysis.rated.items():
        if data.reference_missing:
            continue
        scale = analysis.context.human_scale(construct)
        for scorer in data.scorers:
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
                )
    adjudicated = analysis.options.reference == "adjudicated"
    of_raters = "" if adjudicated else " for these raters"
    what = "the adjudicated value" if adjudicated else "the mean of a response's raters"
    yield built.table(
        "judge-against-people",
        "Agreement by scope",
        f"Agreement with {what}. Within a query: deviations from the query's mean (tau: pairs "
        "inside queries). Between queries and systems: their means. Mean absolute difference and "
        f"bias (scorer minus people) on the construct's scale. Brackets: intervals{of_raters}.",
        ("Construct", "Scorer", "Scope", "r", "rho", "tau-b", "MAE", "Bias", "Responses",
         "Queries"),
        heads=3,
    )  # fmt: skip


def ceiling(analysis: Analysis) -> Iterator[Table]:
    """Judge and rater against the same mean of the other raters."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, data in analysis.rated.items():
        # Against an adjudicated value there is none, which the last section says.
        if data.reference_missing or data.reference_kind == "adjudicated":
            continue
        for scorer in data.scorers:
            for scope in ("within_query", "pooled"):
                for measure, name in (("pearson", "r"), ("kendall_tau_b", "tau-b")):
                    where = {
                        "construct": construct,
                        "scorer": scorer,
                        "scope": scope,
                        "measure": measure,
                    }
                    rater = first("human_ceiling", **where)
                    built.add(
                        construct,
                        scorer,
                        _SCOPES[scope],
                        name,
                        built.r(first("judge_against_others", **where)),
                        built.r(rater),
                        built.r(first("human_ceiling_difference", **where)),
                        f"{rater.n_responses:,}" if rater else "",
                    )
    yield built.table(
        "human-ceiling",
        "Judge against a rater",
        "Both compared with the same mean of the other raters on the same responses, averaged over "
        "raters; the difference is judge minus rater, its interval from joint resamples.",
        ("Construct", "Scorer", "Scope", "Measure", "Judge", "Rater", "Difference", "Responses"),
        heads=4,
    )
