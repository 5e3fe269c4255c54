"""The tables of a report on people among themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from analysis.core.analysis import Analysis
from analysis.render.formatting import listed
from analysis.render.table import Cell, Table, TableBuilder, scorer_estimate
from analysis.render.table_of import (
    Column,
    TableOf,
    TableRow,
    coefficient,
    each,
    formatted,
    in_points,
    in_words,
    number_of,
    param,
    scorer_scale,
)
from analysis.topics.reliability.raters import source_rows

#: Raters of a construct that the table shows; the CSV of estimates has all.
RATERS_SHOWN = 30


def _with_reliability(analysis: Analysis) -> Iterator[TableRow]:
    """A row for each construct, with the estimate whose numbers of raters and responses it has."""
    for construct, data in analysis.rated.items():
        row = TableRow(analysis, {"construct": construct})
        counted = row.first("icc", form="A,1") or row.first("krippendorff_alpha", level="nominal")
        if data.raters and counted is not None:
            yield TableRow(analysis, row.where, counted)


reliability = TableOf(
    "human-reliability",
    "People among themselves",
    "Krippendorff's alpha at three levels of measurement (intervals for these raters), and "
    "intraclass correlations (intervals for raters like these): of one rater, ICC(A,1) or "
    "ICC(2,1); of the mean of k raters, ICC(A,k) or ICC(2,k), k the harmonic mean number of "
    "ratings a response; of one rater, severity aside, ICC(C,1) or ICC(3,1); of one rating by "
    "any rater, ICC(1) or ICC(1,1).",
    _with_reliability,
    ("construct",
     *(coefficient("krippendorff_alpha", f"{{krippendorff_alpha}}, {level}", level=level)
       for level in ("interval", "ordinal", "nominal")),
     coefficient("icc", "{icc}(A,1)", form="A,1"), coefficient("icc", "{icc}(A,k)", form="A,k"),
     param("k", "k", ".1f", "icc", form="A,k"), coefficient("icc", "{icc}(C,1)", form="C,1"),
     coefficient("icc", "{icc}(1)", form="1,1"), "raters", "responses"),
    heads=1,
)  # fmt: skip


def _of_several_raters(analysis: Analysis) -> Iterator[TableRow]:
    for construct, data in analysis.rated.items():
        if len(data.raters) > 1:
            yield TableRow(analysis, {"construct": construct})


agreement_of_pairs = TableOf(
    "human-agreement",
    "Two ratings of one response",
    "Share of equal pairs of ratings and their mean distance; SEM, the standard error of one "
    "rating in points (interval for raters like these, the others for these raters); kappa "
    "without weights (equal ratings only, so that it is near 0 on many points), with linear "
    "and with quadratic weights (Conger; Cohen's for two raters); on scales of at most 11 "
    "levels also Fleiss's kappa, Gwet's AC1 and AC2, and Brennan and Prediger's coefficient; "
    "interval alpha once each rater's severity is taken out, and on ranks within each rater.",
    _of_several_raters,
    ("construct", formatted("raw_agreement", ".0%"), in_points("mean_absolute_difference"),
     in_points("sem", kind="agreement"), coefficient("conger_kappa", weights="unweighted"),
     coefficient("conger_kappa", "{conger_kappa}, linear", weights="linear"), "weighted_kappa",
     "fleiss_kappa", coefficient("gwet_ac", "{gwet_ac}1", weights="unweighted"),
     coefficient("gwet_ac", "{gwet_ac}2", weights="quadratic"), "brennan_prediger",
     *(coefficient("alpha_by_scale_use", f"{{alpha_by_scale_use}}, {use}", values=use)
       for use in ("centered", "ranks"))),
    heads=1,
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


def _judges_first(analysis: Analysis) -> Iterator[TableRow]:
    """As many rows as can be read."""
    kinds = analysis.scorer_kinds
    rows = list(each("repeat_agreement", measure="share_equal")(analysis))
    rows.sort(key=lambda row: (row.construct, kinds.get(row.scorer) != "judge"))
    yield from rows[: 2 * RATERS_SHOWN]


repeats = TableOf(
    "repeats",
    "Scorers against themselves",
    "{repeat_agreement}: first scores against later scores of the same responses by the same "
    "scorer.",
    _judges_first,
    ("construct", "scorer", coefficient("repeat_agreement", "{pearson}", measure="pearson"),
     in_points("repeat_agreement", "{mean_absolute_difference}", scorer_scale,
               measure="mean_absolute_difference"),
     formatted("repeat_agreement", ".0%", "{raw_agreement}"), param("pairs", "Pairs", ",")),
)  # fmt: skip


def _share(component: str) -> Column:
    """A component of variance as a share of the variance of one rating."""

    def cell(row: TableRow, built: TableBuilder) -> Cell:
        e = row.first("variance_component", component=component)
        if e is None or not e.defined:
            return built.number(e, ".0%")
        built.used.append(e)
        share = e.params["share"]
        return Cell(f"{share:.0%}" if isinstance(share, float) else "")

    return Column(component.capitalize().replace(":", " × "), cell)


components = TableOf(
    "variance-components",
    "Where the variance of ratings comes from",
    "{variance_component}, as a share of the variance of one rating (Henderson's first method; "
    "the CSV has the components in squared points). A negative estimate counts 0.",
    each("variance_component", component="query"),
    ("construct", *map(_share, ("query", "system", "rater", "query:system", "query:rater",
                                "system:rater", "residual"))),
    heads=1,
)  # fmt: skip


def _designs(analysis: Analysis) -> Iterator[TableRow]:
    """A row for each construct and number of raters with an estimate."""
    for construct, raters in product(analysis.rated, (1, 2, 3, 5)):
        row = TableRow(analysis, {"construct": construct, "raters": raters})
        if any(row.first("system_difference_error", queries=n) for n in (50, 100, 200, 400)):
            yield row


designs = TableOf(
    "designs",
    "What more queries or raters would give",
    "{system_difference_error}: standard error, in points, of the difference of two systems' mean "
    "ratings, by number of queries and of raters who rate all of it, both drawn anew from those "
    "like these.",
    _designs,
    ("construct", in_words("Raters", lambda row: str(row.where["raters"])),
     *(in_points("system_difference_error", f"{n} queries", queries=n)
       for n in (50, 100, 200, 400))),
)  # fmt: skip


between_sources = TableOf(
    "sources",
    "Where people rated",
    "The second place's mean minus the first's in points, on responses that were rated in both "
    "(intervals for these raters). Who rates differs with where, so a difference may be the "
    "raters' as well as the place's.",
    each("source_difference"),
    ("construct", param("first", "First"), param("second", "Second"),
     in_points("source_difference"), number_of("n_responses", "Responses in both"),
     in_words("Raters", lambda row: listed(row.estimate.scorers))),
    heads=3,
)  # fmt: skip
