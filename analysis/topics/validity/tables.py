"""The tables of a report on constructs among each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import correlation
from analysis.render.table import Cell, Table, TableBuilder
from analysis.render.table_of import TableOf, TableRow, coefficient, in_words
from analysis.statistics.distribution.published import SOURCE, SYSTEMS, published
from analysis.topics.validity.figures import MEASURES, scorers_correlated, systems_correlated

#: Judges with a table and systems with a column; all are in estimates.csv.
JUDGES_SHOWN, SYSTEMS_SHOWN = 4, 8

#: Pairs of constructs shown.
PAIRS_SHOWN = 28

_PUBLISHED_AS = {"pearson": "pearson", "spearman": "spearman", "kendall_tau_b": "kendall"}


def construct_correlations(analysis: Analysis) -> Iterator[Table]:
    """Every pair of a judge's constructs in three measures: average and systems."""
    systems = systems_correlated(analysis)
    systems_shown = systems[:SYSTEMS_SHOWN] if len(systems) > 1 else []
    for scorer in scorers_correlated(analysis)[:JUDGES_SHOWN]:
        built = TableBuilder()
        keys = {
            key
            for e in analysis.estimates.select("construct_correlation", scorer=scorer)
            for key in e.constructs
        }
        with_published = _has_published(analysis, keys, systems_shown)
        for measure, name in MEASURES.items():
            _rows(analysis, built, scorer, (measure, name), systems_shown, with_published)
        several = len(scorers_correlated(analysis)) > 1
        whose = ("Whose",) if with_published else ()
        yield built.table(
            f"construct-correlations-{scorers_correlated(analysis).index(scorer) + 1}",
            f"Constructs among each other, {scorer}" if several else "Constructs among each other",
            _caption(analysis, scorer, bool(systems_shown))
            + (f" The first {SYSTEMS_SHOWN} systems." if len(systems) > SYSTEMS_SHOWN else "")
            + (f" Paper: tables 7 to 12 and figure 3a of {SOURCE}." if with_published else ""),
            ("Measure", "Constructs", *whose,
             analysis.headings["construct_correlation_average" if systems_shown
                               else "construct_correlation"],
             *systems_shown),
            heads=2 + len(whose),
        )  # fmt: skip


def _caption(analysis: Analysis, scorer: str, averaged: bool) -> str:
    over = (
        "Correlations between two constructs over the responses of one system, and their average "
        "over systems by Fisher's z. Brackets: queries resampled, jointly for all systems"
        if averaged
        else "Correlations between two constructs over all responses. Brackets: queries resampled"
    )
    return f"{over}{_rank_resamples(analysis, scorer)}."


def _rows(
    analysis: Analysis,
    built: TableBuilder,
    scorer: str,
    measure: tuple[str, str],
    systems_shown: Sequence[str],
    with_published: bool,
) -> None:
    where = {"scorer": scorer, "measure": measure[0]}
    averages = analysis.estimates.select("construct_correlation_average", **where)
    alone = analysis.estimates.select("construct_correlation", **where)
    for e in (averages or alone)[:PAIRS_SHOWN]:
        by_system = {
            correlation_in_system.systems[0]: correlation_in_system
            for correlation_in_system in alone
            if correlation_in_system.systems and correlation_in_system.constructs == e.constructs
        }
        # The interval of the average; those of the systems are in the data.
        cells = [_plain(built, by_system.get(system)) for system in systems_shown]
        pair = " and ".join(e.constructs)
        # Rank correlations are beside published ones only.
        printed = with_published and _has_published(analysis, set(e.constructs), systems_shown)
        here = ("here",) if with_published else ()
        detail = measure[0] != "pearson" and not with_published
        built.add(measure[1], pair, *here, built.r(e), *cells, detail=detail)
        if printed:
            published_row = _printed(e.constructs, measure[0], systems_shown)
            built.add(measure[1], pair, "paper", *published_row)


def _plain(built: TableBuilder, estimate: Estimate | None) -> Cell:
    cell = built.r(estimate)
    return Cell(cell.text, mark=cell.mark)


def _has_published(analysis: Analysis, constructs: set[str], systems_shown: Sequence[str]) -> bool:
    """Whether the paper's figures are wanted, and it has any on these constructs and systems."""
    published_constructs = constructs & set(published("table7_12_correlations")["order"])
    return (
        analysis.options.published
        and len(published_constructs) > 1
        and any(s in SYSTEMS for s in systems_shown)
    )


def _printed(constructs: tuple[str, ...], measure: str, systems_shown: Sequence[str]) -> list[Cell]:
    """The paper's average (of Pearson's r, for four pairs) and systems."""
    tables = published("table7_12_correlations")
    i, j = (tables["order"].index(key) for key in constructs)
    average = published("figure3_avg_pearson").get("-".join(constructs))
    published_average = average if measure == "pearson" else None
    return [
        Cell("" if published_average is None else correlation(published_average)),
        *(
            Cell(correlation(tables[system][_PUBLISHED_AS[measure]][i][j]))
            if system in SYSTEMS
            else Cell("")
            for system in systems_shown
        ),
    ]


