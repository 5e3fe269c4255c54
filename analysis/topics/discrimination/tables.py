"""The tables of a report on differences between systems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.scales import Scale
from analysis.render.formatting import p_value
from analysis.render.panels import JUDGES_DRAWN
from analysis.render.table import Cell, Table, TableBuilder

#: Pairs of systems in one table; of more than that only estimates.csv holds all.
PAIRS_SHOWN = 28


def name_of(analysis: Analysis, estimate: Estimate) -> str:
    """Whose scores a record on systems is about."""
    if estimate.params.get("of"):
        return "mean of raters"
    scorer = estimate.scorers[0]
    kind = analysis.scorer_kinds.get(scorer)
    return f"{scorer} (the rater)" if kind == "human" else scorer


def power(analysis: Analysis) -> Iterator[Table]:
    """Discriminative power by construct and scorer, as in the paper's table 2."""
    built = TableBuilder()
    records = analysis.estimates.select("discriminative_power")
    leading, again = _leading(analysis, records)
    for e in leading:
        on_rated = again.get((e.constructs[0], e.scorers[0]))
        built.add(
            e.constructs[0],
            name_of(analysis, e),
            built.number(e, ".2f"),
            f"{e.params['told_apart']} of {e.params['pairs']}" if e.defined else "",
            f"{e.n_queries:,}",
            built.number(on_rated, ".2f"),
        )
    yield built.table(
        "discriminative-power",
        "Pairs of systems told apart",
        "Discriminative power: share of the pairs of systems that a randomized Tukey HSD test "
        "tells apart at p < .05 (queries' scores permuted across systems, all pairs at once). More "
        "queries tell more pairs apart, so a judge's power is also given on the responses that "
        "people rated.",
        ("Construct", "Scorer", "Power", "Pairs", "Queries", "On rated responses"),
        heads=2,
    )


def _leading(
    analysis: Analysis, records: list[Estimate]
) -> tuple[list[Estimate], dict[tuple[str, str], Estimate]]:
    """Records of all responses and of people; and those of judges on rated responses alone."""
    leading, again = [], {}
    for e in records:
        judged = analysis.scorer_kinds.get(e.scorers[0]) in {"judge", "metric"}
        if judged and e.params["on"] == "rated":
            again[e.constructs[0], e.scorers[0]] = e
        else:
            leading.append(e)
    return leading, again


def differences(analysis: Analysis) -> Iterator[Table]:
    """Every pair of systems by construct, a table a scorer, as in the paper's tables 20 to 24."""
    by_scorer: dict[str, list[Estimate]] = {}
    for e in analysis.estimates.select("system_difference"):
        by_scorer.setdefault(name_of(analysis, e), []).append(e)
    tests = {
        (name_of(analysis, e), e.constructs, e.systems): e
        for e in analysis.estimates.select("randomised_tukey_hsd_p")
    }
    kinds = analysis.scorer_kinds
    judges = [name for name in by_scorer if kinds.get(name) == "judge"][:JUDGES_DRAWN]
    people = [name for name in by_scorer if kinds.get(name) not in {"judge", "metric"}]
    metrics = [name for name in by_scorer if kinds.get(name) == "metric"]
    for number, name in enumerate([*(judges or metrics[:JUDGES_DRAWN]), *people]):
        found = {(e.constructs[0], e.systems): e for e in by_scorer[name]}
        pairs = list(dict.fromkeys(e.systems for e in by_scorer[name]))
        constructs = list(dict.fromkeys(e.constructs[0] for e in by_scorer[name]))
        if len(pairs) > PAIRS_SHOWN:
            continue
        built = TableBuilder()
        for pair in pairs:
            cells = []
            for construct in constructs:
                own, test = found.get((construct, pair)), tests.get((name, (construct,), pair))
                if own is None or test is None:
                    cells.append(Cell(""))
                    continue
                scale = analysis.scores.scale(construct, own.scorers[0])
                cells.append(_cell(built, own, test, scale))
            built.add(" minus ".join(pair), *cells)
        yield built.table(
            f"system-differences-{number + 1}",
            f"Differences between systems: {name}",
            "Mean of the first system minus that of the second on the queries that both have "
            "scores on, in points; brackets: intervals that hold for all pairs of a construct at "
            "once. p: randomized Tukey HSD, two-sided, also for all pairs at once.",
            ("Pair", *constructs),
        )


def _cell(built: TableBuilder, difference: Estimate, test: Estimate, scale: Scale | None) -> Cell:
    cell = built.points(difference, scale)
    built.used.append(test)
    return replace(cell, parts=(p_value(test.value),) if test.defined else ())


def declared_hypotheses(analysis: Analysis) -> Iterator[Table]:
    """Declared hypotheses with their adjusted p."""
    built = TableBuilder()
    for e in analysis.estimates.select("hypothesis_p"):
        built.used.append(e)
        holm = e.params["holm"]
        plain = built.number(e, ".4f")
        built.add(
            str(e.params["hypothesis"]),
            name_of(analysis, e),
            str(e.params["direction"]),
            ", ".join(e.constructs),
            "all of it" if e.params["aggregation"] == "maximum" else "some of it",
            plain,
            f"{holm:.4f}" if e.defined and isinstance(holm, float) else "",
        )
    yield built.table(
        "hypotheses",
        "Declared hypotheses",
        "Every pair on every construct by a randomized Tukey HSD test, one-sided where the first "
        "system is expected above the second. All of it: the largest p. Some of it: the smallest "
        "p times the number of constructs. Adjusted: by Holm's method over a scorer's hypotheses.",
        ("Hypothesis", "Scorer", "Direction", "Constructs", "Claims", "p", "Adjusted p"),
        heads=2,
    )
