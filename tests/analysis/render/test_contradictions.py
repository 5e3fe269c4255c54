import numpy as np
import pandas as pd
import pytest

from analysis import Options, analyse
from analysis.core.analysis import Analysis
from analysis.pipeline.report_files import as_document
from analysis.render.sentence_templates import OPENING
from tests.analysis.scores import simulated, table

pytestmark = pytest.mark.usefixtures("without_drawing")

QUICK = Options(resamples=150)


def notes(frame: pd.DataFrame) -> list[str]:
    return _notes(analyse(table(frame), options=QUICK))


def _notes(analysis: Analysis) -> list[str]:
    document = as_document(analysis)
    return [n for v in document.verdicts for n in v.notes if n.startswith(OPENING)]


def of_queries(seed: int = 0) -> pd.DataFrame:
    """A judge who knows the query's level and nothing else."""
    frame = simulated(queries=40, systems=3, seed=seed)
    rng = np.random.default_rng(seed + 100)  # another stream than that of the ratings
    level = dict(zip(frame["query_id"].unique(), rng.uniform(20, 80, 40), strict=True))
    levels = frame["query_id"].map(level)
    frame["value"] = (frame["value"] - 50) / 3 + levels
    judged = frame["scorer"] == "judge"
    frame.loc[judged, "value"] = levels[judged] + rng.normal(size=judged.sum())
    return frame.assign(value=frame["value"].clip(0, 100))


def test_a_high_pooled_and_a_nil_within_contradict_each_other() -> None:
    (note,) = notes(of_queries())
    assert "over all responses its order has a tau-b of .8" in note
    assert "hardly a good response from a bad one to the same query" in note


def test_a_passed_alternative_annotator_test_and_a_nil_within_contradict_each_other() -> None:
    frame = of_queries()
    # Raters who differ by noise alone: whoever knows the level of a query is closest to all.
    rng = np.random.default_rng(5)
    level = frame.loc[frame["scorer"] == "judge"].groupby("query_id")["value"].mean()
    human = frame["scorer"] != "judge"
    rated = frame.loc[human, "query_id"].map(level) + 8 * rng.normal(size=int(human.sum()))
    frame.loc[human, "value"] = rated.clip(0, 100)
    notes_shown = notes(frame)
    assert any("replace 100% of the raters" in note for note in notes_shown), notes_shown


def test_a_good_judge_contradicts_nothing() -> None:
    assert notes(simulated(queries=40)) == []


def test_systems_that_people_tell_apart_the_other_way_around_are_named() -> None:
    frame = simulated(queries=60, systems=2, judge_noise=2, kindness=0)
    s1 = frame["system"] == "s1"
    judged = frame["scorer"] == "judge"
    frame["value"] = 0.6 * frame["value"] + 20
    # People find s1 8 points better, the judge 3 worse; the order of responses stays close.
    frame.loc[s1 & ~judged, "value"] += 8
    frame.loc[s1 & judged, "value"] -= 3
    (note,) = notes(frame)
    assert "the other way around (people find s1 better than s0, it does not)" in note


@pytest.mark.parametrize("kindness", [2, -60])
def test_composed_ac_far_below_people_is_said_to_be_made_unless_the_judge_is_as_far(
    kindness: float,
) -> None:
    frame = simulated(queries=30, constructs=("AC",), kindness=kindness)
    em = frame[frame["scorer"] == "judge"].assign(scorer="EM", scorer_kind="metric")
    em["value"] = np.where(np.arange(len(em)) % 9 == 0, 100.0, 0.0)
    notes_shown = notes(pd.concat([frame, em], ignore_index=True))
    if kindness < 0:
        assert not any("comes from composing" in note for note in notes_shown)
        return
    (note,) = notes_shown
    assert "comes from composing" in note
    assert "AC composed with lambda 0.7 averages" in note


@pytest.mark.parametrize("frame", [simulated()[lambda f: f["scorer"] == "judge"], simulated()[:0]])
def test_no_contradiction_is_noted_without_people(frame: pd.DataFrame) -> None:
    if len(frame):
        assert notes(frame) == []
