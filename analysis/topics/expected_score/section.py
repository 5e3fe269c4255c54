"""Section of the report: what the mean of a judge's distribution adds to the number it wrote."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.construct_data import EXPECTED
from analysis.render.formatting import listed
from analysis.render.section import Section
from analysis.topics.expected_score import estimates, figures, tables


def reading(analysis: Analysis) -> Iterator[str]:
    """On which constructs the mean follows people better, and on which worse."""
    gains = analysis.estimates.select("expected_gain", scope="within_query", measure="pearson")
    for judge in list(dict.fromkeys(e.scorers[1] for e in gains))[:2]:
        own = [e for e in gains if e.scorers[1] == judge and e.has_interval]
        better = [e.constructs[0] for e in own if e.ci_low > 0]
        worse = [e.constructs[0] for e in own if e.ci_high < 0]
        open_ = [e.constructs[0] for e in own if e.ci_low <= 0 <= e.ci_high]
        if own:
            yield (
                f"{judge}{EXPECTED} is the mean of the probabilities that {judge} gave to the "
                f"scores. {_said(f'the number that {judge} wrote', better, worse, open_)}"
            )


def _said(number: str, better: list[str], worse: list[str], open_: list[str]) -> str:
    """Nothing of following people where only the absence of a difference is at hand."""
    sides = [
        f"{word} on {listed(names)}"
        for word, names in (("better", better), ("worse", worse))
        if names
    ]
    if not sides:
        return f"Within a query no difference from {number} can be shown on {listed(open_)}."
    rest = f"; no difference can be shown on {listed(open_)}" if open_ else ""
    return f"Within a query it follows people {listed(sides)} than {number}{rest}."


SECTION = Section(
    key="expected",
    title="What the distribution adds",
    statistics=estimates.STATISTICS,
    figures=(figures.expected_gain,),
    tables=(tables.beside,),
    reading=reading,
)
