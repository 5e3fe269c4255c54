"""The tables of a report, from its list of estimates."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.compose import Analysis
from analysis.compose.score_properties import MEAN_OF_RATERS
from analysis.estimates import Estimate
from analysis.report.report_table import Cell, Table, TableBuilder
from analysis.report.words import counted, percent

_SCOPES = {
    "within_query": "within a query",
    "pooled": "pooled",
    "between_queries": "between queries",
    "system_level": "between systems",
}


def tables(analysis: Analysis) -> list[Table]:
    """All tables that have rows."""
    builders = (against_humans, ceiling, reliability, systems, properties, composed, on_preferences,
                gaps)  # fmt: skip
    found = [table for builder in builders for table in builder(analysis)]
    return [table for table in found if table.rows]


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
    what = "the adjudicated value" if adjudicated else "the mean of a response's raters"
    yield built.table(
        "judge-against-people",
        "Judge against people",
        f"Agreement with {what}. Within a query: deviations from the query's mean (tau: pairs "
        "inside queries). Between queries and systems: their means. Mean absolute difference and "
        "bias (scorer minus people) in points. Brackets: intervals for these raters.",
        ("Construct", "Scorer", "Scope", "r", "rho", "tau-b", "MAE", "Bias", "Responses",
         "Queries"),
        heads=3,
    )  # fmt: skip


def ceiling(analysis: Analysis) -> Iterator[Table]:
    """Judge and rater against the same mean of the other raters."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, data in analysis.rated.items():
        if data.reference_missing:
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
        "People among themselves",
        "Krippendorff's alpha at three levels of measurement (intervals for these raters), and the "
        "intraclass correlation of one rater, ICC(A,1), and of the mean of k raters, ICC(A,k), k "
        "the harmonic mean number of ratings a response (intervals for raters like these).",
        ("Construct", "Alpha, interval", "Alpha, ordinal", "Alpha, nominal", "ICC(A,1)",
         "ICC(A,k)", "k", "Raters", "Responses"),
    )  # fmt: skip


