"""The additive model of systems and raters: equal to lme4 and lmerTest on stored ratings.

`lme4_systems.R` makes `lme4_systems.json` of `lme4_ratings.csv` (versions in `made_by`).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.statistics.reliability.additive_model import Ratings, fit, undefined_reason

HERE = Path(__file__).parent
R = json.loads((HERE / "lme4_systems.json").read_text(encoding="utf-8"))
DESIGNS = [name for name in R if name != "made_by"]


def ratings_of(design: str) -> Ratings:
    frame = pd.read_csv(HERE / "lme4_ratings.csv")
    frame = frame[frame["design"] == design]
    response, first = np.unique((frame["query"] + frame["system"]).to_numpy(str), return_index=True)
    place = np.searchsorted(response, (frame["query"] + frame["system"]).to_numpy(str))
    codes = {
        key: np.unique(frame[key].to_numpy(str), return_inverse=True)[1]
        for key in ("query", "system", "rater")
    }
    return Ratings(
        frame["value"].to_numpy(float), place, codes["rater"],
        codes["system"][first], codes["query"][first],
    )  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS)
def test_the_fit_is_that_of_lme4(design: str) -> None:
    expected, line = R[design], fit(ratings_of(design))
    systems = len(expected["means"])
    assert line.means == pytest.approx(expected["means"], rel=1e-5)
    assert line.variances == pytest.approx(expected["variances"], rel=1e-3)
    assert line.residual == pytest.approx(expected["residual"], rel=1e-4)
    assert line.severities == pytest.approx(expected["severities"], rel=1e-4)
    covariance = np.reshape(expected["covariance"], (systems, systems))
    assert line.covariance == pytest.approx(covariance, rel=1e-3)


@pytest.mark.parametrize("design", DESIGNS)
def test_degrees_of_freedom_are_those_of_lmertest(design: str) -> None:
    expected, line = R[design], fit(ratings_of(design))
    difference = np.zeros(line.means.size)
    difference[:2] = 1, -1
    mean = np.zeros(line.means.size)
    mean[0] = 1
    assert difference @ line.means == pytest.approx(expected["difference"], rel=1e-5)
    error = np.sqrt(difference @ line.covariance @ difference)
    assert error == pytest.approx(expected["error"], rel=1e-4)
    assert line.satterthwaite_df(difference) == pytest.approx(expected["df"], rel=5e-3)
    assert line.satterthwaite_df(mean) == pytest.approx(expected["df_of_mean"], rel=5e-3)


@pytest.mark.parametrize("design", DESIGNS)
def test_means_are_linear_in_the_ratings(design: str) -> None:
    ratings = ratings_of(design)
    line = fit(ratings)
    # The weights of a mean sum to 1 over the raters, and the model explains its covariance.
    assert line.rater_weights.sum(axis=1) == pytest.approx(1)
    parts = np.einsum("k,kij->ij", [*line.variances, line.residual], line.slopes)
    assert parts == pytest.approx(line.covariance)


def test_a_complete_table_has_the_plain_means() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(50, 10, (20, 3, 4)) + rng.normal(0, 8, 4)  # queries, systems, raters
    query, system, rater = (place.ravel() for place in np.indices(values.shape))
    cells = np.indices(values.shape[:2])
    ratings = Ratings(values.ravel(), query * 3 + system, rater, cells[1].ravel(), cells[0].ravel())
    line = fit(ratings)
    assert line.means == pytest.approx(values.mean(axis=(0, 2)))
    weights = line.rater_weights[0] - line.rater_weights[1]
    assert weights == pytest.approx(np.zeros(4), abs=1e-9)


def test_what_cannot_be_fitted_has_a_reason() -> None:
    single = Ratings(*(np.array(part) for part in ([1.0, 2], [0, 1], [0, 0], [0, 1], [0, 0])))
    assert undefined_reason(single) == "the variance of raters needs at least 2 raters, there is 1"
    with pytest.raises(ValueError, match="at least 2 raters"):
        fit(single)
