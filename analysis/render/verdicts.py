"""The verdict: for each construct and judge one sentence in plain words, with its figures.

It starts with the order of responses within a query, for which a judge is used; with one response
per query it uses all responses, and states so. `contradictions` adds notes on figures of one scorer
that seem to contradict each other, which need the whole analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData, judge_of_expected
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER, Target
from analysis.render.category_verdict import category_notes, on_categories
from analysis.render.formatting import (
    amount,
    between,
    correlation,
    counted,
    percent,
    percents,
    points,
)
from analysis.render.influence_notes import influence_notes
from analysis.render.metric_notes import beside_metrics
from analysis.render.verdict_notes import ORDERS_WELL, ends, headline_bias, level, notes
from analysis.render.verdict_order import Comparison, beside_a_rater, leading_scope, order, target


@dataclass(frozen=True)
class Verdict:
    """The result for one scorer on one construct.

    `comparison` is with a rater: better, worse, undecided (the interval includes 0), or withheld.
    `target` are the raters that the sentence is about; None where it is about none.
    """

    construct: str
    scorer: str
    sentence: str
    comparison: Comparison
    scope: str | None = None
    notes: tuple[str, ...] = ()
    target: Target | None = None


def verdicts(analysis: Analysis) -> list[Verdict]:
    """One verdict for each construct and judge, or for each metric where there is no judge.

    Examples
    --------
    >>> from analysis import ScoreTable, analyse, verdicts
    >>> from ccrs_study import read_scores
    >>> found = verdicts(analyse(ScoreTable.from_frame(read_scores("scores.csv"))))
    >>> [(verdict.construct, verdict.scorer, verdict.comparison) for verdict in found]
    [('QR', 'llm', 'undecided')]
    """
    results = []
    for construct, data, names in _speaking(analysis):
        for scorer in names:
            results.append(_verdict(analysis, construct, data, scorer, len(names) > 1))
        if not names:
            results.append(_people_only(analysis, construct))
    return results + on_preferences(analysis)


def compared(analysis: Analysis) -> Iterator[Estimate]:
    """The comparisons from which verdicts make claims: of order, of level, of categories."""
    for construct, _, names in _speaking(analysis):
        for scorer in names:
            where: dict[str, Any] = {"construct": construct, "scorer": scorer}
            if analysis.context.nominal([construct]):
                yield from analysis.estimates.select("kappa_difference", **where)[:1]
                continue
            scope, _ = leading_scope(analysis, construct, scorer)
            whom = target(analysis, construct, scorer)
            for measure in (ORDER, "pearson"):
                by = beside_a_rater(analysis, construct, scorer, scope, measure, whom)
                if by is not None:
                    yield by.difference
            bias = headline_bias(analysis, construct, scorer)
            if bias is not None:
                yield bias


def speaking(analysis: Analysis) -> list[tuple[str, str]]:
    """The constructs and scorers that a verdict is about."""
    return [(construct, name) for construct, _, names in _speaking(analysis) for name in names]


def _speaking(analysis: Analysis) -> Iterator[tuple[str, ConstructData, list[str]]]:
    """Each construct with the scorers that have a verdict."""
    preferred = analysis.preferences.constructs if analysis.preferences is not None else ()
    whole = analysis.context.whole
    comparable = any(data.judges or not data.reference_missing for data in whole.values())
    for construct, data in whole.items():
        if construct in preferred and data.reference_missing:
            continue  # people compared responses here, and rated none
        if comparable and data.reference_missing and not data.judges:
            continue  # only metrics are there, as on retrieval
        judges = data.judges
        # The mean of a judge's distribution is a remark on that judge.
        numbers = [name for name in judges if judge_of_expected(name, judges) is None]
        yield construct, data, numbers or list(data.scorers)


def _verdict(
    analysis: Analysis, construct: str, data: ConstructData, scorer: str, several: bool
) -> Verdict:
    kind = "judge" if data.kinds[scorer] == "judge" else "metric"
    name = scorer if several else f"the {kind}"
    if analysis.context.nominal([construct]):
        stated, comparison = on_categories(analysis, construct, scorer, name)
        remarks = (
            *category_notes(analysis, construct, scorer),
            *notes(analysis, construct, scorer, None),
        )
        return Verdict(
            construct, scorer, f"{construct}: {stated}.", comparison, None, remarks, "these_raters"
        )
    parts, comparison, scope = order(analysis, construct, scorer, name)
    fixed = data.reference_kind == "adjudicated" or data.reference_missing is not None
    rest = [level(analysis, construct, scorer), ends(analysis, construct, scorer)]
    tail = " and ".join(filter(None, rest))
    if tail:
        parts = f"{parts}; {tail}"
    return Verdict(
        construct,
        scorer,
        f"{construct}: {parts}.",
        comparison,
        scope,
        tuple(notes(analysis, construct, scorer, scope)),
        None if fixed else target(analysis, construct, scorer),
    )


def _people_only(analysis: Analysis, construct: str) -> Verdict:
    data = analysis.context.whole[construct]
    n = int(np.isfinite(data.ratings).any(axis=1).sum())
    if not n:
        return Verdict(construct, "", f"{construct}: there are no scores.", "withheld")
    rated = counted(n, "response")
    return Verdict(
        construct,
        "",
        f"{construct}: people rated {rated}; there is no judge to compare.",
        "withheld",
    )


def on_preferences(analysis: Analysis) -> list[Verdict]:
    """How scorers' differences correlate with people's preferences, by construct."""
    if analysis.preferences is None:
        return []
    on_preferences = []
    for construct in analysis.preferences.constructs:
        raters = analysis.preferences.scorers(construct, "human")
        if not raters:
            continue
        on = analysis.estimates.select("pearson", construct=construct, on="preferences")
        between_raters = [e for e in on if set(e.scorers) <= set(raters)]
        among = [e.value for e in between_raters if e.defined]
        pairs = "the two raters' preferences with each other"
        if len(among) > 1:
            pairs = "two raters' preferences with each other, on average"
        mean = correlation(sum(among) / len(among)) if among else ""
        compared = [e for e in on if e not in between_raters and e.defined]
        for estimate in compared:
            figure = f"{correlation(estimate.value)} {between(estimate)}".rstrip()
            scorer = estimate.scorers[0]
            compares = scorer in analysis.preferences.scorers(construct)
            accuracy = analysis.estimates.first(
                "preference_accuracy", construct=construct, scorer=scorer
            )
            if compares and accuracy is not None and accuracy.defined:
                share = f"{percent(accuracy.value)} {percents(accuracy)}".rstrip()
                sentence = f"{construct}: {scorer}'s own preferences are people's in {share}"
            else:
                sentence = (
                    f"{construct}: differences in {scorer}'s scores correlate {figure} with "
                    "people's preferences"
                )
                sentence += f"; {pairs} {mean}" if among else ""
            on_preferences.append(
                Verdict(construct, estimate.scorers[0], f"{sentence}.", "withheld", "pooled")
            )
        if not compared:
            statement = f"{pairs} correlate {mean}" if among else "people gave preferences"
            sentence = f"{construct}: {statement}; there are no scores to compare them with."
            on_preferences.append(Verdict(construct, "", sentence, "withheld"))
    return on_preferences


#: A tau-b below this counts as none; on normal scores it is a correlation of .2.
NIL = 0.13

#: Composed AC averages lower than people by this share of the scale.
APART = 0.1

#: The section whose comparisons tell which systems people find different.
SYSTEMS = "systems"

OPENING = "Two results contradict each other: "


def with_contradictions(analysis: Analysis, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts with the notes that need every figure.

    They are on figures of the scorer that contradict each other or rest on one query.
    """
    return tuple(
        replace(
            verdict,
            notes=(
                *verdict.notes,
                *contradictions(analysis, verdict),
                *beside_metrics(analysis, verdict.construct, verdict.scorer),
                *influence_notes(
                    analysis, verdict.construct, verdict.scorer, verdict.scope, verdict.comparison
                ),
            ),
        )
        for verdict in verdicts
    )


