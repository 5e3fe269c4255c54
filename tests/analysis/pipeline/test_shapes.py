"""Tables of every shape that people have end with a result or with an error in words."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings

from analysis import AnalysisError, Options, analyse
from analysis.core.analysis import Analysis
from analysis.decisions.answers import decisions
from analysis.pipeline.estimation import headline
from analysis.render.decision_words import as_record
from analysis.render.opening import lines
from analysis.render.opening_of_analysis import openings_of
from analysis.render.verdicts import verdict_subjects
from tests.analysis.shapes import SHAPES, Shape, scores
from tests.conftest import examples

pytestmark = pytest.mark.usefixtures("without_drawing")

QUICK = Options(resamples=100)


@settings(deadline=None, max_examples=examples(100))
@given(SHAPES)
def test_the_first_lines_of_any_table(shape: Shape) -> None:
    _ends_well(lambda: headline(scores(shape), options=QUICK))


@settings(deadline=None, max_examples=examples(20))
@given(SHAPES)
def test_the_whole_report_of_any_table(shape: Shape) -> None:
    _ends_well(lambda: analyse(scores(shape), options=QUICK))


def _ends_well(run: Callable[[], Analysis]) -> None:
    """Figures that are undefined state why; an error of any other class fails."""
    with suppress(AnalysisError):
        analysis = run()
        assert [e for e in analysis.estimates if not e.reason and not np.isfinite(e.value)] == []
        _answered(analysis)


def _answered(analysis: Analysis) -> None:
    """The answers are in words, and those that are shown beside an interval agree with it."""
    found = decisions(analysis, verdict_subjects(analysis))
    for opening in openings_of(analysis, found):
        assert not any("nan" in line.lower() for line in lines(opening))
    for decision in found:
        record = as_record(analysis, decision)
        assert "nan" not in record["deciding"]["sentence"].lower()
        if decision.answer in {"open", "not_applicable"}:
            assert decision.probability is not None or decision.missing
        bound = decision.binding
        if bound is None or bound.estimate.statistic != "bias":
            continue
        ends = bound.estimate.ci_low, bound.estimate.ci_high
        margin = bound.threshold.value
        if all(np.isfinite(ends)) and min(abs(abs(end) - margin) for end in ends) > 1e-9:
            outside = ends[0] > margin or ends[1] < -margin
            assert outside == (decision.answer == "no")
