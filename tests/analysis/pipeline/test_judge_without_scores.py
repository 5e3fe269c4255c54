"""A judge without any score is named, and changes nothing that is said of the others."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.analysis import Analysis
from analysis.decisions.answers import decisions
from analysis.pipeline.estimation import analyse
from analysis.render.verdicts import speaking
from tests.analysis.scores import simulated

QUICK = Options(resamples=100)
POINTS = {"QR": Scale(0, 100)}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return simulated(queries=30, raters=3)


def failed(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Rows of a scorer all of whose answers are missing."""
    rows = frame[frame["scorer"] == "judge"]
    return rows.assign(scorer="failed", scorer_kind=kind, value=np.nan, missing_reason="refusal")


def answered(analysis: Analysis) -> list[tuple[object, ...]]:
    found = decisions(analysis, speaking(analysis))
    return [(d.use, d.target, d.answer, d.probability) for d in found]


@pytest.mark.parametrize("kind", ["judge", "metric"])
def test_it_changes_no_answer_and_no_claim(frame: pd.DataFrame, kind: str) -> None:
    alone = analyse(ScoreTable.from_frame(frame, POINTS), options=QUICK)
    both = pd.concat([frame, failed(frame, kind)], ignore_index=True)
    beside = analyse(ScoreTable.from_frame(both, POINTS), options=QUICK)
    assert speaking(beside) == speaking(alone) == [("QR", "judge")]
    assert answered(beside) == answered(alone)
    assert list(beside.claims.records()) == list(alone.claims.records())
    assert "failed has no score on QR: it is compared with nobody there" in beside.warnings
    gaps = beside.estimates.select("missing_share", scorer="failed", scope="pooled")
    assert [gap.n_dropped for gap in gaps] == [len(failed(frame, kind))]


def test_the_only_judge_is_answered_for_though_it_has_no_score(frame: pd.DataFrame) -> None:
    rows = pd.concat([frame[frame["scorer"] != "judge"], failed(frame, "judge")])
    analysis = analyse(ScoreTable.from_frame(rows, POINTS), options=QUICK)
    assert speaking(analysis) == [("QR", "failed")]
