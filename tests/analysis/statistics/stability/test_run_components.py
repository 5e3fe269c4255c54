"""Components of judge scores: by hand, by the analysis of variance, and at their limits."""

import numpy as np
import pytest

from analysis.statistics.stability.run_components import (
    EQUAL,
    NO_SCORES,
    ONE_EACH,
    ONE_QUERY,
    ONE_RUN,
    RUN_COMPONENTS,
    run_components,
)
from tests.analysis.statistics.stability.simulated import simulated_runs, true_shares

SIX = len(RUN_COMPONENTS)


def components(first: np.ndarray, query: np.ndarray, again: np.ndarray | None = None):
    family = run_components(first, first[:, :, None] if again is None else again, query)
    return dict(zip(RUN_COMPONENTS, family.points()[SIX:], strict=True)), family


def test_two_queries_two_responses_two_runs_by_hand() -> None:
    first = np.array([[0.0, 2], [4, 6], [10, 12], [14, 20]])
    parts, _ = components(first, np.array([0, 0, 1, 1]))
    # Query means by run: (2, 4) and (12, 16); grand mean 8.5.
    # MS query = 4((3 - 8.5)^2 + (14 - 8.5)^2)/1 = 242; MS run = 4(1.5^2 + 1.5^2)/1 = 18;
    # MS query:run = 2 * 4 * 0.5^2 / 1 = 2, the four effects being -+0.5.
    # Responses' means 1, 5 and 11, 17: MS response = 2(2*2^2 + 2*3^2)/2 = 26.
    # Cells left over: 0 in query 0, +-1 in query 1: MS response:run = 4/2 = 2.
    assert parts["response:run"] == pytest.approx(2)
    assert parts["query:run"] == pytest.approx((2 - 2) / 2)
    assert parts["run"] == pytest.approx((18 - 2) / 4)
    assert parts["response"] == pytest.approx((26 - 2) / 2)
    assert parts["query"] == pytest.approx((242 - 26 - 2 + 2) / 4)
    assert np.isnan(parts["repeat"])


def test_complete_tables_are_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(3)
    q, n, r = 7, 4, 3
    y = rng.normal(0, 5, (q, 1, 1)) + rng.normal(0, 3, (q, n, 1)) + rng.normal(0, 2, (q, n, r))
    m = y.mean()
    by_query, by_response, by_run = y.mean((1, 2)), y.mean(2), y.mean((0, 1))
    cells = y.mean(1)
    ms_query = n * r * ((by_query - m) ** 2).sum() / (q - 1)
    ms_response = r * ((by_response - by_query[:, None]) ** 2).sum() / (q * (n - 1))
    ms_run = q * n * ((by_run - m) ** 2).sum() / (r - 1)
    of_cells = cells - by_query[:, None] - by_run + m
    ms_query_run = n * (of_cells**2).sum() / ((q - 1) * (r - 1))
    left = y - by_response[:, :, None] - cells[:, None] + by_query[:, None, None]
    ms_left = (left**2).sum() / (q * (n - 1) * (r - 1))
    parts, _ = components(y.reshape(-1, r), np.repeat(np.arange(q), n))
    expected = {
        "query": (ms_query - ms_response - ms_query_run + ms_left) / (n * r),
        "response": (ms_response - ms_left) / r,
        "run": (ms_run - ms_query_run) / (q * n),
        "query:run": (ms_query_run - ms_left) / n,
        "response:run": ms_left,
    }
    for name, value in expected.items():
        assert parts[name] == pytest.approx(value, abs=1e-9), name


def test_unequal_queries_are_unbiased() -> None:
    rng = np.random.default_rng(5)
    total = np.zeros(SIX)
    for _ in range(150):
        scores, query = simulated_runs(rng, 20)
        total += run_components(scores[:, :, 0], scores, query).points()[SIX:]
    expected = true_shares() * (12.333333 + 64 + 36 + 9 + 25 + 16)
    assert total / 150 == pytest.approx(expected, rel=0.12)


