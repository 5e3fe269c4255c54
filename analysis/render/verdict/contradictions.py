"""Figures of one scorer that contradict each other, in words.

Each of them alone would be read as good news. They need the whole analysis, so that they are added
to the verdicts when a report is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import amount, between, correlation, counted, percent, points
from analysis.render.verdict.notes import ORDERS_WELL
from analysis.render.verdict.verdicts import Verdict

#: Correlations below this order nothing worth the name.
NIL = 0.2

#: Composed AC averages lower than people by this share of the scale.
APART = 0.1

OPENING = "These two contradict each other: "


def with_contradictions(analysis: Analysis, found: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts with what contradicts itself in their scorer's figures, as further notes."""
    return tuple(
        replace(verdict, notes=(*verdict.notes, *contradictions(analysis, verdict)))
        for verdict in found
    )


def contradictions(analysis: Analysis, verdict: Verdict) -> Iterator[str]:
    """Sentences on one scorer and construct."""
    construct, scorer = verdict.construct, verdict.scorer
    data = analysis.rated.get(construct)
    if not scorer or data is None or data.reference_missing:
        return
    within = _pearson(analysis, verdict, "within_query")
    pooled = _pearson(analysis, verdict, "pooled")
    nil = within is not None and within.value < NIL
    if nil and within is not None:
        if pooled is not None and pooled.value >= ORDERS_WELL:
            yield (
                f"{OPENING}over all responses it correlates {_stated(pooled)} with people, within "
                f"a query {_stated(within)}. It tells easy queries from hard ones, and hardly a "
                "good response from a bad one to the same query."
            )
        yield from _alternative_annotator(analysis, verdict, within)
    best = max((e.value for e in (within, pooled) if e is not None), default=float("nan"))
    if best >= ORDERS_WELL:
        yield from _systems(analysis, verdict, best)
    yield from _composed(analysis, verdict)


def _pearson(analysis: Analysis, verdict: Verdict, scope: str) -> Estimate | None:
    found = analysis.estimates.first(
        "pearson", construct=verdict.construct, scorer=verdict.scorer, scope=scope
    )
    return found if found is not None and found.defined else None


def _alternative_annotator(analysis: Analysis, verdict: Verdict, within: Estimate) -> Iterator[str]:
    rate = analysis.estimates.first(
        "alt_test_winning_rate", construct=verdict.construct, scorer=verdict.scorer
    )
    if rate is not None and rate.defined and rate.params.get("passed") == "yes":
        yield (
            f"{OPENING}it passes the alternative annotator test (it may stand in for "
            f"{percent(rate.value)} of the raters), yet within a query it correlates "
            f"{_stated(within)} with people. The test asks for closeness, which a nearly constant "
            "judge has as well."
        )


def _systems(analysis: Analysis, verdict: Verdict, best: float) -> Iterator[str]:
    """Pairs of systems that people tell apart one way and the scorer's means the other way."""
    records = analysis.estimates.select("system_difference", construct=verdict.construct)
    people = [e for e in records if e.n_raters and e.has_interval]
    own = [e for e in records if e.scorers == (verdict.scorer,) and e.defined]
    # On the rated responses, where there are others; they come last.
    by_pair = {e.systems: e for e in own}
    apart = [e for e in people if e.ci_low > 0 or e.ci_high < 0]
    against = [e for e in apart if e.systems in by_pair and by_pair[e.systems].value * e.value < 0]
    if against:
        worst = max(against, key=lambda e: abs(e.value))
        first, second = worst.systems if worst.value > 0 else worst.systems[::-1]
        yield (
            f"{OPENING}it correlates {correlation(best)} with people on responses, yet of "
            f"{counted(len(apart), 'pair')} of systems that people tell apart it puts "
            f"{counted(len(against), 'pair')} the other way around (people find {first} better "
            f"than {second}, it does not)."
        )


def _composed(analysis: Analysis, verdict: Verdict) -> Iterator[str]:
    mean = analysis.estimates.first(
        "composed_ac_mean", construct=verdict.construct, scorer=verdict.scorer
    )
    bias = analysis.estimates.first(
        "bias", construct=verdict.construct, scorer=verdict.scorer, scope="pooled"
    )
    scale = analysis.context.human_scale(verdict.construct)
    if mean is None or scale is None or bias is None or not bias.defined:
        return
    people = float(str(mean.params["people"]))
    if people - mean.value < APART * scale.width or abs(bias.value) >= people - mean.value:
        return
    weight = float(str(mean.params["lambda"]))
    yield (
        f"{OPENING}the judge's own part is {amount(abs(bias.value), scale)} from people on "
        f"average, while AC composed with lambda {weight:g} averages {points(mean.value, scale)} "
        f"where people average {points(people, scale)}. The distance is made by the composing; "
        "it does not show the level."
    )


def _stated(e: Estimate) -> str:
    return f"{correlation(e.value)} {between(e)}".rstrip()
