"""Judge minus people by layout, supporting passage and family: planted differences are found."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis import Analysis, Options, analyse
from analysis.core.probe_table import COLUMNS, ProbeTable
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")

QUICK = Options(resamples=200)
EMPTY = ProbeTable.from_frame(pd.DataFrame(columns=list(COLUMNS)))


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Each query has a response of s0, s1 and s2; the judge is 20 points too lenient to s0."""
    frame = simulated(queries=40, kindness=0, judge_noise=2, seed=4)
    judged = frame["scorer"] == "judge"
    frame.loc[judged, "value"] = frame.loc[judged, "value"].clip(0, 80)
    frame.loc[judged & (frame["system"] == "s0"), "value"] += 20
    return frame


@pytest.fixture(scope="module")
def traits(frame: pd.DataFrame) -> pd.DataFrame:
    """Responses of s0 have Markdown and are supported last, the others first or midway."""
    system = frame.drop_duplicates("response_id").set_index("response_id")["system"]
    support = system.map({"s0": 1.0, "s1": 0.5, "s2": 0.0})
    return pd.DataFrame({"markdown": (system == "s0") * 1.0, "support": support})


@pytest.fixture(scope="module")
def analysis(frame: pd.DataFrame, traits: pd.DataFrame) -> Analysis:
    known = replace(
        EMPTY,
        traits=traits,
        scorer_families={"judge": "llama"},
        system_families={"s0": "llama", "s1": "gpt"},
    )
    return analyse(table(frame), options=QUICK, probes=known)


def error(frame: pd.DataFrame, system: str) -> float:
    of_scorer = frame[frame["system"] == system]
    wide = of_scorer.pivot_table(index="response_id", columns="scorer", values="value")
    return float((wide["judge"] - wide.drop(columns="judge").mean(axis=1)).mean())


def test_differences_are_those_of_the_groups(analysis: Analysis, frame: pd.DataFrame) -> None:
    by = {system: error(frame, system) for system in ("s0", "s1", "s2")}
    (selected,) = analysis.estimates.select("self_preference")
    assert selected.value == pytest.approx(by["s0"] - by["s1"])
    assert selected.ci_low > 10
    assert (selected.systems, selected.params["family"]) == (("s0",), "llama")
    # Responses of s2, whose family is not known, do not enter.
    assert (selected.n_responses, selected.n_dropped) == (80, 40)
    (layout,) = analysis.estimates.select("error_by_layout")
    assert layout.value == pytest.approx(by["s0"] - (by["s1"] + by["s2"]) / 2)
    last, middle = analysis.estimates.select("error_by_support")
    assert last.value == pytest.approx(by["s0"] - by["s2"])
    assert middle.value == pytest.approx(by["s1"] - (by["s0"] + by["s2"]) / 2)


def test_the_page_says_so(analysis: Analysis) -> None:
    from analysis.render.section import chapter
    from analysis.topics.probes.section import SECTION

    made = chapter(SECTION, analysis)
    assert made is not None
    assert any("(Judge's own family: its systems minus others)" in line for line in made.reading)
    assert [entry.key for entry in made.tables] == ["observed-biases"]
    assert len(made.tables[0].rows) == 4
    assert made.tables[0].columns == ("Scorer", "Comparison", "QR")


def test_nothing_is_said_where_nothing_is_known(frame: pd.DataFrame, traits: pd.DataFrame) -> None:
    none = analyse(table(frame), options=QUICK, probes=EMPTY).estimates
    names = ("self_preference", "error_by_layout", "error_by_support")
    assert not any(none.select(name) for name in names)
    alike = replace(
        EMPTY,
        traits=traits.assign(markdown=0.0, support=np.nan),
        scorer_families={"judge": "llama"},
        system_families={"s0": "gpt"},
    )
    estimates = analyse(table(frame), options=QUICK, probes=alike).estimates
    (layout,) = estimates.select("error_by_layout")
    assert layout.reason == "no response of those with Markdown has both values"
    assert not estimates.select("error_by_support")
    (selected,) = estimates.select("self_preference")
    assert selected.reason == "no response of systems of the family llama has both values"