def test_identical_runs_bring_no_variance() -> None:
    single = np.array([10.0, 20, 30, 50, 0.1, 0.3])
    parts, family = components(np.column_stack([single] * 3), np.array([0, 0, 1, 1, 2, 2]))
    assert [parts[name] for name in ("run", "query:run", "response:run")] == [0, 0, 0]
    shares = family.points()[:SIX]
    assert shares[0] + shares[1] == pytest.approx(1)


def test_shares_are_of_the_sum_of_the_components() -> None:
    scores, query = simulated_runs(np.random.default_rng(1), 200)
    points = run_components(scores[:, :, 0], scores, query).points()
    assert points[:SIX].sum() == pytest.approx(1)
    assert points[:SIX] == pytest.approx(points[SIX:] / points[SIX:].sum())


def test_repeats_are_told_from_what_runs_make_of_a_response() -> None:
    scores, query = simulated_runs(np.random.default_rng(1), 400)
    parts, family = components(scores[:, :, 0], query, scores)
    assert parts["repeat"] == pytest.approx(16, rel=0.1)
    assert parts["response:run"] == pytest.approx(25, rel=0.1)
    assert family.reasons[:SIX] == (None,) * SIX
    # Where some cells were scored once, the others tell it.
    some = scores.copy()
    some[::2, :, 1] = np.nan
    parts, _ = components(scores[:, :, 0], query, some)
    assert parts["repeat"] == pytest.approx(16, rel=0.15)


def test_one_run_has_repeats_and_no_severity() -> None:
    scores, query = simulated_runs(np.random.default_rng(1), 200)
    parts, family = components(scores[:, :1, 0], query, scores[:, :1])
    assert parts["repeat"] == pytest.approx(16, rel=0.2)
    # Of one run the responses' own variance holds what the run makes of them.
    assert parts["response"] == pytest.approx(36 + 25, rel=0.2)
    assert np.isnan([parts[name] for name in ("run", "query:run", "response:run")]).all()
    assert family.reasons[2] == ONE_RUN


def test_one_response_a_query_is_not_told_from_the_query() -> None:
    scores, query = simulated_runs(np.random.default_rng(1), 100)
    first = np.unique(query, return_index=True)[1]
    parts, family = components(scores[first, :, 0], query[first])
    assert np.isnan(parts["response"])
    assert family.reasons[1] == ONE_EACH
    assert parts["query"] > 0


def test_origin_unit_and_order_change_no_share() -> None:
    scores, query = simulated_runs(np.random.default_rng(1), 30)
    shares = run_components(scores[:, :, 0], scores, query).points()[:SIX]
    moved = 1e4 + 0.01 * scores
    again = run_components(moved[:, :, 0], moved, query).points()[:SIX]
    assert again == pytest.approx(shares, abs=1e-6)
    order = np.random.default_rng(2).permutation(len(query))
    turned = scores[order][:, ::-1]
    other = run_components(turned[:, :, 0], turned, query.max() - query[order]).points()[:SIX]
    assert other == pytest.approx(shares)


@pytest.mark.parametrize(
    ("scores", "query", "reason"),
    [
        ([[1.0, np.nan], [np.nan, 2]], [0, 1], NO_SCORES),
        ([[1.0, 2], [np.nan, 2]], [0, 1], ONE_QUERY),
        ([[5.0, 5], [5, 5]], [0, 1], EQUAL),
    ],
    ids=["no-common", "one-query", "equal"],
)
def test_what_can_not_be_said_has_its_reason(
    scores: list[list[float]], query: list[int], reason: str
) -> None:
    parts, family = components(np.array(scores), np.array(query))
    assert np.isnan(list(parts.values())).all()
    assert set(family.reasons) == {reason}


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="expected"):
        run_components(np.zeros((3, 2)), np.zeros((3, 3, 1)), np.zeros(3, dtype=int))