def contradictions(analysis: Analysis, verdict: Verdict) -> Iterator[str]:
    """Sentences on one scorer and construct."""
    construct, scorer = verdict.construct, verdict.scorer
    data = analysis.rated.get(construct)
    if not scorer or data is None or data.reference_missing:
        return
    within = _tau_b(analysis, verdict, "within_query")
    pooled = _tau_b(analysis, verdict, "pooled")
    nil = within is not None and within.value < NIL
    if nil and within is not None:
        if pooled is not None and pooled.value >= ORDERS_WELL:
            yield (
                f"{OPENING}over all responses its order has a tau-b of {_stated(pooled)} with "
                f"people's, within a query {_stated(within)}. It distinguishes easy queries from "
                "hard ones, and hardly a good response from a bad one to the same query."
            )
        yield from _alternative_annotator(analysis, verdict, within)
    best = max((e.value for e in (within, pooled) if e is not None), default=float("nan"))
    if best >= ORDERS_WELL:
        yield from _systems(analysis, verdict, best)
    yield from _composed(analysis, verdict)


def _tau_b(analysis: Analysis, verdict: Verdict, scope: str) -> Estimate | None:
    estimate = analysis.estimates.first(
        ORDER, construct=verdict.construct, scorer=verdict.scorer, scope=scope
    )
    return estimate if estimate is not None and estimate.defined else None


