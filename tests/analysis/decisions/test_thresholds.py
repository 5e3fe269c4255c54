"""What decides, at the values where it decides: doubled p-values, corrections, shares."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis import Options, Scale
from analysis.core.estimates import Estimate, EstimateList
from analysis.core.uncertainty import Uncertainty
from analysis.decisions.answers import answered
from analysis.decisions.bias_by_system import for_raters_like_these, pulled_to_mean
from analysis.decisions.facts import ScoredFacts
from analysis.decisions.limits import limits
from analysis.decisions.questions import Question
from analysis.decisions.records import Answer
from analysis.decisions.standards import standards
from analysis.decisions.system_order import _Pair, _pair
from analysis.decisions.table_facts import scored_facts
from tests.analysis.decisions.test_answers import reported
from tests.analysis.scores import simulated

POINTS = Scale(0, 100)
RECORD = {"constructs": ("QR",), "scorers": ("judge", "anna"), "target": "these_raters"}


def pair(people: float, judge: float, people_error: float = 2.0, judge_error: float = 1.0) -> _Pair:
    params = {"people": people, "judge": judge, "people_error": people_error,
              "judge_error": judge_error, "people_df": None, "judge_df": None}  # fmt: skip
    found = _pair(Estimate("decision", value=1.0, systems=("a", "b"), params=params, **RECORD))
    assert found is not None
    return found


def test_a_cost_is_excluded_to_both_sides_so_that_its_p_is_doubled() -> None:
    # People: 1 [error 2]; the judge's sign is opposite, but not for sure.
    found = pair(people=1.0, judge=-0.5)
    above = min(stats.norm.sf((5 - 1) / 2), stats.norm.sf(-0.5))
    below = min(stats.norm.sf((1 + 5) / 2), stats.norm.sf(0.5))
    assert found.p_costly(5.0) == pytest.approx(2 * max(above, below))


def test_the_chance_of_a_cost_needs_people_beyond_the_margin_and_the_judge_wrong() -> None:
    found = pair(people=4.0, judge=0.5)
    costly = stats.norm.sf((5 - 4) / 2) * stats.norm.sf(0.5)
    costly += stats.norm.sf((4 + 5) / 2) * stats.norm.cdf(0.5)
    assert found.probability(5.0) == pytest.approx(1 - costly)


def test_a_judge_whose_differences_are_peoples_costs_nothing() -> None:
    found = pair(people=-3.6, judge=-3.6, people_error=4.0, judge_error=4.0)
    assert found.p_costly(5.0) > 0.05
    same = replace(found, apart=(0.0, Uncertainty((0.0,), (np.inf,))))
    assert same.p_costly(5.0) == 0
    assert same.probability(5.0) == 1
    near = replace(found, apart=(0.0, Uncertainty((4.0,), (np.inf,))))
    assert near.p_costly(5.0) == pytest.approx(stats.norm.sf(5 / 2) / 0.1)


def bias(value: float, p_outside: float, scope: str = "pooled") -> Estimate:
    """A bias above 5 points with this one-sided p of being inside, or far inside with none."""
    error = abs(value - 5) / stats.norm.isf(p_outside)
    uncertainty = Uncertainty((error**2,), (np.inf,))
    low, high = uncertainty.interval(value, 0.025)
    return Estimate(
        "bias", scope=scope, value=value, ci_low=low, ci_high=high, ci_level=0.95, n_queries=50,
        n_raters=1, uncertainty=uncertainty, **RECORD,
    )  # fmt: skip


ORDER = Estimate(
    "kendall_tau_b", value=0.8, ci_low=0.7, ci_high=0.9, ci_level=0.95, n_queries=50, n_raters=1,
    uncertainty=Uncertainty((0.01,), (29.0,), "fisher_z"), **RECORD,
)  # fmt: skip
SYSTEMS = ("a", "b", "c", "d")


def level_answers(constructs: Sequence[str], p: float) -> list[Answer]:
    """Answers on the level, where only the first construct has a bias on a system."""
    facts, figures = [], []
    for construct in constructs:
        value = 8.0 if construct == constructs[0] else 0.0
        on_systems = [bias(value, p, "system:a")]
        on_systems += [bias(0.0, 0.0001, f"system:{name}") for name in SYSTEMS[1:]]
        of_construct = [bias(0.0, 0.0001), *on_systems, ORDER]
        figures += [replace(e, constructs=(construct,)) for e in of_construct]
        facts.append(
            ScoredFacts(
                construct,
                "judge",
                people=("anna",),
                n_responses=50,
                n_queries=50,
                systems=SYSTEMS,
                human_scale=POINTS,
                scorer_scale=POINTS,
            )
        )
    found = answered(EstimateList(tuple(figures)), facts, Options(), ["report_level"])
    return [d.answer for d in found]


@pytest.mark.parametrize(("p", "answer"), [(0.00245, "no"), (0.00255, "yes")])
def test_a_bias_on_one_of_four_systems_is_held_to_a_fourth_of_one_percent(
    p: float, answer: str
) -> None:
    assert set(level_answers(["QR"], p)) == {answer}


@pytest.mark.parametrize(("p", "no"), [(0.00120, True), (0.00130, False)])
def test_a_bias_on_a_system_is_held_to_a_smaller_p_where_two_constructs_are_asked(
    p: float, no: bool
) -> None:
    assert ("no" in level_answers(["QR", "CC"], p)) == no


@pytest.mark.parametrize(("p", "answer"), [(0.039, "no"), (0.041, "unlikely")])
def test_a_bias_over_all_has_the_rest_of_the_error_beside_systems(p: float, answer: str) -> None:
    """A no by either is false in at most 5%: 1% is left for the bias on a system."""
    systems = ("a", "b")
    of_systems = [bias(6.0, 0.2, f"system:{name}") for name in systems]
    facts = ScoredFacts(
        "QR", "judge", people=("anna",), n_queries=50, systems=systems, human_scale=POINTS
    )
    figures = EstimateList((bias(8.0, p), *of_systems, ORDER))
    whole, _ = answered(figures, [facts], Options(), ["report_level"])
    assert (whole.answer, whole.alpha) == (answer, pytest.approx(0.04))


@pytest.mark.parametrize(("p", "answer"), [(0.024, "no"), (0.026, "unlikely")])
def test_two_rates_have_half_of_the_error_of_a_no_each(p: float, answer: str) -> None:
    """They are of different responses, so that their errors add up."""
    figures = []
    for statistic, value, p_below in (
        ("true_positive_rate", 0.7, p),
        ("true_negative_rate", 0.8, 0.5),
    ):
        error = 0.1 / stats.norm.isf(p_below) if p_below < 0.5 else 0.1
        uncertainty = Uncertainty((error**2,), (np.inf,))
        low, high = uncertainty.interval(value, 0.025)
        figures.append(
            Estimate(
                statistic, scope="pooled", value=value, ci_low=low, ci_high=high, ci_level=0.95,
                n_queries=50, n_raters=1, uncertainty=uncertainty, **RECORD,
            )
        )  # fmt: skip
    scale = Scale(0, 1, 1)
    facts = ScoredFacts("QR", "judge", people=("anna",), n_queries=50, human_scale=scale)
    whole, _ = answered(EstimateList(tuple(figures)), [facts], Options(), ["report_level"])
    assert (whole.answer, whole.alpha) == (answer, pytest.approx(0.025))


def test_a_bias_over_all_is_shown_where_it_refuses_as_that_on_a_system_does() -> None:
    systems = ("a", "b")
    of_systems = [bias(9.0, 0.0001, f"system:{name}") for name in systems]
    facts = ScoredFacts(
        "QR", "judge", people=("anna",), n_queries=50, systems=systems, human_scale=POINTS
    )
    figures = EstimateList((bias(8.0, 0.001), *of_systems, ORDER))
    whole, _ = answered(figures, [facts], Options(), ["report_level"])
    assert whole.answer == "no"
    assert whole.binding is not None
    assert whole.binding.estimate.scope == "pooled"


@pytest.mark.parametrize(("share", "named"), [(0.049, False), (0.051, True)])
def test_missing_scores_are_named_from_a_twentieth_on(share: float, named: bool) -> None:
    facts = ScoredFacts("QR", "judge", people=("anna",), human_scale=POINTS, missing_share=share)
    question = Question(EstimateList(()), facts, standards(Options(), POINTS, 1))
    assert bool(list(limits(question))) == named


def test_the_share_of_missing_scores_is_of_the_rated_responses() -> None:
    table = simulated(queries=40, raters=2)
    judged = table["scorer_kind"] == "judge"
    rated = table["system"] == table["system"].min()
    table = table[judged | rated]
    # Of the rated responses the judge lacks those of four queries, of the others all but those.
    four = table["query_id"].isin(sorted(table["query_id"].unique())[:4])
    lacking = (table["scorer_kind"] == "judge") & (
        four == (table["system"] == table["system"].min())
    )
    analysis = reported(table.assign(value=table["value"].mask(lacking)))
    facts = scored_facts(analysis, "QR", "judge")
    assert facts.missing_share == pytest.approx(1 / 10)


def test_biases_of_systems_are_pulled_to_their_mean_by_chance() -> None:
    # Errors of 2 explain a variance of 4 of the 7 between 0, 2 and 5 (DerSimonian and Laird).
    biases = [bias(value, 0.05) for value in (0.0, 2.0, 4.9)]
    equal = [
        Estimate("bias", value=e.value, uncertainty=Uncertainty((4.0,), (50.0,)), **RECORD)
        for e in biases
    ]
    mean = np.mean([0, 2, 4.9])
    between = max(0.0, (sum((v - mean) ** 2 for v in (0, 2, 4.9)) / 4 - 2) / (3 / 4 - 1 / 4))
    expected = [mean + between / (between + 4) * (v - mean) for v in (0, 2, 4.9)]
    assert pulled_to_mean(equal) == pytest.approx(expected)
    assert 0 < between < 7


def test_a_severe_panel_moves_every_system_alike() -> None:
    # For raters like these the error of the raters' severity is in the bias on a system too.
    of_panel = bias(8.0, 0.0001, "system:a")
    further = replace(
        bias(6.0, 0.2),
        target="raters_like_these",
        uncertainty=Uncertainty((1.0, 9.0), (np.inf, 2.0)),
    )
    found = for_raters_like_these(of_panel, further)
    assert found is not None
    assert found.uncertainty is not None
    assert of_panel.uncertainty is not None
    assert found.uncertainty.variances == (*of_panel.uncertainty.variances, 9.0)
    assert found.uncertainty.dfs == (*of_panel.uncertainty.dfs, 2.0)
    assert found.uncertainty.p_at_most(8.0, 5.0) > 0.1
    assert for_raters_like_these(None, further) is None
