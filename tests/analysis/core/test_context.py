"""What an interval covers stands beside it where it is less than it says."""

from pathlib import Path

import numpy as np
import pytest

from analysis import Options, analyse, write_report
from analysis.core.context import MEASURED, QUERIES, crowding, measured_coverage
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")


def test_the_most_frequent_value() -> None:
    values = np.array([[100, 100], [np.nan, 100], [40, 60.0]])
    assert crowding(values) == pytest.approx(3 / 5)
    assert crowding(np.full((2, 2), np.nan)) == 0


def test_the_next_size_below_counts() -> None:
    (statistic, variant), by_size = next(iter(MEASURED.items()))
    least = min(by_size)
    assert measured_coverage(statistic, variant, least) == by_size[least]
    assert measured_coverage(statistic, variant, 2) == by_size.get(QUERIES[0])
    following = QUERIES[QUERIES.index(least) + 1]
    assert measured_coverage(statistic, variant, following - 1) == by_size[least]
    assert measured_coverage("no such figure", variant, least) is None


def test_the_coverage_is_stated_where_most_ratings_are_one_value(tmp_path: Path) -> None:
    frame = simulated(queries=20)
    human = frame["scorer_kind"] == "human"
    # The upper two thirds of the ratings become 100.
    high = frame["value"] > frame.loc[human, "value"].quantile(1 / 3)
    crowded = frame.assign(value=frame["value"].mask(human & high, 100.0))
    quick = Options(resamples=100)
    plain = analyse(table(frame), options=quick)
    assert not [e for e in plain.estimates if "measured_coverage" in e.params]

    analysis = analyse(table(crowded), options=quick)
    first = analysis.estimates.first("krippendorff_alpha", level="interval")
    assert first is not None
    assert first.params["measured_coverage"] == MEASURED["krippendorff_alpha", "interval"][15]
    page = write_report(analysis, tmp_path / "report").read_text(encoding="utf-8")
    assert "] covers .9" in page

    # Measured at .95 only.
    other = analyse(table(crowded), options=Options(resamples=100, level=0.9))
    assert not [e for e in other.estimates if "measured_coverage" in e.params]
