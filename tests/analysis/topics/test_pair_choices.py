"""Judges' own preferences: order of presentation, order of systems, agreement with people."""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from analysis import Options, PreferenceTable, Scale, analyse
from analysis.core.estimates import EstimateList
from tests.analysis.scores import rows, table

SYSTEMS = ("bm25", "dense", "rerank")


def compared(
    choices: list[tuple[int, int, int, float, float]],
    people: Sequence[tuple[int, int, int, float]] = (),
    *,
    systems: bool = True,
) -> EstimateList:
    """Estimates from (query, system a, system b, choice with a first, choice with b first)."""
    records: list[tuple[int, int, int, str, str, float, float, float]] = []
    for query, a, b, a_first, b_first in choices:
        known = np.isfinite(a_first) and np.isfinite(b_first)
        value = (a_first if a_first == b_first else 0.0) if known else np.nan
        records.append((query, a, b, "judge", "judge", value, a_first, b_first))
    records += [(q, a, b, "ann", "human", value, np.nan, np.nan) for q, a, b, value in people]
    frame = pd.DataFrame(
        {
            "query_id": [f"q{record[0]}" for record in records],
            "response_a": [f"q{record[0]}-{SYSTEMS[record[1]]}" for record in records],
            "response_b": [f"q{record[0]}-{SYSTEMS[record[2]]}" for record in records],
            "construct": "QR",
            "scorer": [record[3] for record in records],
            "scorer_kind": [record[4] for record in records],
            "value": [record[5] for record in records],
            "value_a_first": [record[6] for record in records],
            "value_b_first": [record[7] for record in records],
        }
    )
    names = {*frame["response_a"], *frame["response_b"]}
    if systems:
        frame.attrs["systems"] = {name: (name.split("-")[1],) for name in names}
    scores = table(
        rows(
            {
                "response_id": "other",
                "query_id": "q0",
                "scorer": "metric",
                "scorer_kind": "metric",
                "value": 0.5,
            }
        ),
        Scale(0, 1),
    )
    passed = PreferenceTable.from_frame(frame, Scale(-2, 2))
    return analyse(scores, passed, Options(resamples=100)).estimates


def test_position_bias_and_consistency_by_hand() -> None:
    # a by both orders; the first shown twice (+1 each way); the second shown; a tie in one order.
    estimates = compared([(1, 0, 1, -1, -1), (2, 0, 1, -1, 1), (3, 0, 1, -1, 1), (4, 0, 1, 1, 0)])
    consistent = estimates.first("order_consistency", scorer="judge")
    bias = estimates.first("position_bias", scorer="judge")
    assert consistent is not None
    assert bias is not None
    assert consistent.value == 1 / 4
    # Choices of the first minus of the second, of two presentations: 0, +1, +1, -1/2.
    assert bias.value == pytest.approx((0 + 1 + 1 - 0.5) / 4)
    assert (bias.n_responses, bias.n_queries, bias.n_dropped) == (4, 4, 0)


def test_a_pair_with_one_choice_is_counted_as_left_out() -> None:
    estimates = compared([(1, 0, 1, -1, -1), (2, 0, 1, -1, np.nan)])
    e = estimates.first("order_consistency", scorer="judge")
    assert e is not None
    assert (e.value, e.n_responses, e.n_dropped) == (1, 1, 1)


def test_no_order_is_known_of_preferences_without_it() -> None:
    assert not compared([], [(1, 0, 1, 1.0), (2, 0, 1, -1.0)]).select("position_bias")


def test_systems_are_ordered_by_people_and_by_each_judge() -> None:
    choices = [(q, a, b, 1.0, 1.0) for q in range(8) for a, b in ((0, 1), (0, 2), (1, 2))]
    # One query the other way round: else no strength would be finite.
    choices += [(8, a, b, -1.0, -1.0) for a, b in ((0, 1), (0, 2), (1, 2))]
    people = [(q, 0, 1, 2.0 if q % 3 else -1.0) for q in range(9)]
    estimates = compared(choices, people)
    judge = {e.systems[0]: e for e in estimates.select("bradley_terry", by="judge")}
    order = sorted(judge, key=lambda name: judge[name].value)
    assert order == ["bm25", "dense", "rerank"]
    assert sum(e.value for e in judge.values()) == pytest.approx(0)
    assert judge["dense"].n_responses == 27
    by_people = {e.systems[0]: e for e in estimates.select("bradley_terry", by="people")}
    # 6 wins of 9: log(6 / 3), half on each side.
    assert by_people["dense"].value == pytest.approx(np.log(2) / 2)
    assert by_people["dense"].has_interval
    assert by_people["dense"].scorers == ("ann",)


