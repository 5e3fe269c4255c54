"""The section on calibration: its sentences and its table, on scales of all sizes."""

import re

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, analyse
from analysis.core.analysis import Analysis
from analysis.render.section import chapter
from analysis.topics.calibration.section import SECTION
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")


def analysed(frame: pd.DataFrame, scale: Scale) -> Analysis:
    return analyse(table(frame, scale), options=Options(resamples=200))


def test_each_scale_has_its_unit() -> None:
    frame = simulated(queries=30, kindness=15)
    points = next(iter(SECTION.reading(analysed(frame, Scale(0, 100)))))
    assert "on other queries brings judge closer to people, from" in points
    assert "points (root mean square); its slope is" in points
    narrow = analysed(frame.assign(value=frame["value"] / 100), Scale(0, 1))
    sentences = next(iter(SECTION.reading(narrow)))
    assert "on a scale from 0 to 1 (root mean square)" in sentences
    assert "points" not in sentences


def test_a_line_is_no_loss_on_two_levels() -> None:
    """The mean of a share is between the levels: its absolute error is larger, its square not."""
    rng = np.random.default_rng(0)
    frame = simulated(queries=150, systems=4, raters=1)
    truth = pd.Series(rng.random(600) < 0.5, index=[f"r{i}" for i in range(600)])
    of_scorer = truth.reindex(frame["response_id"]).to_numpy()
    turned = rng.random(len(frame)) < np.where(frame["scorer"] == "judge", 0.2, 0.0)
    analysis = analysed(frame.assign(value=(of_scorer ^ turned).astype(float)), Scale(0, 1))
    absolute = analysis.estimates.first("recalibrated_mae_difference", method="linear")
    assert absolute is not None
    assert absolute.ci_low > 0
    sentences = " ".join(SECTION.reading(analysis))
    assert "brings judge closer to people" in sentences
    part = chapter(SECTION, analysis)
    assert part is not None
    (shown,) = (entry for entry in part.tables if entry.key == "calibration")
    square = analysis.estimates.first("calibration_error_squared")
    assert square is not None
    cell = shown.rows[0][shown.columns.index("Error², points²")]
    assert float(cell.text) == pytest.approx(square.value, abs=5e-5)


def test_a_judge_at_the_maximum_is_not_reported_to_favor_a_system() -> None:
    frame = simulated(queries=30, kindness=70)
    analysis = analysed(frame, Scale(0, 100))
    errors = analysis.estimates.select("error_by_system_given_human")
    (reason,) = {e.reason for e in errors}
    assert not any(e.defined for e in errors)
    stated = r"QR, judge: \d\d% of its scores are at the maximum: whether it favors a system cannot"
    assert re.search(stated, " ".join(SECTION.reading(analysis)))
    part = chapter(SECTION, analysis)
    assert part is not None
    assert "at the maximum" in str(reason)
    # A table without any figure is left out; the sentence has its reason.
    assert not any(entry.key == "error-given-people" for entry in part.tables)


def test_scores_with_two_values_are_not_cut_at_the_maximum() -> None:
    frame = simulated(queries=30)
    judged = frame["scorer"] == "judge"
    high = frame["value"] > frame.loc[judged, "value"].quantile(0.2)
    frame.loc[judged, "value"] = np.where(high[judged], 100.0, 0.0)
    errors = analysed(frame, Scale(0, 100)).estimates.select("error_by_system_given_human")
    assert all(e.has_interval for e in errors)
