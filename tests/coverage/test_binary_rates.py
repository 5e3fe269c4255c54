"""The committed tables of pass or fail: rates cover, and the report states where MCC does not."""

import numpy as np
import pandas as pd
import pytest

from analysis.topics.binary.chance_corrected_coverage import BALANCED, measured_coverage
from tests.coverage.binary_rates import Cell, rows
from tests.coverage.tables import FOLDER

RATES = pd.read_csv(FOLDER / "binary_rates.csv")
PASS_RATES = pd.read_csv(FOLDER / "pass_rates.csv")
ENOUGH = 0.935
#: Share of samples with an interval, below which their coverage is of a few odd samples.
MOSTLY = 0.2


def test_intervals_of_rates_cover_and_exist() -> None:
    wilson = RATES[RATES["method"] == "wilson"]
    assert wilson["coverage"].min() >= ENOUGH
    shares = RATES[RATES["statistic"] == "true_positive_rate"]
    given = shares.pivot_table(
        index=["items", "prevalence", "right", "clustered"], columns="method", values="given"
    )
    assert (given["wilson"] >= given["logit"]).all()


@pytest.mark.parametrize("statistic", ["mcc", "verdict_kappa"])
def test_the_report_states_what_covers_less(statistic: str) -> None:
    cells = RATES[(RATES["statistic"] == statistic) & (RATES["given"] >= MOSTLY)]
    balanced = cells["prevalence"].between(*BALANCED)
    for keys, of_size in cells.groupby([cells["items"], balanced]):
        size, middle = int(keys[0]), bool(keys[1])
        lowest = float(of_size["coverage"].min())
        stated = measured_coverage(statistic, size, 0.5 if middle else 0.95)
        if lowest < ENOUGH:
            assert stated is not None
            assert stated <= lowest + 0.005


def test_pass_rates_by_labels_cover_and_those_by_rates_need_equal_rates() -> None:
    of = PASS_RATES[PASS_RATES["given"] >= MOSTLY]
    by_rates, labels = (of[of["way"] == way] for way in ("rates", "labels"))
    alike = by_rates["kinder"] == 0
    assert by_rates.loc[alike, "coverage"].min() >= 0.92
    assert by_rates.loc[~alike, "coverage"].min() < 0.8
    assert labels["coverage"].min() >= 0.92


def test_a_cell_is_computed_as_committed() -> None:
    (first, *_) = rows(Cell(30, 0.8, 0.9, 0.3), 40)
    assert first["statistic"] == "true_positive_rate"
    assert float(str(first["coverage"])) >= 0.85
    assert np.isfinite(float(str(first["width"])))