def _rank_resamples(analysis: Analysis, scorer: str) -> str:
    """How many resamples the rank correlations have, where they are fewer."""
    e = analysis.estimates.first("construct_correlation", scorer=scorer, measure="spearman")
    count = e.params.get("resamples") if e is not None else None
    if not isinstance(count, int) or count >= analysis.options.resamples:
        return ""
    return f" (the first {count:,} resamples for rank correlations)"


def _two_constructs(analysis: Analysis) -> Iterator[TableRow]:
    across = analysis.estimates.select("human_construct_correlation", raters="cross")
    pairs = [e for e in across if e.constructs[0] != e.constructs[1]]
    for e in pairs[:PAIRS_SHOWN]:
        yield TableRow(analysis, {"constructs": e.constructs}, e)


people = TableOf(
    "human-constructs",
    "Constructs among people",
    "Correlation of one rater's two constructs, and of one rater's with another rater's on "
    "the same responses (every ordered pair of raters, each response with the same weight). "
    "{halo}: the first minus the second. {htmt}: across raters, the "
    "correlation of two constructs over the geometric mean of each one's with itself; near 1 "
    "the two are not distinguished. Brackets: for these raters, queries resampled.",
    _two_constructs,
    (in_words("Constructs", lambda row: " and ".join(row.estimate.constructs)),
     coefficient("human_construct_correlation", "{human_construct_correlation}, same rater",
                 raters="same"),
     coefficient("human_construct_correlation", "{human_construct_correlation}, across raters"),
     "halo", coefficient("htmt", methods="raters"), "responses"),
    heads=1,
)  # fmt: skip


def methods(analysis: Analysis) -> Iterator[Table]:
    """Summary of the multitrait-multimethod matrix for each pair of methods, and HTMT."""
    built, first = TableBuilder(), analysis.estimates.first
    headings = analysis.headings
    for e in analysis.estimates.select("mtmm_convergent"):
        where = {"first": str(e.params["first"]), "second": str(e.params["second"])}
        built.add(
            f"{where['first']} and {where['second']}",
            ", ".join(e.constructs),
            built.r(e),
            built.r(first("mtmm_heterotrait", **where)),
            built.r(first("mtmm_discriminant", **where)),
            "",
            f"{e.n_responses:,}",
        )
        for h in analysis.estimates.select("htmt", methods="two", **where)[:PAIRS_SHOWN]:
            built.add(
                f"{where['first']} and {where['second']}",
                " and ".join(h.constructs),
                "",
                "",
                "",
                built.r(h),
                f"{h.n_responses:,}",
            )
    eigenvalue = first("mtmm_smallest_eigenvalue")
    smallest = (
        f" {headings['mtmm_smallest_eigenvalue']}: {eigenvalue.value:.2f}"
        + (
            ", below 0: correlations on different responses that fit no one set of scores."
            if eigenvalue.value < -1e-9
            else "."
        )
        if eigenvalue is not None and eigenvalue.defined
        else ""
    )
    yield built.table(
        "methods-and-constructs",
        "Constructs across methods",
        f"{headings['mtmm_convergent']}: mean correlation of a construct with itself across the "
        f"two methods. {headings['mtmm_heterotrait']}: mean correlation of different constructs "
        f"across the two. {headings['htmt']}: heterotrait over the geometric mean of the two "
        "constructs' convergent correlations; near 1 the two constructs are not "
        f"distinguished.{smallest}",
        ("Methods", "Constructs",
         *(headings[name]
           for name in ("mtmm_convergent", "mtmm_heterotrait", "mtmm_discriminant", "htmt")),
         "Responses"),
        heads=2,
    )  # fmt: skip


def second_set(analysis: Analysis) -> Iterator[Table]:
    """Each score with each of the second set, and the ties of both."""
    built, first = TableBuilder(), analysis.estimates.first
    ties_heading = analysis.headings["tie_probability"]
    for e in analysis.estimates.select("metric_set_correlation"):
        if not e.constructs:
            built.add(str(e.params.get("named", "")), "", built.r(e), "", "")
            continue
        ties = [
            first("tie_probability", construct=construct, scorer=scorer, scope="pooled")
            for construct, scorer in zip(e.constructs, e.scorers, strict=True)
        ]
        built.add(
            f"{e.constructs[0]}, {e.scorers[0]}",
            f"{e.constructs[1]}, {e.scorers[1]}",
            built.r(e),
            *(built.number(tie, ".1%") for tie in ties),
        )
    yield built.table(
        "metric-sets",
        "The second set of metrics",
        "Pearson correlations within each system, averaged over systems by Fisher's z; brackets: "
        f"queries resampled jointly for all systems. {ties_heading}: chance that two responses "
        "have equal scores, over all of them. Means and shape of both sets: in the section on "
        "scores.",
        ("Score", "Second set", analysis.headings["metric_set_correlation"], ties_heading,
         f"{ties_heading}, second set"),
        heads=2,
    )  # fmt: skip