def _alternative_annotator(analysis: Analysis, verdict: Verdict, within: Estimate) -> Iterator[str]:
    rate = analysis.estimates.first(
        "alt_test_winning_rate", construct=verdict.construct, scorer=verdict.scorer
    )
    if rate is not None and rate.defined and rate.params.get("passed") == "yes":
        yield (
            f"{OPENING}it passes the alternative annotator test (it may replace "
            f"{percent(rate.value)} of the raters), yet within a query its order has a tau-b of "
            f"{_stated(within)} with people's. The test asks for closeness, which a nearly "
            "constant judge has as well."
        )


def _systems(analysis: Analysis, verdict: Verdict, best: float) -> Iterator[str]:
    """Pairs of systems that people find different in one direction and the scorer in the other."""
    records = analysis.estimates.select("system_difference", construct=verdict.construct)
    people = [e for e in records if e.n_raters and e.has_interval]
    apart = [e for e in people if analysis.claims.hold(SYSTEMS, e)]
    of_scorer = [e for e in records if e.scorers == (verdict.scorer,) and e.defined]
    # On the rated responses, where there are others; they come last.
    by_pair = {e.systems: e for e in of_scorer}
    against = [e for e in apart if e.systems in by_pair and by_pair[e.systems].value * e.value < 0]
    if against:
        worst = max(against, key=lambda e: abs(e.value))
        first, second = worst.systems if worst.value > 0 else worst.systems[::-1]
        yield (
            f"{OPENING}its order of responses has a tau-b of {correlation(best)} with people's, "
            f"yet of {counted(len(apart), 'pair')} of systems that people find different it puts "
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
    yield (
        f"{OPENING}the judge's own part is {amount(abs(bias.value), scale)} from people on "
        f"average, while {composed_mean(analysis, mean)}"
    )


def composed_mean(analysis: Analysis, mean: Estimate) -> str:
    """In words, the mean of composed AC (a `composed_ac_mean`) and that of people's ratings."""
    scale = analysis.context.human_scale(mean.constructs[0])
    people = float(str(mean.params["people"]))
    return (
        f"AC composed with lambda {mean.params['lambda']:g} averages {points(mean.value, scale)} "
        f"where people average {points(people, scale)}. The difference comes from composing and "
        "is not a bias of the judge."
    )


def _stated(e: Estimate) -> str:
    return f"{correlation(e.value)} {between(e)}".rstrip()
