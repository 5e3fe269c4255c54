"""The figures that decide for what a judge can be used, in a fraction of the time of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from analysis.core.context import Context
from analysis.core.estimates import Estimate
from analysis.core.pairs import Scope
from analysis.core.statistic import ORDER
from analysis.decisions.records import Use
from analysis.topics.agreement.alternative_annotator import alternative_annotators
from analysis.topics.agreement.association import biases, judge_against_humans
from analysis.topics.agreement.concordance import concordances
from analysis.topics.agreement.decisions import decisions_by_interval
from analysis.topics.agreement.equal_values import equal_values
from analysis.topics.agreement.human_ceiling import ceilings, raters_against_others
from analysis.topics.agreement.pairwise_accuracy import pairwise_beside_raters
from analysis.topics.agreement.sensitivity import without_one_query
from analysis.topics.binary.estimates import rates
from analysis.topics.calibration.estimates import calibration_errors
from analysis.topics.correction.estimates import corrected_overall
from analysis.topics.distribution.estimates import ends_of_scale

Figures = Callable[[Context], Iterator[Estimate]]


def _order(context: Context, scope: Scope = "within_query") -> Iterator[Estimate]:
    yield from judge_against_humans(context, (ORDER,), {scope})
    if any(len(data.raters) > 1 for data in context.rated.values()):
        yield from ceilings(context, measures=(ORDER,), scopes=(scope,))
        yield from pairwise_beside_raters(context)
    yield from concordances(context)


def _level(context: Context) -> Iterator[Estimate]:
    systems = {f"system:{name}" for name in context.scores.systems}
    yield from judge_against_humans(context, (ORDER,), {"pooled"})
    yield from judge_against_humans(context, ("bias",), {"pooled"} | systems)
    yield from biases(context)


#: What decides each use, without what only qualifies an answer.
FIGURES: Mapping[Use, tuple[Figures, ...]] = {
    "rank_systems": (decisions_by_interval,),
    "rank_all_systems": (decisions_by_interval,),
    "choose_between_responses": (_order,),
    "order_responses": (partial(_order, scope="pooled"),),
    "report_level": (_level, rates),
    "replace_rater": (_order, _level, lambda context: alternative_annotators(context, "rmse")),
}


def figures_of_uses(uses: Iterable[Use], context: Context) -> Iterator[Estimate]:
    """What decides these uses."""
    for of in dict.fromkeys(of for use in uses for of in FIGURES[use]):
        yield from of(context)


def figures_of_decisions(context: Context) -> Iterator[Estimate]:
    """What `analysis.decisions` reads, apart from the agreement on categories."""
    ordered = context.ordered
    systems = {f"system:{name}" for name in context.scores.systems}
    scopes = {"pooled", "within_query"}
    yield from judge_against_humans(ordered, (ORDER,), scopes)
    yield from judge_against_humans(ordered, ("bias",), {"pooled"} | systems)
    yield from biases(ordered)
    yield from concordances(ordered)
    yield from equal_values(ordered)
    yield from ceilings(ordered)
    yield from raters_against_others(ordered)
    yield from pairwise_beside_raters(ordered)
    yield from decisions_by_interval(ordered)
    yield from alternative_annotators(context, "rmse")
    yield from without_one_query(ordered)
    yield from rates(context)
    yield from corrected_overall(ordered)
    yield from ends_of_scale(ordered)
    yield from calibration_errors(ordered)
