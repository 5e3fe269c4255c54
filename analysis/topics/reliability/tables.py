"""The tables of a report on people among themselves."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import listed
from analysis.render.table import Cell, Table, TableBuilder, scorer_estimate
from analysis.topics.reliability.raters import source_rows

#: Raters of a construct that the table shows; the CSV of estimates has all.
RATERS_SHOWN = 30
_COMPONENTS = (
    "query",
    "system",
    "rater",
    "query:system",
    "query:rater",
    "system:rater",
    "residual",
)


_DESIGNS = (50, 100, 200, 400)
_SCALE_USES = ("centered", "ranks")
_LEVELS = ("interval", "ordinal", "nominal")


def reliability(analysis: Analysis) -> Iterator[Table]:
    """How far people agree among themselves."""
    built, first = TableBuilder(), analysis.estimates.first
    alpha, icc = (analysis.headings[name] for name in ("krippendorff_alpha", "icc"))
    for construct, data in analysis.rated.items():
        single = first("icc", construct=construct, form="A,1")
        counted = single or first("krippendorff_alpha", construct=construct, level="nominal")
        if not data.raters or counted is None:
            continue
        average = first("icc", construct=construct, form="A,k")
        k = average.params.get("k") if average else None
        built.add(
            construct,
            *(
                built.r(first("krippendorff_alpha", construct=construct, level=level))
                for level in _LEVELS
            ),
            built.r(single),
            built.r(average),
            f"{k:.1f}" if isinstance(k, float) else "",
            built.r(first("icc", construct=construct, form="C,1")),
            built.r(first("icc", construct=construct, form="1,1")),
            str(counted.n_raters),
            f"{counted.n_responses:,}",
        )
    yield built.table(
        "human-reliability",
        "People among themselves",
        "Krippendorff's alpha at three levels of measurement (intervals for these raters), and "
        "intraclass correlations (intervals for raters like these): of one rater, ICC(A,1) or "
        "ICC(2,1); of the mean of k raters, ICC(A,k) or ICC(2,k), k the harmonic mean number of "
        "ratings a response; of one rater, severity aside, ICC(C,1) or ICC(3,1); of one rating by "
        "any rater, ICC(1) or ICC(1,1).",
        ("Construct", *(f"{alpha}, {level}" for level in _LEVELS), f"{icc}(A,1)", f"{icc}(A,k)",
         "k", f"{icc}(C,1)", f"{icc}(1)", "Raters", "Responses"),
    )  # fmt: skip


def agreement_of_pairs(analysis: Analysis) -> Iterator[Table]:
    """Equal and distant ratings, agreement beyond chance, and how far one rating may be off."""
    built, first = TableBuilder(), analysis.estimates.first
    headings = analysis.headings
    for construct, data in analysis.rated.items():
        if len(data.raters) < 2:
            continue
        scale = analysis.context.human_scale(construct)
        built.add(
            construct,
            built.number(first("raw_agreement", construct=construct), ".0%"),
            built.points(first("mean_absolute_difference", construct=construct), scale),
            built.points(first("sem", construct=construct, kind="agreement"), scale),
            built.r(first("conger_kappa", construct=construct, weights="unweighted")),
            built.r(first("conger_kappa", construct=construct, weights="linear")),
            built.r(first("weighted_kappa", construct=construct)),
            built.r(first("fleiss_kappa", construct=construct)),
            built.r(first("gwet_ac", construct=construct, weights="unweighted")),
            built.r(first("gwet_ac", construct=construct, weights="quadratic")),
            built.r(first("brennan_prediger", construct=construct)),
            *(
                built.r(first("alpha_by_scale_use", construct=construct, values=use))
                for use in _SCALE_USES
            ),
        )
    yield built.table(
        "human-agreement",
        "Two ratings of one response",
        "Share of equal pairs of ratings and their mean distance; SEM, the standard error of one "
        "rating in points (interval for raters like these, the others for these raters); kappa "
        "without weights (equal ratings only, so that it is near 0 on many points), with linear "
        "and with quadratic weights (Conger; Cohen's for two raters); on scales of at most 11 "
        "levels also Fleiss's kappa, Gwet's AC1 and AC2, and Brennan and Prediger's coefficient; "
        "interval alpha once each rater's severity is taken out, and on ranks within each rater.",
        ("Construct",
         *(headings[name] for name in ("raw_agreement", "mean_absolute_difference", "sem",
                                       "conger_kappa")),
         f"{headings['conger_kappa']}, linear", headings["weighted_kappa"],
         headings["fleiss_kappa"],
         *(f"{headings['gwet_ac']}{number}" for number in (1, 2)), headings["brennan_prediger"],
         *(f"{headings['alpha_by_scale_use']}, {use}" for use in _SCALE_USES)),
    )  # fmt: skip


def raters(analysis: Analysis) -> Iterator[Table]:
    """Each rater against the others."""
    built, select = TableBuilder(), analysis.estimates.select
    headings = analysis.headings
    r = headings["rater_against_others"]
    for construct, data in analysis.rated.items():
        scale = analysis.context.human_scale(construct)
        sources = _sources(analysis, construct)
        for rater in data.raters[:RATERS_SHOWN] if len(data.raters) > 1 else ():
            correlations = [
                e
                for scope in ("within_query", "pooled")
                for e in select(
                    "rater_against_others", construct=construct, scope=scope, measure="pearson"
                )
                if e.scorers[0] == rater
            ]
            severity, drift = (
                next((e for e in records if e.scorers[0] == rater), None)
                for records in (
                    select("rater_severity", construct=construct, interval="simultaneous"),
                    select("rater_drift", construct=construct),
                )
            )
            alone = {"construct": construct, "scorer": rater, "scope": "pooled"}
            built.add(
                construct,
                rater,
                *(built.r(e) for e in correlations),
                built.points(severity, scale),
                built.points(drift, scale, more=3),
                built.points(scorer_estimate(analysis, "mean", alone), scale),
                built.number(scorer_estimate(analysis, "tie_probability", alone), ".1%"),
                f"{correlations[-1].n_responses:,}",
                sources.get(rater, ""),
            )
    yield built.table(
        "raters",
        "Each rater",
        "Correlation with the mean of the other raters, within a query and pooled; severity in "
        "points, the rater's mean less what the same responses get (positive: more lenient; "
        "simultaneous intervals of all raters), and its drift in points per rating; mean rating "
        "and ties over all of the rater's responses, which may differ from other raters' "
        "responses."
        + _first_only(analysis),
        ("Construct", "Rater", f"{r} within a query", f"{r}, pooled",
         *(headings[name] for name in ("rater_severity", "rater_drift", "mean", "tie_probability")),
         "Shared responses", "Source"),
        heads=2,
    )  # fmt: skip


def _sources(analysis: Analysis, construct: str) -> dict[str, str]:
    """Where each rater rated; empty where all rated in one place."""
    rows = source_rows(analysis.context, construct)
    if rows["source"].nunique() < 2:
        return {}
    return {
        str(rater): listed(sorted(str(name) for name in places.unique()))
        for rater, places in rows.groupby("scorer")["source"]
    }


def _first_only(analysis: Analysis) -> str:
    most = max((len(data.raters) for data in analysis.rated.values()), default=0)
    return f" The first {RATERS_SHOWN} of {most} raters." if most > RATERS_SHOWN else ""


def repeats(analysis: Analysis) -> Iterator[Table]:
    """Each scorer against itself."""
    built = TableBuilder()
    by_scorer: dict[tuple[str, str], dict[str, Estimate]] = {}
    for e in analysis.estimates.select("repeat_agreement"):
        measures = by_scorer.setdefault((e.constructs[0], e.scorers[0]), {})
        measures[str(e.params["measure"])] = e
    kinds = analysis.scorer_kinds
    # Judges first, and as many rows as can be read.
    ordered = sorted(by_scorer, key=lambda key: (key[0], kinds.get(key[1]) != "judge"))
    for construct, scorer in ordered[: 2 * RATERS_SHOWN]:
        measures = by_scorer[construct, scorer]
        scale = analysis.scores.scale(construct, scorer)
        built.add(
            construct,
            scorer,
            built.r(measures.get("pearson")),
            built.points(measures.get("mean_absolute_difference"), scale),
            built.number(measures["share_equal"], ".0%"),
            f"{measures['share_equal'].params['pairs']:,}",
        )
    yield built.table(
        "repeats",
        "Scorers against themselves",
        f"{analysis.headings['repeat_agreement']}: first scores against later scores of the same "
        "responses by the same scorer.",
        ("Construct", "Scorer",
         *(analysis.headings[name]
           for name in ("pearson", "mean_absolute_difference", "raw_agreement")), "Pairs"),
        heads=2,
    )  # fmt: skip


def components(analysis: Analysis) -> Iterator[Table]:
    """Where the variance of ratings comes from."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct in analysis.rated:
        if first("variance_component", construct=construct) is None:
            continue
        estimates = (
            first("variance_component", construct=construct, component=c) for c in _COMPONENTS
        )
        built.add(construct, *(_share(built, e) for e in estimates))
    yield built.table(
        "variance-components",
        "Where the variance of ratings comes from",
        f"{analysis.headings['variance_component']}, as a share of the variance of one rating "
        "(Henderson's first method; the CSV has the "
        "components in squared points). A negative estimate counts 0.",
        ("Construct", *(name.capitalize().replace(":", " × ") for name in _COMPONENTS)),
    )


