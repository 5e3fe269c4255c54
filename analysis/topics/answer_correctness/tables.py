"""The tables on Answer Correctness: parts and whole, and the unit of a match."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.statistic import headings
from analysis.render.table import Cell, Table, TableBuilder
from analysis.topics.answer_correctness import estimates

HEADINGS = headings(estimates.STATISTICS)


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
                built.coefficient(first("pearson", scope="within_query", **where)),
                built.coefficient(first("pearson", scope="pooled", **where)),
                built.coefficient(first("kendall_tau_b", scope="within_query", **where)),
                built.points(largest, scale) if part else "",
                built.number(matches, ",.0f") if scorer == em else "",
            )
    weight = f"{analysis.options.ac_lambda:g}"
    yield built.table(
        "answer-correctness",
        "Answer Correctness: parts and whole",
        f"Composed AC = {weight} EM + (1 - {weight}) judge, both on the same scale. It gets "
        "correlations with people only: its level lies below people's by construction. The "
        "largest value without an exact match says how far a response can come that words the "
        "answer in its own way.",
        ("Scorer", "Part", "r within a query", "r pooled", "tau-b within a query",
         "Largest without a match", HEADINGS["exact_matches"]),
        heads=2,
    )  # fmt: skip


def unit_checks(analysis: Analysis) -> Iterator[Table]:
    """What a match is worth in each scorer that looks composed."""
    built = TableBuilder()
    for e in analysis.estimates.select("ac_unit_check"):
        weight = float(str(e.params["lambda"]))
        said = {1.0: f"{weight:g} points: the slip", 0.0: f"{100 * weight:g} points"}
        cell = built.number(e, ".0f")
        whence = "the parts" if e.params["from"] == "parts" else "its values alone"
        built.add(
            e.scorers[0],
            whence,
            Cell(said[e.value]) if e.defined else Cell("can't be told", mark=cell.mark),
        )
    yield built.table(
        "ac-unit",
        "What a match is worth in composed AC",
        "With both parts on 0 to 100 a match adds 100 lambda points; with the match left at 1 "
        "beside a judge's part in points it adds lambda of a point, next to nothing. "
        "Compared in whole numbers.",
        ("Scorer", "Read from", HEADINGS["ac_unit_check"]),
    )
