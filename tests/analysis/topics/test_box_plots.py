"""Box plots of scores by system."""

import numpy as np
import pytest

from analysis import Options, Scale, ScoreTable, analyse
from analysis.topics.distribution.box_plots import box_plots
from tests.analysis.scores import simulated, table

QUICK = Options(resamples=100)


def test_a_box_for_each_system_of_judge_and_people() -> None:
    frame = simulated(queries=10, systems=2)
    (figure,) = box_plots(analyse(table(frame), options=QUICK))
    data = figure.data.set_index(["system", "scorer"])
    assert list(data.index) == [(s, of) for s in ("s0", "s1") for of in ("judge", "people")]
    values = frame[(frame["scorer"] == "judge") & (frame["system"] == "s0")]["value"]
    row = data.loc[("s0", "judge")]
    assert row["median"] == pytest.approx(values.median())
    assert row["upper_quartile"] == pytest.approx(np.quantile(values, 0.75))
    assert data.loc[("s0", "people")]["scores"] == 30
    (drawing,) = figure.drawings
    assert "s0, judge median" in drawing.svg


def test_scorers_on_another_scale_are_in_the_csv_only() -> None:
    frame = simulated(queries=10, systems=2)
    judged = frame["scorer"] == "judge"
    frame.loc[judged, "value"] /= 100
    scales = {("judge", "QR"): Scale(0, 1)}
    scores = ScoreTable.from_frame(frame, {"QR": Scale(0, 100)}, scales)
    (figure,) = box_plots(analyse(scores, options=QUICK))
    assert set(figure.data["scorer"]) == {"judge", "people"}
    assert "people median" not in figure.drawings[0].svg
    assert "s0 median" in figure.drawings[0].svg