def systems(analysis: Analysis) -> Iterator[Table]:
    """Means by system, judge beside people, with the bias on common responses."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct, data in analysis.context.whole.items():
        for system in data.systems:
            scope = f"system:{system}"
            people = first("mean", construct=construct, scope=scope, of=MEAN_OF_RATERS)
            if people is None and data.raters:
                people = first("mean", construct=construct, scorer=data.raters[0], scope=scope)
            for scorer in data.scorers:
                where = {"construct": construct, "scorer": scorer, "scope": scope}
                scale = analysis.scores.scale(construct, scorer)
                built.add(
                    construct,
                    system,
                    scorer,
                    built.points(first("mean", **where), scale),
                    built.points(people, analysis.context.human_scale(construct)),
                    built.points(first("bias", **where), scale),
                    built.r(first("pearson", **where)),
                )
    yield built.table(
        "systems",
        "Systems",
        "Mean score on all responses of a system that have one; the means of people and judge may "
        "rest on different responses, bias and r on those that both scored.",
        ("Construct", "System", "Scorer", "Scorer's mean", "People's mean", "Bias", "r"),
        heads=3,
    )


def properties(analysis: Analysis) -> Iterator[Table]:
    """How scorers use the scale, over all their responses."""
    built = TableBuilder()
    for construct, data in analysis.context.whole.items():
        rows: list[tuple[str, dict[str, str]]] = [(name, {"scorer": name}) for name in data.kinds]
        if len(data.raters) > 1:
            rows.append(("mean of raters", {"of": MEAN_OF_RATERS}))
        for name, who in rows:
            where = {"construct": construct, "scope": "pooled", **who}
            scale = analysis.scores.scale(construct, name)
            mean = _of_one(analysis, "mean", where)
            shape = ("median", "interquartile_range", "minimum", "maximum")
            variance = _of_one(analysis, "variance", where)
            built.add(
                construct,
                name,
                built.points(mean, scale),
                *(built.points(_of_one(analysis, key, where), scale) for key in shape),
                _deviation(variance),
                built.number(_of_one(analysis, "skewness", where), ".2f"),
                built.number(_of_one(analysis, "tie_probability", where), ".1%"),
                built.number(_of_one(analysis, "share_at_min", where), ".1%"),
                built.number(_of_one(analysis, "share_at_max", where), ".1%"),
                f"{mean.n_responses:,}" if mean else "",
            )
    yield built.table(
        "score-properties",
        "How the scale is used",
        "All scores of each scorer, a response once. Ties: chance that two responses have equal "
        "scores. Floor and ceiling: share exactly at the ends of the declared scale. By system and "
        "further statistics: in estimates.csv.",
        ("Construct", "Scorer", "Mean", "Median", "IQR", "Min", "Max", "SD", "Skew",
         "Ties", "Floor", "Ceiling", "Responses"),
        heads=2,
    )  # fmt: skip


def _of_one(analysis: Analysis, statistic: str, where: dict[str, str]) -> Estimate | None:
    """A figure of one scorer alone, or of the mean of raters; never the one for the other."""
    wanted = where.get("of")
    found = analysis.estimates.select(statistic, **where)
    return next((e for e in found if e.params.get("of") == wanted), None)


def _deviation(variance: Estimate | None) -> Cell:
    if variance is None or not variance.defined:
        return Cell("—")
    return Cell(f"{variance.value**0.5:.1f}")


def composed(analysis: Analysis) -> Iterator[Table]:
    """The AC audit."""
    built, first = TableBuilder(), analysis.estimates.first
    for largest in analysis.estimates.select("attainable_without_match"):
        name, judge, em = largest.scorers
        matches = first("exact_matches", scope="pooled")
        scale = analysis.scores.scale("AC", judge)
        for scorer, said in ((name, "composed"), (judge, "judge's part"), (em, "exact match")):
            part = scorer == name
            where = {"construct": "AC", "scorer": scorer}
            built.add(
                scorer,
                said,
                built.r(first("pearson", scope="within_query", **where)),
                built.r(first("pearson", scope="pooled", **where)),
                built.r(first("kendall_tau_b", scope="within_query", **where)),
                built.points(largest, scale) if part else "",
                built.number(matches, ",.0f") if scorer == em else "",
            )
    weight = f"{analysis.options.ac_lambda:g}"
    yield built.table(
        "answer-correctness",
        "Answer Correctness: parts and whole",
        f"Composed AC = {weight} EM + (1 - {weight}) judge, both on the same scale. It gets "
        "correlations with people only: its level lies below people's by construction. The "
        "largest value without an exact match, in points, says how far a response can come that "
        "words the answer in its own way.",
        ("Scorer", "Part", "r within a query", "r pooled", "tau-b within a query",
         "Largest without a match", "Exact matches"),
        heads=2,
    )  # fmt: skip


def on_preferences(analysis: Analysis) -> Iterator[Table]:
    """Preferences: raters with each other, scorers' differences with raters."""
    built, first = TableBuilder(), analysis.estimates.first
    for r in analysis.estimates.select("pearson", on="preferences"):
        construct, scorers = r.constructs[0], r.scorers
        rho = next(
            e
            for e in analysis.estimates.select("spearman", construct=construct, on="preferences")
            if e.scorers == scorers
        )
        near = first("agreement_within", construct=construct, scorer=scorers[0])
        among = "repeated_by" not in r.params
        built.add(
            construct,
            scorers[0],
            " and ".join(scorers[1:]),
            built.r(r),
            built.r(rho),
            built.number(near, ".1%") if among and near and near.scorers == scorers else "",
            f"{r.n_responses:,}",
        )
    yield built.table(
        "preferences",
        "Preferences",
        "Correlation of two raters' preferences, and of a scorer's difference (score of response b "
        "minus score of a) with the raters' preferences; there every pair counts once for each "
        "rater. Within one point: share of pairs on which the raters differ by one point at most.",
        ("Construct", "Of", "With", "r", "rho", "Within one point", "n"),
        heads=3,
    )


def gaps(analysis: Analysis) -> Iterator[Table]:
    """Missing values by scorer and reason."""
    built = TableBuilder()
    for e in analysis.estimates.select("missing_share", scope="pooled"):
        built.used.append(e)
        built.add(
            e.constructs[0],
            e.scorers[0],
            str(e.params["reason"]).replace("_", " "),
            f"{e.n_dropped:,}",
            percent(e.value),
            counted(e.n_responses, "response"),
        )
    yield built.table(
        "missing",
        "What is missing, and why",
        "Missing values are left out, never counted as 0. No row: the table has no row of this "
        "scorer for a response that others scored. By system: in estimates.csv.",
        ("Construct", "Scorer", "Reason", "Missing", "Share", "Of"),
        heads=3,
    )
