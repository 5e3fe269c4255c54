"""Shares of the variance of a judge's score, a panel a construct."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate, to_frame
from analysis.render.drawing import ACCENT, INK, Drawing, Figure
from analysis.render.forest import ForestStyle, Mark, forest, reach_of
from analysis.render.formatting import listed, percent
from analysis.render.panels import estimates_by_construct
from analysis.statistics.stability.run_components import RUN_COMPONENTS

#: Components of the responses; the others come from the judge.
_OF_RESPONSES = {"query", "response"}


def run_variance(analysis: Analysis) -> Iterator[Figure]:
    """Shares of the components with their intervals, those of the judge's own in the accent."""
    by_construct = estimates_by_construct(analysis, "run_variance_share", analysis.context.whole)
    if not by_construct:
        return
    yield Figure(
        key="run-variance",
        title="What does a judge's score depend on?",
        caption=(
            "Shares of the variance of one score. Open: queries and responses; "
            "filled: the judge, by run, and by repeats where there are any. "
            f"Bars: {analysis.options.level:.0%} intervals for these runs on queries like these."
        ),
        drawings=tuple(
            _draw(construct, records, f"run-variance-{number}")
            for number, (construct, records) in enumerate(by_construct.items())
        ),
        data=to_frame(e for records in by_construct.values() for e in records),
    )


def _draw(construct: str, records: list[Estimate], key: str) -> Drawing:
    ordered = sorted(records, key=lambda e: RUN_COMPONENTS.index(str(e.params["component"])))
    names = [str(e.params["component"]) for e in ordered]
    shares = "; ".join(f"{name} {percent(e.value)}" for name, e in zip(names, ordered, strict=True))
    low, high = reach_of(ordered, 0.02)
    return forest(
        key,
        f"Variance of judge scores on {construct} by source",
        f"{listed(ordered[0].scorers, most=12)}: {shares}",
        (construct,),
        [name.replace(":", " × ") for name in names],
        [variance_mark(row, e) for row, e in enumerate(ordered)],
        ForestStyle("share of the variance", reach=(low, max(high, 1.02)), form=percent),
    )


def variance_mark(row: int, e: Estimate) -> Mark:
    """Open for the variance between queries and responses, filled for that of the judge."""
    of_judge = str(e.params["component"]) not in _OF_RESPONSES
    return Mark.of(row, e, color=ACCENT if of_judge else INK, filled=of_judge, width=1.2)
