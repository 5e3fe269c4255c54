import json
import warnings
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.statistics.reliability.icc import (
    ICC_NAMES,
    Form,
    icc,
    icc_interval,
    icc_undefined_reason,
)
from analysis.statistics.reliability.two_way import two_way
from analysis.statistics.reliability.variance_components import variance_components
from tests.analysis.ragged import ratings, tables
from tests.conftest import examples

FORMS: tuple[Form, ...] = get_args(Form)
NA = float("nan")

# Shrout and Fleiss (1979), Psychological Bulletin 86:420-428, Table 2: 6 targets, 4 judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=float,
)
# Value (published to two digits in their Table 4) and McGraw and Wong's F interval.
ORACLES: dict[Form, tuple[float, float, float, float]] = {
    "1,1": (0.17, 0.165742, -0.132932, 0.722560),
    "A,1": (0.29, 0.289764, 0.018787, 0.761084),
    "C,1": (0.71, 0.714841, 0.342465, 0.945858),
    "1,k": (0.44, 0.442797, -0.884442, 0.912415),
    "A,k": (0.62, 0.620051, 0.071137, 0.927232),
    "C,k": (0.91, 0.909316, 0.675675, 0.985892),
}


@pytest.mark.parametrize("form", FORMS)
def test_shrout_and_fleiss(form: Form) -> None:
    published, value, low, high = ORACLES[form]
    assert icc(SHROUT_FLEISS, form) == pytest.approx(value, abs=5e-7)
    assert round(icc(SHROUT_FLEISS, form), 2) == published
    if form.startswith("C"):
        # Without clustering in queries the interval is the textbook's.
        interval = icc_interval(SHROUT_FLEISS, np.arange(6), form)
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-7)


def test_icc_of_the_table_by_shrout_and_fleiss(shared_data: Path) -> None:
    text = (shared_data / "classic" / "classic.json").read_text(encoding="utf-8")
    classic = json.loads(text)["shrout_fleiss_1979"]
    for name, expected in classic["computed"].items():
        if name.startswith("ICC"):
            form = next(f for f, (_, sf) in ICC_NAMES.items() if sf == f"ICC({name[3]},{name[4]})")
            assert icc(classic["data"], form) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("raters", [2, 5])
def test_equals_pingouin_on_complete_data(raters: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pandas as pd
        import pingouin

        values = ratings(1, n=50, raters=raters, missing=0)
        long = pd.DataFrame(values).rename_axis("item").reset_index()
        long = long.melt(id_vars="item", var_name="rater")
        table = pingouin.intraclass_corr(long, targets="item", raters="rater", ratings="value")
    expected = table["ICC"].to_list()
    # pingouin's rows follow Shrout and Fleiss: (1,1), (2,1), (3,1), (1,k), (2,k), (3,k).
    ours = [icc(values, form) for form in ("1,1", "A,1", "C,1", "1,k", "A,k", "C,k")]
    assert ours == pytest.approx(expected, abs=1e-9)


def test_missing_cells_follow_the_components() -> None:
    values = ratings(2, n=80)
    c = variance_components(values)
    single = c.response / (c.response + c.rater + c.residual)
    assert icc(values, "A,1") == pytest.approx(single)
    assert icc(values, "C,1") == pytest.approx(c.response / (c.response + c.residual))
    spread = (c.rater + c.residual) / 3
    assert icc(values, "A,k", k=3) == pytest.approx(c.response / (c.response + spread))


def test_missing_cells_need_the_number_averaged() -> None:
    with pytest.raises(ValueError, match="needs k, the raters averaged"):
        icc(ratings(2), "A,k")
    assert icc_undefined_reason(ratings(2), "1,1") is None


def test_a_response_without_ratings_does_not_enter() -> None:
    padded = np.vstack([SHROUT_FLEISS, np.full((1, 4), NA)])
    assert icc(padded, "A,1") == icc(SHROUT_FLEISS, "A,1")


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=examples(60))
def test_order_of_raters_and_items_does_not_matter(values, random) -> None:
    rows, columns = list(range(values.shape[0])), list(range(values.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = icc(values[rows][:, columns], "A,1")
    assert shuffled == pytest.approx(icc(values, "A,1"), abs=1e-4, nan_ok=True)


@given(tables(), st.sampled_from(FORMS))
@settings(max_examples=examples(100))
def test_undefined_exactly_when_there_is_a_reason(values: np.ndarray, form: Form) -> None:
    value = icc(values, form, k=2)
    assert np.isnan(value) == (icc_undefined_reason(values, form) is not None)
    assert np.isnan(value) or value <= 1 + 1e-12


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.full((4, 3), 7.0), "all ratings are 7"),
        (np.full((4, 3), NA), "at least 2 raters, there is none"),
        (np.arange(4.0)[:, None], "at least 2 raters, there is 1"),
        (np.array([[1.0, 2.0]]), "at least 2 rated responses, there is 1"),
        (np.array([[1, 2, NA, NA], [3, 4, NA, NA], [NA, NA, 1, 5], [NA, NA, 2, 2]]), "2 groups"),
        (np.array([[1, 2], [3, NA]]), "no ratings are left"),
        (np.array([[0, 1], [1, 0]]), "add up to 0"),
    ],
)
def test_icc_of_degenerate_tables_has_a_reason(values: np.ndarray, reason: str) -> None:
    query = np.arange(len(values))
    assert np.isnan(icc(values, "A,1"))
    assert reason in str(icc_undefined_reason(values, "A,1"))
    interval = icc_interval(values, query)
    assert np.isnan(interval.low)
    assert reason in str(interval.reason)


