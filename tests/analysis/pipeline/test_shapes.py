"""Tables of every shape that people have end with a result or with an error in words."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis import AnalysisError, Options, Scale, ScoreTable, analyse
from analysis.core.analysis import Analysis
from analysis.core.arrays import FloatArray
from analysis.decisions.answers import decisions
from analysis.pipeline.estimation import headline
from analysis.render.decision_words import as_record
from analysis.render.opening import lines
from analysis.render.opening_of_analysis import openings_of
from analysis.render.verdicts import speaking
from ccrs_base.scales import Level
from tests.conftest import examples

pytestmark = pytest.mark.usefixtures("without_drawing")

QUICK = Options(resamples=100)
#: Two values, few points, tied tens, and numbers without ties.
STEPS = (1.0, 0.25, 0.1, 0.0)


@dataclass(frozen=True)
class Shape:
    """Sizes of a table, and which of its values are missing or alike."""

    sizes: tuple[int, ...]
    """Responses to each query."""
    systems: int
    raters: int
    step: float
    missing: float
    constant: tuple[str, ...]
    declared: Level | None
    seed: int


SHAPES = st.builds(
    Shape,
    sizes=st.one_of(
        st.lists(st.integers(1, 6), min_size=1, max_size=40).map(tuple),
        st.tuples(st.integers(1, 60), st.integers(1, 3), st.integers(0, 39)).map(
            lambda sizes: (sizes[0], *[sizes[1]] * sizes[2])
        ),
    ),
    systems=st.integers(1, 6),
    raters=st.integers(1, 6),
    step=st.sampled_from(STEPS),
    missing=st.sampled_from((0.0, 0.0, 0.2, 0.6, 0.95)),
    constant=st.sampled_from(((), (), (), ("judge",), ("rater-1",), ("judge", "rater-1"))),
    declared=st.sampled_from((None, "interval", "ordinal", "nominal")),
    seed=st.integers(0, 2**16),
)


def scores(shape: Shape) -> ScoreTable:
    """The table of a shape; not every scorer has every response."""
    rng = np.random.default_rng(shape.seed)
    query = np.repeat(np.arange(len(shape.sizes)), shape.sizes)
    quality = rng.uniform(size=len(shape.sizes))[query] + rng.uniform(size=query.size)
    parts = []
    for name in ("judge", *(f"rater-{i + 1}" for i in range(shape.raters))):
        value = _stepped((quality + rng.uniform(size=query.size)) / 3, shape.step)
        part = pd.DataFrame(
            {
                "response_id": [f"r{i}" for i in range(query.size)],
                "query_id": [f"q{i}" for i in query],
                "system": [f"s{i % shape.systems}" for i in range(query.size)],
                "construct": "QR",
                "scorer": name,
                "scorer_kind": "judge" if name == "judge" else "human",
                "value": np.full(query.size, 1.0) if name in shape.constant else value,
            }
        )
        parts.append(part[rng.uniform(size=query.size) >= shape.missing])
    scale = None
    if shape.declared is not None:
        step = shape.step if shape.declared != "interval" else 0.0
        scale = {"QR": Scale(0, 1, step or 0.01, shape.declared)}
    return ScoreTable.from_frame(pd.concat(parts, ignore_index=True), scale)


def _stepped(values: FloatArray, step: float) -> FloatArray:
    return np.round(np.round(values / step) * step if step else values, 2)


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
    found = decisions(analysis, speaking(analysis))
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
