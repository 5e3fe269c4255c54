import numpy as np
import pytest

from analysis.statistics.agreement.disattenuation import MISSING_CELLS, pearson_disattenuated
from analysis.statistics.reliability.icc import icc
from tests.analysis.ragged import ratings

NA = float("nan")


def by_hand(judge: np.ndarray, table: np.ndarray) -> float:
    return float(np.corrcoef(judge, table.mean(axis=1))[0, 1] / np.sqrt(icc(table, "C,k")))


def test_correlation_and_reliability_leave_out_a_query_together() -> None:
    table = ratings(1, n=80, raters=3, missing=0)
    judge = table.mean(axis=1) + np.random.default_rng(0).normal(0, 15, 80)
    query = np.arange(80) // 4
    corrected_r, withheld = pearson_disattenuated(judge, table, query)
    assert withheld is None
    assert corrected_r.point == pytest.approx(by_hand(judge, table))
    for code in (0, 7):
        weights = np.ones((1, 20))
        weights[0, code] = 0
        left = query != code
        assert corrected_r(weights)[0] == pytest.approx(by_hand(judge[left], table[left]))


def test_disattenuation_undoes_the_error_of_raters() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=4000)
    table = truth[:, None] + rng.normal(size=(4000, 2))
    judge = truth + rng.normal(size=4000)
    # The correlation with the truth is 1/sqrt(2).
    assert pearson_disattenuated(judge, table, np.arange(4000))[0].point == pytest.approx(
        np.sqrt(0.5), abs=0.02
    )


def test_a_disattenuated_correlation_is_not_cut_off_above_1() -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(size=60)
    table = rng.normal(size=(60, 3)) + 0.3 * shared[:, None]
    judge = table.mean(axis=1)
    assert pearson_disattenuated(judge, table, np.arange(60))[0].point > 1


def test_with_missing_cells_there_is_a_value_and_no_interval() -> None:
    table = ratings(4, n=80, raters=3, missing=0.2)
    judge = np.nanmax(np.c_[table, np.ones(80)], axis=1)
    corrected_r, withheld = pearson_disattenuated(judge, table, np.arange(80))
    assert np.isfinite(corrected_r.point)
    assert withheld == MISSING_CELLS


@pytest.mark.parametrize(
    "table",
    [
        np.full((10, 3), NA),
        np.ones((10, 3)),
        np.arange(10.0)[:, None],
        np.empty((10, 0)),
        np.column_stack([np.arange(10.0), -np.arange(10.0)]),
        np.column_stack([np.r_[np.arange(5.0), [NA] * 5], np.r_[[NA] * 5, np.arange(5.0)]]),
    ],
)
def test_where_reliability_is_not_known_there_is_a_reason(table: np.ndarray) -> None:
    corrected_r, _ = pearson_disattenuated(np.arange(10.0), table, np.arange(10))
    assert corrected_r.reason
    assert np.isnan(corrected_r.point)


def test_few_responses_and_a_constant_judge_have_reasons() -> None:
    table = ratings(5, n=10, raters=3, missing=0)
    assert pearson_disattenuated(np.ones(10), table, np.arange(10))[0].reason
    assert pearson_disattenuated(np.full(10, NA), table, np.arange(10))[0].reason
    assert pearson_disattenuated(np.arange(2.0), table[:2], np.arange(2))[0].reason