def test_perfect_agreement_is_one() -> None:
    values = np.repeat(np.array([[1.0], [5.0], [2.0]]), 3, axis=1)
    ragged = values.copy()
    ragged[0, 0] = NA
    for table in (values, ragged):
        assert icc(table, "A,1") == pytest.approx(1)
        assert "F is infinite" in str(icc_interval(table, np.arange(3)).reason)


@pytest.mark.parametrize("rows", [[0, 1, 2], [2, 1, 0]])
@pytest.mark.parametrize("columns", [[0, 1, 2], [2, 0, 1]])
def test_equal_means_of_responses_have_no_interval(rows: list[int], columns: list[int]) -> None:
    # Rounding made them differ in some orders, and the interval was [-.5, -.5] or [0, 0].
    values = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])[rows][:, columns]
    assert icc(values, "A,1") == pytest.approx(-0.5)
    assert "means are equal" in str(icc_interval(values, np.array([0, 0, 1])[rows]).reason)


def test_clustering_in_queries_widens_the_interval() -> None:
    rng = np.random.default_rng(7)
    query = np.repeat(np.arange(40), 4)
    truth = rng.normal(0, 10, 40)[query] + rng.normal(0, 3, 160)
    values = truth[:, None] + rng.normal(0, 6, (160, 4))
    clustered, spread = icc_interval(values, query), icc_interval(values, np.arange(160))
    assert clustered.high - clustered.low > 1.2 * (spread.high - spread.low)
    assert clustered.low < icc(values, "A,1") < clustered.high


def test_without_clustering_form_c_has_the_textbook_interval() -> None:
    values = ratings(8, n=40, missing=0)
    ours, parts = icc_interval(values, np.arange(40), "C,1"), two_way(values)
    k, df = parts.n_raters, 39 * (parts.n_raters - 1)
    f = parts.ms_response / parts.ms_residual
    low, high = f / stats.f.ppf(0.975, 39, df), f * stats.f.ppf(0.975, df, 39)
    expected = [(bound - 1) / (bound + k - 1) for bound in (low, high)]
    assert (ours.low, ours.high) == pytest.approx(expected, abs=1e-9)


def test_interval_of_a_mean_is_spearman_brown_of_the_single() -> None:
    values, query = ratings(9, n=60), np.arange(60) // 3
    single, mean = icc_interval(values, query, "A,1"), icc_interval(values, query, "A,k", k=4)
    assert mean.low == pytest.approx(4 * single.low / (1 + 3 * single.low))
    assert mean.high == pytest.approx(4 * single.high / (1 + 3 * single.high))


def test_interval_contains_a_negative_estimate() -> None:
    values = np.random.default_rng(11).normal(size=(20, 3))
    values -= 0.5 * values.mean(axis=1, keepdims=True)
    interval = icc_interval(values, np.arange(20))
    assert interval.low < icc(values, "A,1") < 0
    assert interval.low < interval.high


def test_icc_without_an_interval() -> None:
    with pytest.raises(ValueError, match="form A or C"):
        icc_interval(SHROUT_FLEISS, np.arange(6), "1,1")
    one_query = icc_interval(SHROUT_FLEISS, np.zeros(6, dtype=int))
    assert "at least 2 queries" in str(one_query.reason)
    with pytest.raises(ValueError, match="form '2,1'"):
        icc(SHROUT_FLEISS, "2,1")
    with pytest.raises(ValueError, match="at least 1 rater"):
        icc(SHROUT_FLEISS, "A,k", k=0.5)


@pytest.mark.parametrize("seed", range(20))
def test_mean_squares_of_a_complete_panel_are_those_of_the_analysis_of_variance(seed: int) -> None:
    # The raters' equations are singular by a shift of all, which rounding must not let in.
    rng = np.random.default_rng(seed)
    values = np.round(60 + 15 * rng.normal(size=(720, 1)) + 10 * rng.normal(size=(720, 3)))
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    between = 3 * np.var(rows, ddof=1)
    of_raters = 720 * np.var(columns, ddof=1)
    rest = float(((values - rows - columns + values.mean()) ** 2).sum()) / (719 * 2)
    expected = (between - rest) / (between + 2 * rest + 3 * (of_raters - rest) / 720)
    assert icc(values, "A,1") == pytest.approx(expected, abs=1e-12)
