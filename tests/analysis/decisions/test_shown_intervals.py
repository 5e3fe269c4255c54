"""No answer is shown beside an interval that contradicts it, for any figures."""

import math

import pytest
from hypothesis import given, strategies as st

from analysis import Options, Scale
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.answers import answered
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.records import UseDecision

pytestmark = pytest.mark.hypothesis

MARGIN = 5.0
FIGURE = st.tuples(
    st.floats(-15, 15), st.floats(0.01, 8), st.sampled_from([2.0, 9.0, 99.0, math.inf])
)


def bias(construct: str, judge: str, value: float, error: float, df: float) -> Estimate:
    uncertainty = Uncertainty((error**2,), (df,))
    low, high = uncertainty.interval(value, 0.025)
    return Estimate(
        "bias", (construct,), (judge, "anna"), target="these_raters", value=value, ci_low=low,
        ci_high=high, ci_level=0.95, n_queries=30, n_raters=1, uncertainty=uncertainty,
    )  # fmt: skip


def order(construct: str, judge: str) -> Estimate:
    return Estimate(
        "kendall_tau_b", (construct,), (judge, "anna"), target="these_raters", value=0.8,
        ci_low=0.7, ci_high=0.9, ci_level=0.95, n_queries=30, n_raters=1,
        uncertainty=Uncertainty((0.01,), (29.0,), "fisher_z"),
    )  # fmt: skip


def of_figures(figures: list[list[tuple[float, float, float]]]) -> list[UseDecision]:
    """The answers on the level for judges (rows) on constructs (columns)."""
    records, facts = [], []
    for row, of_judge in enumerate(figures):
        for column, figure in enumerate(of_judge):
            construct, judge = f"C{column}", f"judge-{row}"
            records += [bias(construct, judge, *figure), order(construct, judge)]
            facts.append(
                ScoredFacts(
                    construct,
                    judge,
                    people=("anna",),
                    n_responses=30,
                    n_queries=30,
                    human_scale=Scale(0, 100),
                    scorer_scale=Scale(0, 100),
                )
            )
    return answered(EstimateList(tuple(records)), facts, Options(), ["report_level"])


@given(st.integers(1, 3).flatmap(
    lambda m: st.lists(st.lists(FIGURE, min_size=m, max_size=m), min_size=1, max_size=3)
))  # fmt: skip
def test_the_interval_is_the_one_that_decides(
    figures: list[list[tuple[float, float, float]]],
) -> None:
    found = of_figures(figures)
    for decision in found:
        assert decision.binding is not None
        e = decision.binding.estimate
        if e.statistic != "bias":
            continue
        inside = e.ci_low >= -MARGIN and e.ci_high <= MARGIN
        outside = e.ci_low >= MARGIN or e.ci_high <= -MARGIN
        near = min(abs(abs(end) - MARGIN) for end in (e.ci_low, e.ci_high)) < 1e-6
        if near:
            continue
        assert inside == (decision.answer == "yes"), decision
        assert outside == (decision.answer == "no"), decision


@given(st.lists(FIGURE, min_size=1, max_size=4))
def test_the_judge_as_a_whole_agrees_with_its_constructs(
    figures: list[tuple[float, float, float]],
) -> None:
    whole, *others = of_figures([figures])
    assert whole.construct is None
    answers = {d.answer for d in others}
    assert (whole.answer == "yes") == (answers == {"yes"})
    assert (whole.answer == "no") == ("no" in answers)
    if whole.probability is not None:
        known = [d.probability for d in others if d.probability is not None]
        assert whole.probability <= min(known, default=1.0) + 1e-12


@given(FIGURE)
def test_yes_and_no_take_precedence_over_the_chance(figure: tuple[float, float, float]) -> None:
    (whole, _) = of_figures([[figure]])
    uncertainty = Uncertainty((figure[1] ** 2,), (figure[2],))
    chance = uncertainty.probability(figure[0], -MARGIN, MARGIN)
    assert (whole.probability is None) == (whole.answer in {"yes", "no"})
    if whole.answer == "likely":
        assert whole.probability == pytest.approx(chance)
        assert chance >= 0.8
    elif whole.answer == "unlikely":
        assert chance <= 0.2
    elif whole.answer == "yes":
        # Both one-sided tests at .05 leave at most .1 outside.
        assert chance >= 0.9
