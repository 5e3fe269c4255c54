"""What a verdict states about the order of responses: the judge beside a rater, by Kendall's tau-b.

Tau-b counts the pairs of responses to a query that are in the same order, so that a judge is not
worse for using its scale unevenly; Pearson's r, which depends on distances, is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from analysis.core.analysis import Analysis
from analysis.core.claims import VERDICT
from analysis.core.construct_data import ConstructData
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER, Target
from analysis.render.formatting import NOISE, between, correlation, counted

Comparison = Literal["better", "worse", "undecided", "withheld"]


@dataclass(frozen=True)
class JudgeBesideRater:
    """Agreement of the judge and of a rater with the others by one measure, and their difference.

    All three are for the same raters and responses.
    """

    judge: Estimate
    rater: Estimate
    difference: Estimate

    @property
    def pair(self) -> str:
        """'.41 against .55'."""
        return f"{correlation(self.judge.value)} against {correlation(self.rater.value)}"

    @property
    def amounts(self) -> str:
        """'.41 against .55, difference -.14 [-.20, -.08]'."""
        difference = f"{correlation(self.difference.value)} {between(self.difference)}"
        return f"{self.pair}, difference {difference}".rstrip()


def outcome(low: float, high: float) -> Comparison:
    """What an interval of a difference shows by itself; withheld where both ends are NaN."""
    if math.isnan(low):
        return "withheld"
    if high < -NOISE:
        return "worse"
    return "better" if low > NOISE else "undecided"


def compared_with_0(analysis: Analysis, difference: Estimate) -> Comparison:
    """Better or worse if the interval excludes 0, after correction for all of the verdict's."""
    alone = outcome(difference.ci_low, difference.ci_high)
    if alone == "withheld" or analysis.claims.hold(VERDICT, difference):
        return alone
    return "undecided"


def corrected_away(analysis: Analysis, e: Estimate) -> str:
    """'not significant after correction for 20 comparisons', or an empty text.

    It is for an interval that excludes 0 alone, but not after correction.
    """
    family = analysis.claims.of(VERDICT)
    if family is None or outcome(e.ci_low, e.ci_high) not in {"better", "worse"}:
        return ""
    if family.holds(e):
        return ""
    return f"not significant after correction for {counted(family.comparisons, 'comparison')}"


#: Raters from which on a statement about raters like these is carried.
ENOUGH_RATERS = 5


def target(analysis: Analysis, construct: str, scorer: str) -> Target:
    """Whom the sentence of a verdict is about, in its order and in its level.

    Raters like these, if at least five raters carry the comparison, and an interval of the bias
    where there is one; else these raters.
    """
    scope, _ = leading_scope(analysis, construct, scorer)
    where: dict[str, Any] = {
        "construct": construct, "scorer": scorer, "target": "raters_like_these",
    }  # fmt: skip
    order = analysis.estimates.first(
        "human_ceiling_difference", scope=scope, measure=ORDER, **where
    )
    bias = analysis.estimates.first("bias", scope="pooled", **where)
    level = bias is None or bias.has_interval or not bias.defined
    carried = order is not None and order.has_interval and order.n_raters >= ENOUGH_RATERS
    return "raters_like_these" if carried and level else "these_raters"


def beside_a_rater(
    analysis: Analysis,
    construct: str,
    scorer: str,
    scope: str | None,
    measure: str = ORDER,
    of: Target = "these_raters",
) -> JudgeBesideRater | None:
    """The comparison with a rater; None where the difference is undefined."""
    where: dict[str, Any] = {
        "construct": construct, "scorer": scorer, "scope": scope, "measure": measure,
    }  # fmt: skip
    first = analysis.estimates.first
    judge = first("judge_against_others", **where)
    rater = first("human_ceiling", **where)
    difference = first("human_ceiling_difference", target=of, **where)
    if judge is None or rater is None or difference is None or not difference.defined:
        return None
    return JudgeBesideRater(judge, rater, difference)


