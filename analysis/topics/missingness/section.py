"""Section of the report: values that are missing, and answers that were hard to read."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import listed, p_value, percent, points
from analysis.render.section import Section
from analysis.topics.agreement import bare_answers as agreement_bare_answers
from analysis.topics.distribution import tables as distribution_tables
from analysis.topics.missingness import estimates, tables

#: Share of a system's scores from which missing ones are worth a sentence on the mean.
_MANY = 0.02

_SAID = 2

_ENDS = ("low", "high")


def reading(analysis: Analysis) -> Iterator[str]:
    """Whose scores are missing more often, and how far a mean could move."""
    found = analysis.estimates
    apart = [e for e in found.select("missing_differs_by_system") if e.value < 0.05]
    for e in apart[:_SAID]:
        where = {"construct": e.constructs[0], "scorer": e.scorers[0]}
        shares = sorted(found.select("missing_share_by_system", **where), key=lambda s: -s.value)
        if shares:
            yield (
                f"{e.constructs[0]}: scores by {e.scorers[0]} are missing more often for some "
                f"systems than for others ({_share(shares[0])}, {_share(shares[-1])}; "
                f"{p_value(e.value)})."
            )
    shares = [e for e in found.select("missing_share_by_system") if e.value >= _MANY]
    kinds = analysis.scorer_kinds
    judged = [e for e in shares if kinds.get(e.scorers[0]) != "human"]
    if judged:
        worst = max(judged, key=lambda e: e.value)
        where = {"construct": worst.constructs[0], "scorer": worst.scorers[0]}
        ends = [found.first("mean_bounds", scope=worst.scope, end=e, **where) for e in _ENDS]
        known = [e.value for e in ends if e is not None and e.defined]
        if len(known) == len(_ENDS):
            scale = analysis.scores.scale(worst.constructs[0], worst.scorers[0])
            span = listed([points(v, scale, 1) for v in known])
            yield (
                f"{worst.constructs[0]}: with {percent(worst.value)} of {worst.systems[0]}'s "
                f"scores by {worst.scorers[0]} missing, its mean lies between {span}, whatever "
                "they would have been."
            )


def _share(e: Estimate) -> str:
    return f"{e.systems[0]} {percent(e.value)}"


SECTION = Section(
    key="missing",
    title="Missing values",
    statistics=estimates.STATISTICS,
    tables=(
        distribution_tables.gaps,
        tables.by_system,
        tables.by_band,
        agreement_bare_answers.answers_read_tables,
    ),
    reading=reading,
)
