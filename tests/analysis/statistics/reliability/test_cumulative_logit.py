"""The cumulative-logit model against R's ordinal, statsmodels and its own slopes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.reliability.additive_model import Ratings
from analysis.statistics.reliability.cumulative_logit import (
    NOT_FINITE,
    fit,
    model_of,
    undefined_reason,
)

FOLDER = Path(__file__).parent

#: ordinal_systems.R wrote it from ordinal_ratings.csv; the file names the versions.
STORED: dict[str, Any] = json.loads((FOLDER / "ordinal_systems.json").read_text(encoding="utf-8"))
DESIGNS = [name for name in STORED if name != "made_by"]


def frame(design: str) -> pd.DataFrame:
    table = pd.read_csv(FOLDER / "ordinal_ratings.csv")
    return table[table["design"] == design]


def ratings(table: pd.DataFrame) -> Ratings:
    keys = table["query"].astype(str) + table["system"]
    response, first = np.unique(keys, return_index=True)
    system, rater, query = (
        np.unique(table[column], return_inverse=True)[1] for column in ("system", "rater", "query")
    )
    return Ratings(
        table["value"].to_numpy(dtype=np.float64),
        np.searchsorted(response, keys).astype(np.int64),
        rater.astype(np.int64),
        system[first].astype(np.int64),
        query[first].astype(np.int64),
    )


@pytest.mark.parametrize("design", DESIGNS)
def test_equal_to_r(design: str) -> None:
    """`clmm` stops at a slope of 1e-4 or so, so that its own last digits differ."""
    expected = STORED[design]
    fitted = fit(ratings(frame(design)))
    severity = fitted.thresholds[0, 0] - fitted.thresholds[1:, 0]
    effects = np.r_[fitted.systems[1:], severity]
    assert fitted.thresholds[0] == pytest.approx(expected["thresholds"], abs=5e-5)
    assert effects == pytest.approx(expected["effects"], abs=5e-5)
    assert fitted.query_sd == pytest.approx(expected["query_sd"], abs=5e-5)
    assert fitted.log_likelihood == pytest.approx(expected["log_likelihood"], abs=1e-5)
    # Of the thresholds only the first is a parameter of both; of sd R has the logarithm.
    errors, k = np.sqrt(np.diag(fitted.covariance)), fitted.thresholds.shape[1]
    assert errors[0] == pytest.approx(expected["errors"][0], rel=1e-4)
    assert errors[k:-1] == pytest.approx(expected["errors"][k:-1], rel=1e-4)
    assert errors[-1] == pytest.approx(expected["errors"][-1] * fitted.query_sd, rel=1e-4)


@pytest.mark.parametrize("design", DESIGNS)
def test_without_spread_of_queries_the_likelihood_is_that_of_fixed_effects(design: str) -> None:
    expected = STORED[design]["fixed"]
    table = ratings(frame(design))
    model = model_of(table)
    k = model.k - 1
    thresholds = np.array(expected["parameters"][:k])
    at = np.r_[thresholds[0], np.log(np.diff(thresholds)), expected["parameters"][k:], 0.0]
    values, slopes = model.by_query(at)
    assert values.sum() == pytest.approx(expected["log_likelihood"], abs=1e-7)
    assert slopes.sum(axis=0) == pytest.approx(np.zeros(at.size), abs=1e-5)


def test_fixed_effects_equal_statsmodels() -> None:
    ordinal_model = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    table = frame("five_points")
    design = pd.get_dummies(table[["system", "rater"]], drop_first=True).astype(float)
    fitted = ordinal_model.OrderedModel(
        table["value"].to_numpy(), design.to_numpy(), distr="logit"
    ).fit(method="bfgs", disp=False, gtol=1e-8)
    effects = STORED["five_points"]["fixed"]["parameters"][4:]
    assert fitted.params[:5] == pytest.approx(effects, abs=1e-5)
    thresholds = fitted.params[5:]
    at = np.r_[thresholds, fitted.params[:5], 0.0]
    model = model_of(ratings(table))
    assert model.by_query(at)[0].sum() == pytest.approx(fitted.llf, abs=1e-8)


@pytest.mark.parametrize("design", DESIGNS)
def test_slopes_are_those_of_the_likelihood(design: str) -> None:
    model = model_of(ratings(frame(design)))
    rng = np.random.default_rng(5)
    at = model.start() + rng.normal(0, 0.3, model.n_parameters)
    slopes = model.by_query(at)[1]
    for place in range(at.size):
        step = np.zeros(at.size)
        step[place] = 1e-5
        change = (model.by_query(at + step)[0] - model.by_query(at - step)[0]) / 2e-5
        assert slopes[:, place] == pytest.approx(change, abs=1e-4)


def test_one_step_is_close_to_a_fit_without_the_query() -> None:
    table = frame("four_raters_by_system")
    fitted = fit(ratings(table))
    for query in (0, 7):
        again = fit(ratings(table[table["query"] != query])).parameters
        moved = np.abs(again - fitted.parameters).max()
        assert fitted.leave_one_out[query] == pytest.approx(again, abs=0.25 * moved)


def test_a_point_that_nobody_used_changes_nothing() -> None:
    table = frame("three_points")
    wider = table.assign(value=table["value"].replace({3: 5}))
    assert fit(ratings(wider)).parameters == pytest.approx(fit(ratings(table)).parameters)


def test_effects_without_a_finite_estimate_are_named() -> None:
    table = frame("five_points")
    severe = table.assign(value=table["value"].where(table["rater"] != "r1", 1))
    reason = undefined_reason(ratings(severe))
    assert reason is not None
    assert reason.startswith("all ratings of a rater are the lowest point, 1:")
    with pytest.raises(ValueError, match="no finite estimate"):
        fit(ratings(severe))
    equal = table.assign(value=3)
    assert undefined_reason(ratings(equal)) == "all ratings are 3, so that nothing can be estimated"
    # r1 uses only the two lowest points, the others only the higher ones.
    apart = table.assign(
        value=np.where(table["rater"] == "r1", 1 + table["query"] % 2, 3 + table["query"] % 3)
    )
    assert undefined_reason(ratings(apart)) is None
    with pytest.raises(ValueError, match=NOT_FINITE):
        fit(ratings(apart))
