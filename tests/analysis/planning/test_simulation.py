import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.core.errors import AnalysisError
from analysis.planning.components import Components
from analysis.planning.designs import PlanSettings
from analysis.planning.plan_files import write_plan
from analysis.planning.simulated_study import STATISTICS, Design, simulated
from analysis.planning.simulation import plan


def test_the_answer_keeps_to_the_wanted_width_when_simulated_again() -> None:
    settings = PlanSettings(queries=(30, 60, 120), raters=(3,), runs=30)
    planned = plan(Components(), {"pearson_within_query": 0.08}, settings)
    (answer,) = planned.answers
    assert answer.queries is not None
    assert 30 < answer.queries < 120
    assert answer.ratings == answer.queries * 4 * 3
    assert answer.hours == pytest.approx(answer.ratings / 60)
    settings = PlanSettings(queries=(answer.queries,), raters=(3,), runs=60, seed=9)
    again = plan(Components(), {"pearson_within_query": 0.08}, settings)
    assert again.cells[0].assured == pytest.approx(0.08, rel=0.08)


def test_few_raters_leave_a_bias_unknown_however_many_queries() -> None:
    planned = plan(
        Components(rater=8), {"bias": 2}, PlanSettings(queries=(25, 50), raters=(3,), runs=10)
    )
    assert planned.answers[0].queries is None
    assert "3 raters leave" in (planned.answers[0].reason or "")


def test_same_seed_same_plan_and_every_figure_has_a_width() -> None:
    wanted = dict.fromkeys(STATISTICS, 1.0)
    settings = PlanSettings(queries=(20,), raters=(3,), runs=4, judged=100)
    planned = plan(Components(), wanted, settings)
    assert planned == plan(Components(), wanted, settings)
    assert all(cell.reason is None and cell.half_width > 0 for cell in planned.cells)
    assert len(planned.answers) == len(STATISTICS)


def test_figures_that_a_design_does_not_have_say_why() -> None:
    wanted = {"krippendorff_alpha": 0.1, "pearson_within_query": 0.1, "pearson": 0.1}
    settings = PlanSettings(queries=(20,), raters=(1,), responses_per_query=1, runs=3)
    planned = plan(Components(), wanted, settings)
    reasons = {cell.statistic: cell.reason for cell in planned.cells}
    assert reasons["krippendorff_alpha"] == "needs 2 raters"
    assert reasons["pearson_within_query"] == "needs 2 responses to a query"
    assert reasons["pearson"] is None
    silent = Components(rater=0, error=0, judge=0)
    perfect = plan(silent, {"pearson": 0.1}, PlanSettings(queries=(20,), raters=(2,), runs=3))
    # A correlation of 1 has the interval of 20 comparisons that all succeed: from .66 to 1.
    content = perfect.as_json()
    assert content["cells"][0]["half_width"] == pytest.approx(1 - 0.025 ** (1 / 20), rel=1e-6)


def test_a_corrected_mean_covers_and_gains_on_ratings_alone() -> None:
    covered, width, alone = 0, [], []
    for run in range(600):
        # Raters without severity: the mean of the true values is 0.
        study = simulated(Components(rater=0, judge=6), Design(60, 3, 1), 0.95, 3, run, 600)
        people = study.ratings.mean(axis=1)
        interval = STATISTICS["ppi_mean"].interval(study)
        width.append(interval.high - interval.low)
        alone.append(2 * 2.001 * people.std(ddof=1) / math.sqrt(60))
        covered += interval.low <= 0 <= interval.high
    assert np.mean(width) < 0.7 * np.mean(alone)
    # Monte Carlo standard error .009.
    assert 0.92 <= covered / 600 <= 0.98


@pytest.mark.parametrize(
    ("wanted", "settings", "message"),
    [
        ({"alpha": 0.1}, {}, "can't be planned for"),
        ({"bias": 0}, {}, "above 0"),
        ({"bias": 1}, {"queries": ()}, "queries: give numbers from 5"),
        ({"bias": 1}, {"raters": (0,)}, "raters: give numbers from 1"),
        ({"bias": 1}, {"runs": 1}, "give more"),
    ],
)
def test_half_widths_and_settings_that_cannot_be_planned(
    wanted: dict[str, float], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(AnalysisError, match=message):
        plan(Components(), wanted, PlanSettings(**settings))


def test_curves_as_a_drawing_and_as_a_page(tmp_path: Path) -> None:
    settings = PlanSettings(queries=(20, 40), raters=(2, 3), runs=3)
    planned = plan(Components(), {"pearson": 0.1, "bias": 9.0}, settings)
    page = tmp_path / "plan.html"
    write_plan(planned, None, (), page)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "3 simulated studies for each design" in text
    with pytest.raises(AnalysisError, match="one curve"):
        write_plan(planned, None, (), tmp_path / "plan.svg")
    with pytest.raises(AnalysisError, match=r"\.csv or \.json"):
        write_plan(planned, None, (), tmp_path / "plan.pdf")
    single = plan(Components(), {"pearson": 0.1}, settings)
    write_plan(single, None, (), tmp_path / "plan.svg")
    assert "wanted 0.1" in (tmp_path / "plan.svg").read_text(encoding="utf-8")
