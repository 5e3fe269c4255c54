"""What a verdict adds to its sentence: how to read its figures, and what they rest on.

Each function finds facts; the words are in `sentence_templates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.core.analysis import Analysis
from analysis.core.claims import VERDICT
from analysis.core.construct_data import EXPECTED
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER
from analysis.decisions.standards import standards
from analysis.render.sentence_templates import CONCLUSIONS
from analysis.render.sentences import Fact, fact, in_words
from analysis.render.verdict_facts import Comparison, VerdictFacts, outcome

#: A share of queries without a tau-b, and of scores at the maximum, from which a note says so.
NOTABLE_SHARE, HALF = 0.25, 0.5

#: Tau-b from which a scorer orders well (on normal scores a correlation of .7, since
#: r = sin(pi tau / 2): Greiner 1909).
ORDERS_WELL = 0.5

#: Krippendorff (2004) accepts tentative conclusions from .667 on.
TENTATIVE = 0.667

#: With a wider interval of a difference of tau-b, or of kappas, the two are not called equal.
WIDE, WIDE_KAPPA = 0.15, 0.2

#: With fewer queries than this, their number is stated with the order.
FEW_QUERIES = 20

#: A rater is an outlier with less than this share of the tau-b of at least two others.
OUTLIER_SHARE, RATERS_NEEDED = 0.67, 3

#: A change of an agreement by one query from which the query is named.
INFLUENTIAL = 0.1


def notes(facts: VerdictFacts) -> Iterator[Fact]:
    """Remarks on the verdict of one scorer on one construct."""
    conditions: tuple[Callable[[VerdictFacts], Iterator[Fact]], ...] = ()
    if facts.nominal:
        conditions = (_on_the_difference_of_kappas,)
    elif not facts.data.reference_missing:
        conditions = (
            _on_the_difference, _on_ties, _by_pearson, _on_the_distribution, _on_few_queries,
        )  # fmt: skip
    for condition in (*conditions, _on_level, _on_people, _on_what_is_withheld, _on_the_unit):
        yield from condition(facts)


def _on_the_difference(facts: VerdictFacts) -> Iterator[Fact]:
    if facts.order is not None and _wide(facts.order.difference, WIDE):
        like_these = facts.order.difference.target == "raters_like_these"
        yield fact("wide", more=["queries", "raters"] if like_these else ["queries"])


def _on_the_difference_of_kappas(facts: VerdictFacts) -> Iterator[Fact]:
    if facts.on_categories is None:
        return
    difference = facts.on_categories.difference
    if _wide(difference, WIDE_KAPPA):
        yield fact("wide", more=["queries"])
    if difference.n_queries < FEW_QUERIES:
        yield fact("rests_on", e=difference)


def _wide(difference: Estimate, width: float) -> bool:
    """Whether an interval that includes 0 is wider."""
    includes = difference.has_interval and difference.ci_low <= 0 <= difference.ci_high
    return includes and difference.ci_high - difference.ci_low > width


def _on_ties(facts: VerdictFacts) -> Iterator[Fact]:
    """Queries in which one of the two sides gives all responses the same score."""
    if facts.order is None:
        return
    sides = (facts.order.judge, facts.order.rater)
    judge, rater = (e.params.get("undefined_share") for e in sides)
    if any(isinstance(share, float) and share >= NOTABLE_SHARE for share in (judge, rater)):
        yield fact("ties", judge=judge, rater=rater)


def _by_pearson(facts: VerdictFacts) -> Iterator[Fact]:
    """Where Pearson's r leads to another conclusion than tau-b."""
    by_order, by_distance = facts.outcome(facts.order), facts.outcome(facts.distance)
    if by_order != by_distance and "withheld" not in {by_order, by_distance}:
        yield fact("pearson", conclusion=CONCLUSIONS[by_distance], beside=facts.distance)


def _on_the_distribution(facts: VerdictFacts) -> Iterator[Fact]:
    """How the mean of the judge's distribution compares with the number that it wrote."""
    where = {"scope": facts.scope, "measure": "pearson"}
    mean = facts.scorer + EXPECTED
    gain = facts.select("expected_gain", scorer=mean, **where)[:1]
    if not gain or not gain[0].defined:
        return
    of = {e.scorers[0]: e for e in reversed(facts.select("agreement_where_both", **where))}
    yield fact("distribution", mean=of[mean], number=of[facts.scorer], gain=gain[0])


def _on_few_queries(facts: VerdictFacts) -> Iterator[Fact]:
    plain = facts.first(ORDER, scope=facts.scope)
    used = plain if facts.order is None else facts.order.difference
    if used is not None and used.n_queries < FEW_QUERIES:
        yield fact("order_rests_on", e=used)


def _on_level(facts: VerdictFacts) -> Iterator[Fact]:
    """A good order with a bias beyond the margin of a level, and scores at the maximum."""
    plain = facts.first(ORDER, scope=facts.scope)
    margin = standards(facts.analysis.options, facts.scale, 1).level
    if plain is not None and margin is not None and facts.bias is not None:
        far = plain.value >= ORDERS_WELL and abs(facts.bias.value) >= margin.value
        if far and facts.bias_shown:
            yield fact("order_without_level")
    share = facts.first("share_at_max", scope="pooled")
    if share is not None and share.value >= HALF and not facts.two_valued:
        yield fact("ceiling")


