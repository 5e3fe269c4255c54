"""The table of a report on the unit of a match in composed AC."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.table import Cell, Table, TableBuilder


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
        ("Scorer", "Read from", "A match adds"),
    )
