"""The study's constructs against a second set of metrics, as a heat map."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.figure import Figure
from analysis.render.heat_map import described, heat_map

#: Rows and columns drawn.
MOST = 20


def metric_sets(analysis: Analysis) -> Iterator[Figure]:
    """Rows: scores outside the second set; columns: those in it."""
    found = [e for e in analysis.estimates.select("metric_set_correlation") if e.constructs]
    sides = [list(dict.fromkeys(_scored(e, side) for e in found)) for side in (0, 1)]
    rows, columns = sides
    if not rows or not columns or len(rows) > MOST or len(columns) > MOST:
        return
    values = np.full((len(rows), len(columns)), np.nan)
    for e in found:
        values[rows.index(_scored(e, 0)), columns.index(_scored(e, 1))] = e.value
    names = [_named(side) for side in sides]
    systems = len(analysis.scores.systems)
    over = (
        f"within each system, averaged over {systems} systems by Fisher's z"
        if systems > 1
        else "over all responses"
    )
    pairs = [
        (names[0][rows.index(_scored(e, 0))], names[1][columns.index(_scored(e, 1))]) for e in found
    ]
    yield Figure(
        key="metric-sets",
        title="The constructs beside the second set of metrics",
        caption=f"Pearson correlations {over}. A dash: undefined, with the reason in the data.",
        drawings=(
            heat_map(
                "metric-sets", ("Pearson",), names[0], names[1], values,
                described(pairs, [e.value for e in found]),
            ),
        ),
        data=to_frame(found),
    )  # fmt: skip


def _scored(estimate: Estimate, side: int) -> tuple[str, str]:
    return estimate.constructs[side], estimate.scorers[side]


def _named(scored: list[tuple[str, str]]) -> list[str]:
    """The construct, with its scorer where the construct has several."""
    constructs = [construct for construct, _ in scored]
    return [
        f"{construct}, {scorer}" if constructs.count(construct) > 1 else construct
        for construct, scorer in scored
    ]
