import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.core.pairs import Scope
from analysis.core.resampling import QueryResampling
from analysis.statistics.agreement.absolute_agreement import agreement_in_value, measures_in
from tests.analysis.ragged import repeated

NA = float("nan")


def points(x: object, y: object, scope: Scope = "pooled", query: object = None) -> dict[str, float]:
    codes = np.arange(np.size(x)) if query is None else query
    family = agreement_in_value(x, y, codes, scope)
    return dict(zip(measures_in(scope), family.points(), strict=True))


def concordance(x: np.ndarray, y: np.ndarray) -> float:
    """Lin 1989, equation 3, with sums divided by n."""
    return float(2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2))


def test_limits_of_agreement_are_those_of_bland_and_altman(shared_data: Path) -> None:
    classic = json.loads((shared_data / "classic" / "classic.json").read_text(encoding="utf-8"))
    case = classic["bland_altman_1986_pefr"]
    measured = points(case["data"]["wright"], case["data"]["mini"])
    assert measured["bland_altman_bias"] == pytest.approx(case["computed"]["mean_diff"], abs=1e-6)
    limits = [measured["bland_altman_lower"], measured["bland_altman_upper"]]
    assert limits == pytest.approx(case["computed"]["loa_1_96"], abs=1e-6)


@pytest.mark.parametrize("origin", [0.0, 1e9])
def test_concordance_and_rmse_are_their_definitions_wherever_the_scale_begins(
    origin: float,
) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 40).astype(float)
    y = np.clip(x + rng.integers(-9, 20, 40), 0, 100)
    measured = points(x + origin, y + origin)
    assert measured["ccc"] == pytest.approx(concordance(x, y), abs=1e-7)
    assert measured["rmse"] == pytest.approx(np.sqrt(np.mean((x - y) ** 2)))


def test_within_queries_a_kinder_judge_loses_nothing() -> None:
    rng = np.random.default_rng(1)
    query = np.arange(60) // 4
    y = rng.normal(50, 10, 60)
    shifted = y + rng.normal(0, 20, 15)[query]
    measured = points(shifted, y, "within_query", query)
    assert measured == {"ccc": pytest.approx(1), "rmse": pytest.approx(0, abs=1e-9)}
    assert points(shifted, y, "pooled", query)["ccc"] < 0.9


def test_between_systems_the_means_of_systems_are_compared() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 20, 4))
    produced = np.tile(np.eye(4, dtype=bool), (20, 1))
    query = np.repeat(np.arange(20), 4)
    family = agreement_in_value(x.ravel(), y.ravel(), query, "system_level", produced=produced)
    mx, my = x.mean(axis=0), y.mean(axis=0)
    expected = [concordance(mx, my), np.sqrt(np.mean((mx - my) ** 2))]
    assert family.points() == pytest.approx(expected)
    with pytest.raises(ValueError, match="produced"):
        agreement_in_value(x.ravel(), y.ravel(), query, "system_level")


@given(st.lists(st.integers(0, 3), min_size=5, max_size=5), st.integers(0, 1000))
def test_weights_are_repetitions_of_queries(weights: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    query = np.arange(20) // 4
    x, y = rng.integers(0, 6, (2, 20)).astype(float)
    x[rng.random(20) < 0.1] = NA
    counts = np.array(weights, dtype=float)
    codes, (own_x, own_y) = repeated(counts, query, x, y)
    for scope in ("pooled", "within_query"):
        family = agreement_in_value(x, y, query, scope)
        if any(family.reasons) or not codes.size:
            continue
        again = agreement_in_value(own_x, own_y, codes, scope)
        expected = [NA if why else p for why, p in zip(again.reasons, again.points(), strict=True)]
        values_of_weights = family.weighted_statistic(counts[None])[0]
        both = np.isfinite(values_of_weights) & np.isfinite(expected)
        assert values_of_weights[both] == pytest.approx(np.array(expected)[both], abs=1e-9)


@pytest.mark.parametrize(
    ("x", "y", "undefined"),
    [
        ([], [], {"ccc", "rmse", "bland_altman_bias", "bland_altman_lower", "bland_altman_upper"}),
        ([1.0], [2.0], {"ccc", "bland_altman_lower", "bland_altman_upper"}),
        ([NA, 1.0], [2.0, NA], set(measures_in("pooled"))),
        ([5.0] * 4, [5.0] * 4, {"ccc"}),
        ([0.1 + 0.2] * 4, [0.3] * 4, {"ccc"}),
        ([5.0] * 4, [1.0, 2, 3, 4], set()),
    ],
)
def test_what_is_undefined_has_a_reason(
    x: list[float], y: list[float], undefined: set[str]
) -> None:
    family = agreement_in_value(x, y, np.arange(len(x)))
    names = measures_in("pooled")
    assert {n for n, why in zip(names, family.reasons, strict=True) if why} == undefined
    values = family.points() if len(x) else np.full(5, NA)
    assert {n for n, v in zip(names, values, strict=True) if np.isnan(v)} == undefined


def test_differences_that_are_float_noise_are_none() -> None:
    measured = points([0.1 + 0.2, 0.7 + 0.1, 1.0], [0.3, 0.8, 1.0])
    assert measured["rmse"] == 0
    assert measured["bland_altman_upper"] == 0


def test_limits_have_an_interval_that_leaves_out_queries() -> None:
    rng = np.random.default_rng(3)
    query = np.arange(120) // 4
    y = rng.normal(50, 10, 120)
    x = y + 5 + rng.normal(0, 8, 30)[query] + rng.normal(0, 2, 120)
    family = agreement_in_value(x, y, query)
    resampling = QueryResampling(30)
    bias = resampling.interval_of(family.replicates(resampling)[2])
    # Clustered: responses taken as independent would give .38 of this width.
    naive = 2 * 1.98 * np.std(x - y, ddof=1) / np.sqrt(120)
    assert bias.high - bias.low > 1.5 * naive
