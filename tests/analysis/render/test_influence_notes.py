"""A verdict names the query on which its agreement or its statement on order rests."""

from types import SimpleNamespace
from typing import Any

import pytest

from analysis.core.estimates import Estimate, EstimateList
from analysis.core.statistic import Target
from analysis.render.sentences import in_words
from analysis.render.verdict_facts import Comparison, VerdictFacts
from analysis.render.verdict_notes import influence_notes


class OfTheseRaters(VerdictFacts):
    """Facts on a graded construct, without the figures from which they would be found."""

    nominal = False
    scope = "within_query"
    target: Target = "these_raters"


def without(statistic: str, name: str, value: float, ends: tuple[float, float]) -> Estimate:
    """A figure of the judge on QR without the query of this name; of all queries it is .5."""
    return Estimate(
        statistic,
        constructs=("QR",),
        scorers=("judge",),
        scope="within_query",
        target="these_raters",
        value=value,
        ci_low=ends[0],
        ci_high=ends[1],
        params={"name": name, "left_out": "query", "measure": "kendall_tau_b", "whole": 0.5},
    )


def noted(comparison: Comparison, *estimates: Estimate) -> list[str]:
    analysis: Any = SimpleNamespace(estimates=EstimateList(estimates))
    facts = OfTheseRaters(analysis, "QR", "judge")
    return [in_words(found) for found in influence_notes(facts, comparison)]


DIFFERENCES = (
    without("difference_without_query", "q1", -0.12, (-0.2, -0.04)),
    without("difference_without_query", "q2", -0.08, (-0.17, 0.01)),
)


def test_a_statement_on_order_that_rests_on_one_query_names_it() -> None:
    (note,) = noted("worse", *DIFFERENCES)
    assert note.startswith("The statement on order rests on one query: without q2, ")
    assert note.endswith(" (difference -.08 [-.17, .01]).")


def test_a_verdict_that_claims_no_difference_rests_on_no_query() -> None:
    assert noted("undecided", *DIFFERENCES) == []
    assert noted("worse", DIFFERENCES[0]) == []


@pytest.mark.parametrize(("tau", "named"), [(0.39, True), (0.41, False)])
def test_a_query_that_changes_the_agreement_is_named(tau: float, named: bool) -> None:
    left_out = without("agreement_without_one", "q7", tau, (0.1, 0.9))
    sentence = (
        "One query changes the agreement with people: without q7, tau-b is .39 in place of .50."
    )
    assert noted("undecided", left_out) == ([sentence] if named else [])
