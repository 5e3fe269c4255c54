"""The table of a report on ratings from several places."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import listed
from analysis.render.table import Table, TableBuilder


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
        ("Construct", "First", "Second", "Difference", "Responses in both", "Raters"),
        heads=3,
    )
