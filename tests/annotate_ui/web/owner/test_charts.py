"""Axes of the owner's charts."""

from typing import Any

import pytest

from annotate_ui.web.owner import charts
from annotate_ui.web.owner.charts import ChartInterval


@pytest.mark.parametrize(
    ("interval", "axis"),
    [((0.2, -0.3, 0.7), (-1.02, 1.02)), ((0.5, 0.3, 0.7), (-0.02, 1.02))],
)
def test_the_axis_is_the_range_or_its_part_from_0(
    interval: tuple[float, float, float],
    axis: tuple[float, float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(charts, "as_image", lambda figure, _: drawn.extend(figure.axes) or "")
    charts.intervals([ChartInterval("CC", *interval)], "light")
    assert drawn[0].get_xlim() == pytest.approx(axis)
