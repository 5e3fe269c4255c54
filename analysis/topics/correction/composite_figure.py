"""Composites of the constructs against the overall rating."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, MUTED, RULE, Drawing, as_svg, canvas, head
from analysis.render.figure import Figure
from analysis.render.formatting import correlation
from analysis.render.labels import shortened
from analysis.topics.correction.composite import LEARNED

#: Characters of a row's name.
NAME_ROOM = 18


def composite_correlations(analysis: Analysis) -> Iterator[Figure]:
    """A panel for each scorer: learned weights, equal weights and every construct alone."""
    panels: dict[tuple[str, str], list[Estimate]] = {}
    for scope in ("within_query", "pooled"):
        for e in analysis.estimates.select("composite_correlation", scope=scope):
            of = str(e.params["of"])
            if e.defined and ((of, "within_query") not in panels or scope == "within_query"):
                panels.setdefault((of, scope), []).append(e)
    if not panels:
        return
    scopes = {scope for _, scope in panels}
    where = " or ".join(
        words
        for scope, words in (("within_query", "within a query"), ("pooled", "over all responses"))
        if scope in scopes
    )
    yield Figure(
        key="composite",
        title="Which composite follows people's overall rating?",
        caption=(
            f"Pearson correlation with {analysis.options.overall}, {where}, with "
            f"{analysis.options.level:.0%} intervals, queries resampled. Filled: learned weights, "
            "on queries that they were not learned from. Open: equal weights, and single "
            "constructs."
        ),
        drawings=tuple(
            _draw(of, records, f"composite-{number}")
            for number, ((of, _), records) in enumerate(panels.items())
        ),
        data=to_frame(e for records in panels.values() for e in records),
    )


def _draw(of: str, records: list[Estimate], key: str) -> Drawing:
    with canvas(2.9, 0.9 + 0.24 * len(records)) as (figure, axes):
        rows = np.arange(len(records))[::-1]
        axes.axvline(0, color=MUTED, linewidth=0.8, dashes=(3, 2))
        for at, e in zip(rows, records, strict=True):
            lead = e.params["composite"] == LEARNED
            color = ACCENT if lead else INK
            if e.has_interval:
                axes.hlines(at, e.ci_low, e.ci_high, color=color, linewidth=2 if lead else 1)
            axes.plot(e.value, at, "o", color=color, mfc=color if lead else "none", markersize=4)
        names = [shortened(str(e.params["composite"]), NAME_ROOM) for e in records]
        axes.set_yticks(rows, names)
        axes.set_ylim(-0.6, len(records) - 0.4)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines["left"].set_visible(False)
        axes.locator_params(axis="x", nbins=5)
        axes.xaxis.set_major_formatter(lambda value, _: correlation(value).replace("-", "−"))
        axes.set_xlabel("correlation with the overall rating")
        axes.grid(axis="x", color=RULE, linewidth=0.4)
        axes.set_axisbelow(True)
        head(figure, f"scores of {of}")
        said = "; ".join(f"{e.params['composite']}: {correlation(e.value)}" for e in records)
        return as_svg(figure, key, f"Composites of {of}", said)
