"""The verdict: for each construct and judge one sentence in plain words, with its figures.

It starts with the order of responses within a query, for which a judge is used; with one response
per query it uses all responses, and states so. On a nominal scale it is about the choice of
categories, and names none, so that it is the same whatever numbers stand for them.

An answer (`analysis.decisions`) holds a use against a standard; a verdict tells whether a
difference from a rater, or a bias, can be told from 0, and claims one only after correction for all
verdicts. So neither follows from the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.core.analysis import Analysis
from analysis.core.construct_data import ConstructData, judge_of_expected
from analysis.core.estimates import Estimate
from analysis.core.statistic import ORDER, Target
from analysis.render.contradictions import contradictions
from analysis.render.formatting import amount, between, is_zero, on_scale
from analysis.render.metric_notes import beside_metrics
from analysis.render.sentence_templates import RATERS
from analysis.render.sentences import Fact, fact, in_words
from analysis.render.verdict_facts import Comparison, VerdictFacts
from analysis.render.verdict_notes import NOTABLE_SHARE, influence_notes, notes


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
    for construct, data, names in _verdict_subjects(analysis):
        for scorer in names:
            kind = "judge" if data.kinds[scorer] == "judge" else "metric"
            name = scorer if len(names) > 1 else f"the {kind}"
            results.append(_verdict(VerdictFacts(analysis, construct, scorer), name))
        if not names:
            results.append(_people_only(construct, data))
    return results + on_preferences(analysis)


def compared(analysis: Analysis) -> Iterator[Estimate]:
    """The comparisons from which verdicts make claims: of order, of level, of categories."""
    for construct, scorer in verdict_subjects(analysis):
        facts = VerdictFacts(analysis, construct, scorer)
        if facts.nominal:
            yield from facts.select("kappa_difference", scorer=scorer)[:1]
            continue
        yield from (by.difference for by in (facts.order, facts.distance) if by is not None)
        if facts.bias is not None:
            yield facts.bias


def verdict_subjects(analysis: Analysis) -> list[tuple[str, str]]:
    """The constructs and scorers that a verdict is about."""
    return [
        (construct, name) for construct, _, names in _verdict_subjects(analysis) for name in names
    ]


def _verdict_subjects(analysis: Analysis) -> Iterator[tuple[str, ConstructData, list[str]]]:
    """Each construct with the scorers that have a verdict."""
    preferred = analysis.preferences.constructs if analysis.preferences is not None else ()
    whole = analysis.context.whole
    comparable = any(data.judges or not data.reference_missing for data in whole.values())
    for construct, data in whole.items():
        # People compared responses here and rated none, or only metrics are there, as on retrieval.
        elsewhere = construct in preferred or (comparable and not data.judges)
        if data.reference_missing and elsewhere:
            continue
        judges = data.judges
        # The mean of a judge's distribution is a remark on that judge.
        numbers = [name for name in judges if judge_of_expected(name, judges) is None]
        yield construct, data, numbers or list(data.scorers)


def _verdict(facts: VerdictFacts, name: str) -> Verdict:
    data = facts.data
    fixed = data.reference_kind == "adjudicated" or data.reference_missing is not None
    scope, level = None, ""
    if data.reference_missing:
        statement = fact("no_result", reason=data.reference_missing, name=name)
        comparison: Comparison = "withheld"
    elif facts.nominal:
        statement, comparison = _on_categories(facts, name)
    else:
        statement, comparison = _on_order(facts, name)
        scope = facts.scope
    if not facts.nominal:
        level = " and ".join(map(in_words, (*_level(facts), *_ends(facts))))
    shape = "statement_and_level" if level else "statement"
    return Verdict(
        facts.construct,
        facts.scorer,
        in_words(fact(shape, construct=facts.construct, statement=statement, level=level)),
        comparison,
        scope,
        tuple(map(in_words, notes(facts))),
        "these_raters" if facts.nominal else None if fixed else facts.target,
    )


def _on_order(facts: VerdictFacts, name: str) -> tuple[Fact, Comparison]:
    """The statement on order, and its outcome."""
    plain = facts.first(ORDER, scope=facts.scope)
    if plain is None:
        return _unknown(facts, "order_unknown", ORDER, name), "withheld"
    where = {"where": facts.leading[1], "name": name}
    if facts.order is None:
        found = "order_one_rater" if len(facts.data.raters) == 1 else "order_apart"
        if facts.data.reference_kind == "adjudicated":
            found = "order_adjudicated"
        return fact(found, **where, tau=plain), "withheld"
    comparison = facts.outcome(facts.order)
    statement = fact(
        f"order_{comparison}",
        **where,
        rater=RATERS[facts.target],
        beside=facts.order,
        corrected=facts.corrected_away(facts.order.difference),
    )
    return statement, comparison


def _on_categories(facts: VerdictFacts, name: str) -> tuple[Fact, Comparison]:
    """The statement on categories, and the comparison with a rater."""
    equal = facts.first("equal_categories")
    if equal is None:
        return _unknown(facts, "categories_unknown", "equal_categories", name), "withheld"
    share, beside = fact("same_category", share=equal), facts.on_categories
    if beside is None:
        kappa = facts.first("cohen_kappa")
        with_whom = facts.data.reference_kind == "adjudicated"
        found = "kappa_adjudicated" if with_whom else "kappa_rater"
        found = "chance_unknown" if kappa is None else found
        return fact(found, name=name, kappa=kappa, share=share), "withheld"
    comparison = facts.outcome(beside)
    corrected = facts.corrected_away(beside.difference)
    statement = fact(
        f"categories_{comparison}", name=name, beside=beside, corrected=corrected, share=share
    )
    return statement, comparison


def _unknown(facts: VerdictFacts, found: str, statistic: str, name: str) -> Fact:
    """Why there is no value."""
    scope = {} if facts.nominal else {"scope": facts.scope}
    undefined = facts.select(statistic, scorer=facts.scorer, **scope)
    reason = undefined[0].reason if undefined else "there are no values to compare"
    return fact(found, name=name, reason=reason)


def _level(facts: VerdictFacts) -> Iterator[Fact]:
    """The bias for the raters that the verdict is about, who are named if not raters like these."""
    bias, scale = facts.bias, facts.scale
    if bias is None or not bias.defined:
        return
    ends = (bias.ci_low, bias.ci_high) if bias.has_interval else ()
    if all(is_zero(value, scale) for value in (bias.value, *ends)):
        yield fact("no_bias")
        return
    whom = _whom(facts, bias) if ends else "on these responses"
    name, sided, corrected = "bias_not_shown", ends, facts.corrected_away(bias)
    way = "lenient" if bias.value > 0 else "strict"
    if facts.bias_shown or not ends:
        name, sided = "biased", (bias.value, *ends)
    if name == "biased" and way == "strict":
        # "6 points too strict" carries the sign in its words, so its interval does not.
        bias = replace(bias, value=-bias.value, ci_low=-bias.ci_high, ci_high=-bias.ci_low)
    yield fact(
        name,
        way=way,
        amount=amount(bias.value, scale, sided),
        interval=between(bias, scale, in_points=True),
        where=", ".join(filter(None, (whom, on_scale(scale)))),
        corrected=corrected,
    )


def _whom(facts: VerdictFacts, bias: Estimate) -> str:
    """The raters that an interval is for, unless it is for raters like these."""
    if bias.target == "raters_like_these" or facts.data.reference_kind == "adjudicated":
        return ""
    return "for this rater" if len(facts.data.raters) == 1 else "for these raters"


def _ends(facts: VerdictFacts) -> Iterator[Fact]:
    """Shares of scores at an end, where many are and the scale has a middle."""
    for end, name in (("max", "maximum"), ("min", "minimum")):
        share = facts.first(f"share_at_{end}", scope="pooled")
        if share is not None and share.value >= NOTABLE_SHARE and not facts.two_valued:
            yield fact("many_at_end", share=share, end=name)


def _people_only(construct: str, data: ConstructData) -> Verdict:
    n = int(np.isfinite(data.ratings).any(axis=1).sum())
    found = fact("people_only" if n else "no_scores", construct=construct, n=n)
    return Verdict(construct, "", in_words(found), "withheld")


def on_preferences(analysis: Analysis) -> list[Verdict]:
    """How scorers' differences correlate with people's preferences, by construct."""
    if analysis.preferences is None:
        return []
    return [
        Verdict(construct, scorer, in_words(found), "withheld", "pooled" if scorer else None)
        for construct in analysis.preferences.constructs
        if (raters := set(analysis.preferences.scorers(construct, "human")))
        for scorer, found in _beside_preferences(analysis, construct, raters)
    ]


def _beside_preferences(
    analysis: Analysis, construct: str, raters: set[str]
) -> Iterator[tuple[str, Fact]]:
    """Each scorer with what is found; one fact without a scorer where there is none."""
    on = analysis.estimates.select("pearson", construct=construct, on="preferences")
    on = [e for e in on if e.defined]
    rater_correlations = [e.value for e in on if set(e.scorers) <= raters]
    scorer_estimates = [e for e in on if not set(e.scorers) <= raters]
    mean = (
        {"n": len(rater_correlations), "mean": sum(rater_correlations) / len(rater_correlations)}
        if rater_correlations
        else {}
    )
    for e in scorer_estimates:
        among = fact("among_raters", **mean) if mean else None
        yield e.scorers[0], _preferred(analysis, construct, e, among)
    if not scorer_estimates:
        statement = fact("preferences_correlate", **mean) if mean else "people gave preferences"
        yield "", fact("only_preferences", construct=construct, statement=statement)


def _preferred(analysis: Analysis, construct: str, e: Estimate, among: Fact | None) -> Fact:
    """A scorer's own preferences beside people's, or how differences of its scores correlate."""
    scorer = e.scorers[0]
    accuracy = VerdictFacts(analysis, construct, scorer).first("preference_accuracy")
    prefers = analysis.preferences and scorer in analysis.preferences.scorers(construct)
    slots = {"construct": construct, "scorer": scorer}
    if prefers and accuracy is not None:
        return fact("own_preferences", **slots, accuracy=accuracy)
    return fact("score_differences", **slots, r=e, among=among)


def with_contradictions(analysis: Analysis, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts with the notes that need every figure.

    They are on figures of the scorer that contradict each other or rest on one query.
    """
    results = []
    for verdict in verdicts:
        facts = VerdictFacts(analysis, verdict.construct, verdict.scorer)
        found = (
            *contradictions(facts),
            *beside_metrics(analysis, verdict.construct, verdict.scorer),
            *influence_notes(facts, verdict.comparison),
        )
        results.append(replace(verdict, notes=(*verdict.notes, *map(in_words, found))))
    return tuple(results)