def _on_people(facts: VerdictFacts) -> Iterator[Fact]:
    """Agreement among people, a rater apart, and raters who differ between systems."""
    level = facts.analysis.context.level(facts.construct)
    for alpha in facts.select("krippendorff_alpha", level=level)[:1]:
        if alpha.value < TENTATIVE and facts.analysis.options.reference != "adjudicated":
            # Categories without an order have no mean.
            on = "_on_categories" if facts.nominal else ""
            yield fact(f"people_disagree{on}", alpha=alpha)
    if facts.order is not None:
        yield from _on_a_rater_apart(facts)
    pairs = facts.select("system_difference", adjusted="rater severity")
    without = [e for e in pairs if not e.defined]
    if len(without) < len(pairs):
        yield fact("severity_adjusted")
    if without:
        yield fact("systems_withheld", n=len(without), reason=without[0].reason)


def _on_a_rater_apart(facts: VerdictFacts) -> Iterator[Fact]:
    """A rater who agrees little with the others lowers the human ceiling.

    It is stated where the intervals of that rater and of the next do not overlap. Of five
    exchangeable raters that happens once in thousands of constructs, so the note needs no part in
    the correction of claims.
    """
    by_rater = facts.select("rater_against_others", scope=facts.scope, measure=ORDER)
    ranked = sorted((e for e in by_rater if e.defined), key=lambda e: e.value)
    if len(ranked) < RATERS_NEEDED:
        return
    lowest, following = ranked[:2]
    apart = lowest.has_interval and following.has_interval and lowest.ci_high < following.ci_low
    if apart and lowest.value < OUTLIER_SHARE * following.value:
        yield fact(
            "rater_apart",
            rater=lowest.scorers[0], lowest=lowest, next=following, highest=ranked[-1],
        )  # fmt: skip


def _on_what_is_withheld(facts: VerdictFacts) -> Iterator[Fact]:
    bias, ordered = facts.bias, facts.first(ORDER, scope=facts.scope)
    if facts.analysis.scorer_scale(facts.construct, facts.scorer) is None:
        yield fact("no_scale", construct=facts.construct)
    elif ordered is not None and bias is not None and not bias.defined:
        yield fact("bias_withheld", reason=bias.reason)


def _on_the_unit(facts: VerdictFacts) -> Iterator[Fact]:
    """A match in the wrong unit, with the judge it concerns, else with the first scorer."""
    examined = facts.analysis.context.whole[facts.construct].examined
    for e in facts.select("ac_unit_check"):
        concerned = [name for name in examined if name in e.scorers] or examined
        if e.value == 1 and facts.scorer == concerned[0]:
            yield unit_slip(e)


def unit_slip(e: Estimate) -> Fact:
    """What an `ac_unit_check` of 1 means."""
    weight, per_unit = (float(str(e.params[name])) for name in ("lambda", "points_per_unit"))
    return fact(
        "unit",
        scorer=e.scorers[0],
        added=weight / per_unit,
        of_a_point="of a point " if per_unit == 1 else "",
        meant=100 * weight / per_unit,
    )


def influence_notes(facts: VerdictFacts, comparison: Comparison) -> Iterator[Fact]:
    """Queries without which the agreement with people or the statement on order falls."""
    for measure, name in {ORDER: "tau-b", "pearson": "Pearson's r"}.items():
        where = {"scorer": facts.scorer, "left_out": "query", "measure": measure}
        without = [e for e in facts.select("agreement_without_one", **where) if e.defined]
        if not without:
            continue
        whole = float(str(without[0].params["whole"]))
        most = max(without, key=lambda e: abs(e.value - whole))
        if abs(most.value - whole) >= INFLUENTIAL:
            yield fact(
                "query_changes_agreement",
                query=most.params["name"], measure=name, without=most, whole=whole,
            )  # fmt: skip
    # Where the verdict claims no difference, a query more or less makes none.
    if comparison not in {"better", "worse"} or facts.nominal:
        return
    for e in facts.select(
        "difference_without_query", scorer=facts.scorer, scope=facts.scope, target=facts.target
    ):
        changed = outcome(e.ci_low, e.ci_high)
        if changed not in {comparison, "withheld"}:
            yield fact(
                "query_changes_order",
                query=e.params["name"], conclusion=CONCLUSIONS[changed], e=e,
            )  # fmt: skip


def reading(analysis: Analysis) -> str:
    """What the brackets of the verdicts are, and for how much a claim is corrected."""
    correlations = analysis.estimates.select(
        "human_ceiling_difference", target="raters_like_these", measure=ORDER
    )
    name = "brackets"
    if analysis.options.reference == "adjudicated":
        name = "brackets_adjudicated"
    elif any(
        VerdictFacts(analysis, e.constructs[0], e.scorers[0]).target == e.target
        for e in correlations
    ):
        name = "brackets_of_both"
    found = fact(name, level=analysis.options.level)
    family = analysis.claims.of(VERDICT)
    if family is not None and family.comparisons > 1:
        found = fact("corrected_claims", brackets=found, n=family.comparisons)
    return in_words(found)