def test_a_judge_without_a_lost_comparison_has_no_strength_and_says_why() -> None:
    estimates = compared([(q, 0, 1, 1.0, 1.0) for q in range(5)])
    for e in estimates.select("bradley_terry"):
        assert not e.defined
        assert "win or lose every comparison" in str(e.reason)


def test_systems_come_from_the_scores_where_the_preferences_do_not_name_them() -> None:
    assert not compared([(1, 0, 1, 1.0, 1.0)], systems=False).select("bradley_terry")


def test_a_judge_that_names_a_pair_in_the_other_order_agrees_all_the_same() -> None:
    people = [(q, 0, 1, 1.0 if q % 2 else -1.0) for q in range(6)]
    turned = [(q, 1, 0, -1.0 if q % 2 else 1.0, -1.0 if q % 2 else 1.0) for q in range(6)]
    e = compared(turned, people).first("preference_accuracy", scorer="judge")
    assert e is not None
    assert (e.value, e.n_responses) == (1, 6)


def test_queries_that_only_a_judge_compared_are_not_rated() -> None:
    people = [(q, 0, 1, 1.0 if q % 2 else -1.0) for q in range(6)]
    choices = [(q, 0, 1, 1.0 if q % 2 else -1.0, 1.0 if q % 2 else -1.0) for q in range(12)]
    estimates = compared(choices, people)
    accuracy = estimates.first("preference_accuracy", scorer="judge")
    consistent = estimates.first("order_consistency", scorer="judge")
    assert accuracy is not None
    assert consistent is not None
    assert (accuracy.n_queries, consistent.n_queries) == (6, 12)


@pytest.mark.slow
@pytest.mark.parametrize("lean", [0.0, 0.3])
def test_the_intervals_of_position_bias_cover(lean: float) -> None:
    generator = np.random.default_rng(11)
    simulations, queries, covered = 60, 40, 0
    for _ in range(simulations):
        choices = []
        for q in range(queries):
            taste = generator.normal(0, 0.5)
            for a, b in ((0, 1), (0, 2), (1, 2)):
                a_first, b_first = generator.normal((taste - lean, taste + lean), 1)
                choices.append((q, a, b, float(np.sign(a_first)), float(np.sign(b_first))))
        e = compared(choices).first("position_bias", scorer="judge")
        assert e is not None
        # P(normal with deviation sqrt(1 + .25) below the lean), twice, minus 1.
        truth = NormalDist(0, np.sqrt(1.25)).cdf(lean) * 2 - 1
        covered += e.ci_low <= truth <= e.ci_high
    # Three standard errors of 60 simulations.
    assert covered / simulations >= 0.95 - 0.085


def test_choices_are_compared_with_peoples_ratings_of_the_two() -> None:
    # People rate a and b: b higher, a higher, equal, b higher, and b unrated.
    ratings = [(10, 20), (30, 20), (40, 40), (1, 2), (5, None)]
    # The judge: b, b, a tie, a tie, b. Right on the first and the third of four.
    choices = [1.0, 1.0, 0.0, 0.0, 1.0]
    rated = rows(
        *(
            {
                "response_id": f"q{q}-{system}",
                "query_id": f"q{q}",
                "scorer": "ann",
                "scorer_kind": "human",
                "value": value,
            }
            for q, values in enumerate(ratings)
            for system, value in zip("ab", values, strict=True)
            if value is not None
        )
    )
    frame = pd.DataFrame(
        {
            "query_id": [f"q{q}" for q in range(5)],
            "response_a": [f"q{q}-a" for q in range(5)],
            "response_b": [f"q{q}-b" for q in range(5)],
            "construct": "QR",
            "scorer": "judge",
            "scorer_kind": "judge",
            "value": choices,
        }
    )
    passed = PreferenceTable.from_frame(frame, Scale(-2, 2))
    estimates = analyse(table(rated, Scale(0, 100)), passed, Options(resamples=100)).estimates
    e = estimates.first("choice_accuracy", scorer="judge")
    assert e is not None
    assert (e.value, e.n_responses, e.scorers) == (0.5, 4, ("judge", "ann"))
