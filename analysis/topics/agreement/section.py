"""Section of the report: judges and metrics against people."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.core.analysis import Analysis
from analysis.core.estimates import Estimate
from analysis.render.formatting import between, correlation, counted, listed, percent, points
from analysis.render.section import Section
from analysis.render.verdict_facts import VerdictFacts
from analysis.topics.agreement import (
    absolute_agreement,
    alternative_annotator,
    association,
    by_group,
    categories,
    concordance,
    decisions,
    equal_values,
    figures,
    human_ceiling,
    judge_and_metrics,
    judge_comparison,
    judge_comparison_tables,
    labeled_claims,
    largest_disagreements,
    non_inferiority,
    order_of_presentation,
    pairwise_accuracy,
    preferences,
    preferences_beside_raters,
    preferred_choices,
    preferred_systems,
    published_figures,
    retrieved_for_low,
    scorers_compared,
    sensitivity,
    tables,
    unopened_passages,
)


def reading(analysis: Analysis) -> Iterator[str]:
    """What the agreement means for a pair of responses, one response and a pair of systems."""
    judge = _judge(analysis)
    if judge is None:
        return
    yield from _pairs(analysis, judge)
    yield from _limits(analysis, judge)
    yield from _decisions(analysis, judge)
    yield from _stands_in(analysis, judge)
    yield from _declared(analysis, judge)
    yield from judge_comparison_tables.reading(analysis)
    yield from judge_and_metrics.reading(analysis)
    yield from scorers_compared.reading(analysis)
    yield from order_of_presentation.reading(analysis)
    yield from retrieved_for_low.reading(analysis)


def compared(analysis: Analysis) -> Iterator[Estimate]:
    """The differences between judges of which claims are made."""
    yield from judge_comparison_tables.compared(analysis)


def _judge(analysis: Analysis) -> str | None:
    """The first judge, else the first metric; the tables have the others."""
    kinds = analysis.scorer_kinds
    scorers = [name for data in analysis.rated.values() for name in data.scorers]
    return next((name for name in scorers if kinds.get(name) == "judge"), next(iter(scorers), None))


def _pairs(analysis: Analysis, judge: str) -> Iterator[str]:
    for scope, responses in (
        ("within_query", "two responses to a query"),
        ("pooled", "two responses"),
    ):
        accuracies = _by_construct(
            analysis, "pairwise_accuracy", judge, scope=scope, calibration="none"
        )
        if not accuracies:
            continue
        shares = [f"{percent(e.value)} {_percents(e)} on {e.constructs[0]}".replace("  ", " ")
                for e in accuracies]  # fmt: skip
        yield (
            f"Of {responses}, {judge} prefers the one that people prefer, or ties what they tie, "
            f"in {listed(shares)}."
        )
        return


def _limits(analysis: Analysis, judge: str) -> Iterator[str]:
    lower = _by_construct(analysis, "bland_altman_lower", judge)
    ranges = []
    for e in lower:
        high = analysis.estimates.first(
            "bland_altman_upper", construct=e.constructs[0], scorer=judge
        )
        scale = analysis.context.human_scale(e.constructs[0])
        if high is not None and high.defined:
            ranges.append(
                f"{points(e.value, scale)} to {points(high.value, scale)} on {e.constructs[0]}"
            )
    if ranges:
        yield (
            f"On a single response {judge} differs from people by {listed(ranges)} (points, limits "
            "of agreement)."
        )


def _decisions(analysis: Analysis, judge: str) -> Iterator[str]:
    agreements = _by_construct(analysis, "decision_agreement", judge)
    if not agreements:
        return
    counts = [
        f"{_count(e, 'same') + _count(e, 'neither')} of {_count(e, 'pairs')} on {e.constructs[0]}"
        for e in agreements
    ]
    opposite = sum(_count(e, "opposite") for e in agreements)
    apart = any(e.value < 1 for e in agreements)
    against = "; none is opposite" if apart else ""
    if opposite:
        against = f"; {counted(opposite, 'decision')} opposite"
    yield f"Pairs of systems that {judge} and people decide alike: {listed(counts)}{against}."


def _count(e: Estimate, name: str) -> int:
    return int(str(e.params[name]))


def _stands_in(analysis: Analysis, judge: str) -> Iterator[str]:
    rates = [
        e
        for e in _by_construct(analysis, "alt_test_winning_rate", judge)
        if e.params["alignment"] in {"rmse", "equality"}
    ]
    if not rates:
        return
    parts = []
    for passed, words in (
        ("yes", "passes the alternative annotator test on"),
        ("no", "does not pass it on"),
        ("withheld", "gets no verdict, since a constant passes as well, on"),
    ):
        names = [e.constructs[0] for e in rates if e.params["passed"] == passed]
        if names:
            parts.append(f"{words} {listed(names)}")
    if "passes" not in parts[0]:
        parts[0] = parts[0].replace("pass it", "pass the alternative annotator test")
        parts[0] = parts[0].replace("no verdict", "no verdict by the alternative annotator test")
    yield f"{judge} {'; it '.join(parts)} (epsilon {rates[0].params['epsilon']:g})."


def _declared(analysis: Analysis, judge: str) -> Iterator[str]:
    for scope, where in (("within_query", " within a query"), ("pooled", " over all responses")):
        differences = [
            e
            for e in _by_construct(analysis, "non_inferiority", judge, scope=scope)
            if e.params["non_inferior"]
            and e.target == VerdictFacts(analysis, e.constructs[0], judge).target
        ]
        for whom, rater in non_inferiority.RATER.items():
            outcomes = [
                f"{'is shown' if e.params['non_inferior'] == 'yes' else 'is not shown'} on "
                f"{e.constructs[0]} ({correlation(e.value)} {between(e)})"
                for e in differences
                if e.target == whom
            ]
            if outcomes:
                margin = correlation(float(str(differences[0].params["margin"])))
                yield (
                    f"That {judge} is not worse than {rater} by more than {margin}{where} "
                    f"{listed(outcomes)}."
                )
        if differences:
            break
    equal = _by_construct(analysis, "equivalence_p", judge)
    if equal:
        outcomes = [
            f"{'is' if e.params['equivalent'] == 'yes' else 'is not shown to be'} within it on "
            f"{e.constructs[0]}"
            for e in equal
        ]
        yield f"Margin of {equal[0].params['margin']:g} points: the bias {listed(outcomes)}."


def _by_construct(analysis: Analysis, statistic: str, judge: str, **where: str) -> list[Estimate]:
    """The defined records of a scorer, the one examined, one after the other."""
    estimates = analysis.estimates.select(statistic, scorer=judge, **where)
    return [e for e in estimates if e.defined and e.scorers[0] == judge]


def _percents(e: Estimate) -> str:
    return f"[{percent(e.ci_low)}, {percent(e.ci_high)}]" if e.has_interval else ""


SECTION = Section(
    key="agreement",
    title="Judge against people",
    statistics=(
        *association.STATISTICS,
        *by_group.STATISTICS,
        *human_ceiling.STATISTICS,
        *concordance.STATISTICS,
        *absolute_agreement.STATISTICS,
        *equal_values.STATISTICS,
        *categories.STATISTICS,
        *pairwise_accuracy.STATISTICS,
        *decisions.STATISTICS,
        *judge_comparison.STATISTICS,
        *judge_and_metrics.STATISTICS,
        *alternative_annotator.STATISTICS,
        *non_inferiority.STATISTICS,
        *sensitivity.STATISTICS,
        *preferences.STATISTICS,
        *preferred_choices.STATISTICS,
        *preferences_beside_raters.STATISTICS,
        *order_of_presentation.STATISTICS,
        *preferred_systems.STATISTICS,
        *unopened_passages.STATISTICS,
        *retrieved_for_low.STATISTICS,
    ),
    figures=(
        figures.ceiling,
        figures.against_humans,
        figures.bland_altman,
    ),
    tables=(
        tables.against_humans,
        by_group.by_group_table,
        tables.ceiling,
        non_inferiority.non_inferiority_table,
        sensitivity.without_one_table,
        alternative_annotator.alternative_annotator_table,
        tables.in_value,
        tables.equivalence,
        categories.kappas_table,
        categories.against_a_rater,
        categories.confusions,
        pairwise_accuracy.pairwise_table,
        judge_comparison_tables.ranks_table,
        judge_comparison_tables.differences_table,
        scorers_compared.scorer_tables,
        decisions.decisions_table,
        decisions.disagreements_table,
        largest_disagreements.largest_disagreements_table,
        labeled_claims.labeled_claims_table,
        tables.corrected_for_error,
        unopened_passages.without_unopened,
        preferences.preferences_table,
        preferred_choices.preference_accuracy_table,
        preferred_choices.choice_accuracy_table,
        preferences_beside_raters.majority_table,
        published_figures.published_figures,
        order_of_presentation.order_table,
        preferred_systems.preferred_systems_table,
    ),
    details=(
        "averaged-by-group",
        "human-ceiling",
        "without-one",
        "alternative-annotator",
        "agreement-in-value",
        "pairwise-accuracy",
        "decisions",
        "corrected-for-error",
    ),
    reading=reading,
    compared=compared,
    joint=judge_and_metrics.joint,
    on_categories=(
        reading,
        alternative_annotator.alternative_annotator_table,
        categories.kappas_table,
        categories.against_a_rater,
        categories.confusions,
        judge_comparison_tables.ranks_table,
        judge_comparison_tables.differences_table,
        published_figures.published_figures,
    ),
)