def _share(built: TableBuilder, e: Estimate | None) -> Cell:
    if e is None or not e.defined:
        return built.number(e, ".0%")
    built.used.append(e)
    share = e.params["share"]
    return Cell(f"{share:.0%}" if isinstance(share, float) else "")


def designs(analysis: Analysis) -> Iterator[Table]:
    """The error of a difference of two systems for other numbers of queries and raters."""
    built, first = TableBuilder(), analysis.estimates.first
    for construct in analysis.rated:
        scale = analysis.context.human_scale(construct)
        for k in (1, 2, 3, 5):
            estimates = [
                first("system_difference_error", construct=construct, raters=k, queries=n)
                for n in _DESIGNS
            ]
            if any(e is not None for e in estimates):
                built.add(construct, str(k), *(built.points(e, scale) for e in estimates))
    yield built.table(
        "designs",
        "What more queries or raters would give",
        f"{analysis.headings['system_difference_error']}: standard error, in points, of the "
        "difference of two systems' mean ratings, by number of queries and of raters who rate all "
        "of it, both drawn anew from those like these.",
        ("Construct", "Raters", *(f"{n} queries" for n in _DESIGNS)),
        heads=2,
    )


def between_sources(analysis: Analysis) -> Iterator[Table]:
    """How far the places differ in which people rated."""
    built = TableBuilder()
    for e in analysis.estimates.select("source_difference"):
        construct = e.constructs[0]
        built.add(
            construct,
            str(e.params["first"]),
            str(e.params["second"]),
            built.points(e, analysis.context.human_scale(construct)),
            f"{e.n_responses:,}",
            listed(e.scorers),
        )
    yield built.table(
        "sources",
        "Where people rated",
        "The second place's mean minus the first's in points, on responses that were rated in both "
        "(intervals for these raters). Who rates differs with where, so a difference may be the "
        "raters' as well as the place's.",
        ("Construct", "First", "Second", analysis.headings["source_difference"],
         "Responses in both", "Raters"),
        heads=3,
    )  # fmt: skip
