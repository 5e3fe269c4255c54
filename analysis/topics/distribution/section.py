"""Section of the report: how the scores are distributed."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.render.formatting import percent
from analysis.render.section import Section
from analysis.topics.distribution import estimates, figures, tables

#: A share of ties or at an end of the scale that is worth a sentence.
MANY = 0.25


def reading(analysis: Analysis) -> Iterator[str]:
    """The construct on which each of the first judges tells responses apart least."""
    for judge in _judges(analysis)[:2]:
        ties = [
            e
            for e in analysis.estimates.select("tie_probability", scorer=judge, scope="pooled")
            if e.defined and e.scorers == (judge,)
        ]
        if not ties:
            continue
        worst = max(ties, key=lambda e: e.value)
        construct = worst.constructs[0]
        where = {"construct": construct, "scorer": judge, "scope": "pooled"}
        top = analysis.estimates.first("share_at_max", **where)
        if worst.value < MANY:
            where_most = f", most often on {construct}" if len(ties) > 1 else ""
            yield (
                f"{judge} seldom gives two responses the same score{where_most} (a chance of "
                f"{percent(worst.value)})."
            )
            continue
        at_top = (
            f"; {percent(top.value)} of its scores lie at the top of the scale"
            if top is not None and top.defined and top.value >= MANY
            else ""
        )
        yield (
            f"{judge} tells responses apart least on {construct}: two of them have the same score "
            f"with a chance of {percent(worst.value)}{at_top}."
        )


def _judges(analysis: Analysis) -> list[str]:
    return list(
        dict.fromkeys(
            name
            for data in analysis.context.whole.values()
            for name in data.scorers
            if data.kinds[name] == "judge"
        )
    )


SECTION = Section(
    key="scores",
    title="How the scores are distributed",
    statistics=estimates.STATISTICS,
    figures=(figures.distributions, figures.bounds),
    tables=(tables.properties, tables.metric_properties),
    reading=reading,
)