def order(
    analysis: Analysis, construct: str, scorer: str, name: str
) -> tuple[str, Comparison, str | None]:
    """The statement on order, its outcome, and the scope that it is about."""
    data = analysis.rated[construct]
    if data.reference_missing:
        return f"{data.reference_missing}, so there is no result for {name}", "withheld", None
    scope, where = leading_scope(analysis, construct, scorer)
    plain = analysis.estimates.first(ORDER, construct=construct, scorer=scorer, scope=scope)
    if plain is None or not plain.defined:
        why = plain.reason if plain is not None else "there are no values to compare"
        return f"how {name} orders responses is unknown ({why})", "withheld", scope
    whom = target(analysis, construct, scorer)
    compared = beside_a_rater(analysis, construct, scorer, scope, of=whom)
    if compared is None:
        return _without_ceiling(data, plain, name, where), "withheld", scope
    comparison = compared_with_0(analysis, compared.difference)
    corrected = corrected_away(analysis, compared.difference)
    amounts = ", ".join(filter(None, (f"tau-b {compared.amounts}", corrected)))
    rater = "a rater like these" if whom == "raters_like_these" else "one of these raters"
    sentences = {
        "worse": f"{where} {name} orders responses less well than {rater} does ({amounts})",
        "better": f"{where} {name} orders responses better than {rater} does ({amounts})",
        "undecided": f"{where} {name} cannot be distinguished from {rater} in how it orders "
        f"responses ({amounts})",
        "withheld": f"{where} {name} and {rater} order responses with a tau-b of {compared.pair} "
        f"on average (no interval: {compared.difference.reason})",
    }
    return sentences[comparison], comparison, scope


def leading_scope(analysis: Analysis, construct: str, scorer: str) -> tuple[str, str]:
    """Within a query, unless only all responses carry an interval; with the words for it."""
    within, pooled = (
        analysis.estimates.first(ORDER, construct=construct, scorer=scorer, scope=scope)
        for scope in ("within_query", "pooled")
    )
    defined = within is not None and within.defined
    better = pooled is not None and pooled.has_interval
    compared = beside_a_rater(analysis, construct, scorer, "within_query")
    # A tau-b of 1 has no interval; its difference to a rater's has.
    carried = compared is not None and compared.difference.has_interval
    if within is not None and defined and (within.has_interval or carried or not better):
        return "within_query", "within a query"
    why = "within a query it is unknown"
    if not analysis.rated[construct].several_a_query:
        why = "one a query, so the order within a query is unknown"
    elif within is not None and defined:
        why = (
            f"within a query, {counted(within.n_responses, 'response')} to "
            f"{counted(within.n_queries, 'query', 'queries')} have no interval"
        )
    return "pooled", f"over all responses ({why})"


def _without_ceiling(data: ConstructData, plain: Estimate, name: str, where: str) -> str:
    figure = f"{correlation(plain.value)} {between(plain)}".rstrip()
    start = f"{where} {name}'s order of responses has a tau-b of {figure} with"
    if data.reference_kind == "adjudicated":
        return (
            f"{start} the adjudicated values; whether a rater does better is not stated, since an "
            "adjudicated value favors the raters whose values it settled"
        )
    if len(data.raters) == 1:
        return f"{start} the one rater; how well a rater does is unknown without a second one"
    return (
        f"{start} the mean of the raters; a rater cannot be compared with the others, who rated "
        "too few of the same responses"
    )


CONCLUSIONS = {
    "better": "the order is better than a rater's",
    "worse": "the order is less good than a rater's",
    "undecided": "the order cannot be distinguished from a rater's",
}


def by_pearson(analysis: Analysis, construct: str, scorer: str, scope: str) -> Iterator[str]:
    """A note where Pearson's r leads to another conclusion than tau-b."""
    whom = target(analysis, construct, scorer)
    by_order, by_distance = (
        beside_a_rater(analysis, construct, scorer, scope, measure, whom)
        for measure in (ORDER, "pearson")
    )
    if by_order is None or by_distance is None:
        return
    outcomes = tuple(compared_with_0(analysis, by.difference) for by in (by_order, by_distance))
    if outcomes[0] != outcomes[1] and "withheld" not in outcomes:
        yield (
            f"Pearson's r leads to another conclusion: by it {CONCLUSIONS[outcomes[1]]} "
            f"({by_distance.amounts}). It also depends on the distances between scores; tau-b "
            "counts the order of pairs only."
        )
