"""Figures of one scorer that seem to contradict each other; they need the whole analysis."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER
from analysis.render.formatting import amount, points
from analysis.render.sentences import Fact, fact
from analysis.render.verdict_facts import VerdictFacts
from analysis.render.verdict_notes import ORDERS_WELL

#: A tau-b below this counts as none; on normal scores it is a correlation of .2.
NIL = 0.13

#: Composed AC averages lower than people by this share of the scale.
APART = 0.1

#: The section whose comparisons tell which systems people find different.
SYSTEMS = "systems"


def contradictions(facts: VerdictFacts) -> Iterator[Fact]:
    """What contradicts itself in the figures of one scorer on one construct."""
    data = facts.analysis.rated.get(facts.construct)
    if not facts.scorer or data is None or data.reference_missing:
        return
    taus = {scope: facts.first(ORDER, scope=scope) for scope in ("within_query", "pooled")}
    if taus["within_query"] is not None and taus["within_query"].value < NIL:
        yield from _within_a_query(facts, taus["within_query"], taus["pooled"])
    best = max((e.value for e in taus.values() if e is not None), default=float("nan"))
    if best >= ORDERS_WELL:
        yield from _systems(facts, best)
    yield from _composed(facts)


def _within_a_query(
    facts: VerdictFacts, within: Estimate, pooled: Estimate | None
) -> Iterator[Fact]:
    """Results that look good beside no order within a query."""
    if pooled is not None and pooled.value >= ORDERS_WELL:
        yield fact("easy_queries", pooled=pooled, within=within)
    rate = facts.first("alt_test_winning_rate")
    if rate is not None and rate.params.get("passed") == "yes":
        yield fact("close_not_ordered", rate=rate, within=within)


def _systems(facts: VerdictFacts, best: float) -> Iterator[Fact]:
    """Pairs of systems that people find different in one direction and the scorer in the other."""
    records = facts.select("system_difference")
    hold = facts.analysis.claims.hold
    apart = [e for e in records if e.n_raters and e.has_interval and hold(SYSTEMS, e)]
    # On the rated responses, where there are others; they come last.
    by_pair = {e.systems: e.value for e in records if e.scorers == (facts.scorer,) and e.defined}
    against = [e for e in apart if by_pair.get(e.systems, 0) * e.value < 0]
    if against:
        worst = max(against, key=lambda e: abs(e.value))
        first, second = worst.systems if worst.value > 0 else worst.systems[::-1]
        yield fact(
            "systems_reversed",
            tau=best, apart=len(apart), against=len(against), first=first, second=second,
        )  # fmt: skip


def _composed(facts: VerdictFacts) -> Iterator[Fact]:
    """Composed AC far below people where the judge's own part is not."""
    mean, bias = facts.first("composed_ac_mean"), facts.first("bias", scope="pooled")
    if mean is None or facts.scale is None or bias is None:
        return
    below = float(str(mean.params["people"])) - mean.value
    if below >= APART * facts.scale.width and abs(bias.value) < below:
        yield fact(
            "composed_apart",
            amount=amount(abs(bias.value), facts.scale),
            composed=composed_mean(facts.analysis, mean),
        )


def composed_mean(analysis: Analysis, mean: Estimate) -> Fact:
    """The mean of composed AC (a `composed_ac_mean`) and that of people's ratings."""
    scale = analysis.human_scale(mean.constructs[0])
    return fact(
        "composed",
        weight=mean.params["lambda"],
        mean=points(mean.value, scale),
        people=points(float(str(mean.params["people"])), scale),
    )
