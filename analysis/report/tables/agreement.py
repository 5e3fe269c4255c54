"""The tables of a report on agreement, from its list of estimates."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose import Analysis
from analysis.report.tables.table import Table, TableBuilder, of_one

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


def reliability(analysis: Analysis) -> Iterator[Table]:
    """How far people agree among themselves."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, data in analysis.rated.items():
        single = first("icc", construct=construct, form="A,1")
        if not data.raters or single is None:
            continue
        average = first("icc", construct=construct, form="A,k")
        k = average.params.get("k") if average else None
        built.add(
            construct,
            *(
                built.r(first("krippendorff_alpha", construct=construct, level=level))
                for level in ("interval", "ordinal", "nominal")
            ),
            built.r(single),
            built.r(average),
            f"{k:.1f}" if isinstance(k, float) else "",
            str(single.n_raters),
            f"{single.n_responses:,}",
        )
    yield built.table(
        "human-reliability",
        "Alpha and intraclass correlation",
        "Krippendorff's alpha at three levels of measurement (intervals for these raters), and the "
        "intraclass correlation of one rater, ICC(A,1), and of the mean of k raters, ICC(A,k), k "
        "the harmonic mean number of ratings a response (intervals for raters like these).",
        ("Construct", "Alpha, interval", "Alpha, ordinal", "Alpha, nominal", "ICC(A,1)",
         "ICC(A,k)", "k", "Raters", "Responses"),
    )  # fmt: skip


def raters(analysis: Analysis) -> Iterator[Table]:
    """Each rater against the others."""
    built = TableBuilder()
    for construct, data in analysis.rated.items():
        scale = analysis.context.human_scale(construct)
        for rater in data.raters if len(data.raters) > 1 else ():
            found = [
                e
                for scope in ("within_query", "pooled")
                for e in analysis.estimates.select(
                    "rater_against_others", construct=construct, scope=scope
                )
                if e.scorers[0] == rater
            ]
            alone = {"construct": construct, "scorer": rater, "scope": "pooled"}
            built.add(
                construct,
                rater,
                *(built.r(e) for e in found),
                built.points(of_one(analysis, "mean", alone), scale),
                built.number(of_one(analysis, "tie_probability", alone), ".1%"),
                f"{found[-1].n_responses:,}",
            )
    yield built.table(
        "raters",
        "Each rater",
        "Correlation with the mean of the other raters, within a query and pooled; mean rating and "
        "ties over all of the rater's responses, which may differ from other raters' responses.",
        ("Construct", "Rater", "r within a query", "r pooled", "Mean", "Ties", "Shared responses"),
        heads=2,
    )
