"""What a judge's score hangs on: the shares of its variance, a panel a construct."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import (
    ACCENT,
    INK,
    PAGE,
    RULE,
    Drawing,
    Figure,
    as_svg,
    canvas,
    head,
    interval_bar,
    name_rows,
)
from analysis.render.formatting import listed, percent
from analysis.render.panels import WIDTH
from analysis.statistics.stability.run_components import RUN_COMPONENTS

#: Constructs drawn; the table has more.
CONSTRUCTS_DRAWN = 8

#: What lies in the responses; the others are the judge's own.
_OF_RESPONSES = {"query", "response"}


def run_variance(analysis: Analysis) -> Iterator[Figure]:
    """Shares of the components with their intervals, those of the judge's own in the accent."""
    found: dict[str, list[Estimate]] = {}
    for construct in analysis.context.whole:
        records = analysis.estimates.select("run_variance_share", construct=construct)
        if any(e.defined for e in records):
            found[construct] = [e for e in records if e.defined]
    found = dict(list(found.items())[:CONSTRUCTS_DRAWN])
    if not found:
        return
    yield Figure(
        key="run-variance",
        title="What does a judge's score hang on?",
        caption=(
            "Shares of the variance of one score. Open: what lies in queries and responses; "
            "filled: what the judge brings, by run, and by asking again where that was done. "
            f"Bars: {analysis.options.level:.0%} intervals for these runs on queries like these."
        ),
        drawings=tuple(
            _draw(construct, records, f"run-variance-{number}")
            for number, (construct, records) in enumerate(found.items())
        ),
        data=to_frame(e for records in found.values() for e in records),
    )


def _draw(construct: str, records: list[Estimate], key: str) -> Drawing:
    shown = sorted(records, key=lambda e: RUN_COMPONENTS.index(str(e.params["component"])))
    names = [str(e.params["component"]) for e in shown]
    with canvas(WIDTH, 0.85 + 0.22 * len(shown)) as (figure, axes):
        place = np.arange(len(shown))[::-1]
        for at, e, name in zip(place, shown, names, strict=True):
            own = name not in _OF_RESPONSES
            color = ACCENT if own else INK
            interval_bar(axes, at, e, color, 1.2)
            axes.plot(
                [e.value], [at], "o", color=color, markerfacecolor=color if own else PAGE,
                markersize=4,
            )  # fmt: skip
        name_rows(axes, place, [name.replace(":", " × ") for name in names])
        ends = [end for e in shown for end in (e.value, e.ci_low, e.ci_high) if np.isfinite(end)]
        axes.set_xlim(min(-0.02, *ends) - 0.02, max(1.0, *ends) + 0.02)
        axes.axvline(0, color=RULE, linewidth=0.8)
        axes.set_xticks([0, 0.5, 1], ["0%", "50%", "100%"])
        axes.set_xlabel("share of the variance")
        head(figure, construct)
        shares = "; ".join(
            f"{name} {percent(e.value)}" for name, e in zip(names, shown, strict=True)
        )
        said = f"{listed(shown[0].scorers, most=12)}: {shares}"
        return as_svg(figure, key, f"Variance of judge scores on {construct} by source", said)
