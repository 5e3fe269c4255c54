"""A rater whose values stop changing is flagged, with the place where that began."""

import re

import numpy as np
import pandas as pd
import pytest

from annotate_ui.monitoring.constant_stretch import (
    RatedResponses,
    constant_stretches,
    repeats,
    responses_in_order,
)
from annotate_ui.monitoring.signals import Signal

CONSTRUCTS = 5


def honest(queries: range, responses: int, seed: int) -> RatedResponses:
    draw = np.random.default_rng(seed)
    query = np.repeat(np.array(queries), responses)
    return RatedResponses(query, draw.integers(6, 20, (query.size, CONSTRUCTS)) * 5.0)


def of_first(*raters: RatedResponses) -> Signal:
    return constant_stretches(dict(enumerate(raters)))[0]


@pytest.mark.parametrize(
    ("queries", "responses", "honest_ones"),
    [
        pytest.param(10, 3, 9, id="21-of-30-responses"),
        pytest.param(8, 3, 8, id="16-of-24-responses-from-within-a-query"),
    ],
)
def test_the_signal_says_how_long_how_much_and_from_where(
    queries: int, responses: int, honest_ones: int
) -> None:
    anna, ben = (honest(range(queries), responses, seed) for seed in (1, 2))
    anna.value[honest_ones:] = 70.0
    signal = of_first(anna, ben)
    total = queries * responses
    assert (signal.verdict, signal.value) == ("flagged", total - honest_ones)
    assert re.match(
        rf"from response {honest_ones + 1} of {total} on, {total - honest_ones} responses in a row "
        r"with the same values: 100% of the values repeat the response before, \d+% of the "
        r"rater's others, and \d+% of other raters' on these queries\. Read some .* ask the rater",
        signal.explanation,
    )
    assert constant_stretches({0: anna, 1: ben})[1].verdict == "fine"


def test_the_values_may_differ_between_constructs_and_a_slip_does_not_hide_them() -> None:
    anna, ben = honest(range(10), 3, 1), honest(range(10), 3, 2)
    anna.value[9:] = np.array([70, 80, 75, 70, 90.0])
    anna.value[16, 2] = 65.0
    anna.value[20, 0] = np.nan
    assert of_first(anna, ben).verdict == "flagged"


def test_queries_on_which_the_others_give_these_values_too_are_no_sign() -> None:
    anna, ben = honest(range(10), 3, 1), honest(range(10), 3, 2)
    anna.value[9:] = ben.value[9:] = 100.0
    assert of_first(anna, ben).verdict == "fine"


def test_a_rater_who_gives_these_values_throughout_did_not_turn_careless() -> None:
    anna, ben = honest(range(10), 3, 1), honest(range(10), 3, 2)
    anna.value[:] = 100.0
    anna.value[::8, 0] = 95.0
    assert of_first(anna, ben).verdict == "fine"


def test_constructs_on_which_all_are_constant_do_not_hide_the_others() -> None:
    raters = [honest(range(12), 4, seed) for seed in (1, 2, 3)]
    for rater in raters:
        rater.value[:, 1:] = 100.0
    raters[0].value[12:, 0] = 70.0
    assert of_first(*raters).verdict == "flagged"
    assert {one.verdict for one in constant_stretches(dict(enumerate(raters[1:]))).values()} == {
        "fine"
    }


def test_too_few_queries_or_others_give_no_verdict() -> None:
    few = honest(range(7), 4, 1)
    assert of_first(few, honest(range(7), 4, 2)).explanation == "too few queries (7)"
    short = honest(range(9), 2, 1)
    assert of_first(short, honest(range(9), 2, 2)).explanation == "too few responses (18)"
    alone = honest(range(10), 3, 1)
    alone.value[9:] = 70.0
    assert of_first(alone).verdict == "too_few"
    assert of_first(alone, honest(range(20, 30), 3, 2)).verdict == "too_few"


def test_repeats_skip_missing_values() -> None:
    value = np.array([[70, 50], [np.nan, 50], [70, 60.0]])
    np.testing.assert_array_equal(repeats(value), [[np.nan, np.nan], [np.nan, 1], [1, 0]])


def test_a_response_has_the_place_of_its_first_value() -> None:
    rows = pd.DataFrame(
        [
            (1, 4, 40, "QR", 10.0, 1),
            (1, 4, 41, "QR", 20.0, 2),
            (1, 4, 41, "AC", 30.0, 3),
            (1, 4, 40, "AC", 40.0, 4),
            (1, 2, 20, "QR", 50.0, 5),
            (1, 4, 42, "QR", 60.0, 6),
        ],
        columns=["rater_id", "query", "response", "construct", "value", "order"],
    )
    own = responses_in_order(rows)[1]
    assert own.query.tolist() == [4, 4, 4, 2]
    np.testing.assert_array_equal(own.value[:, 0], [10, 20, 60, 50])
    np.testing.assert_array_equal(own.value[:, 1], [40, 30, np.nan, np.nan])
