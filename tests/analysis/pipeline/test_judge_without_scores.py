"""A judge without any score is named, and changes nothing that is said of the others."""

import numpy as np
import pandas as pd
import pytest

from analysis import Options, Scale, ScoreTable
from analysis.core.analysis import Analysis
from analysis.decisions.answers import decisions
from analysis.pipeline.estimation import analyse
from analysis.render.verdicts import verdict_subjects
from tests.analysis.scores import simulated

QUICK = Options(resamples=100)
POINTS = {"QR": Scale(0, 100)}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A judge, three raters, and a metric that orders responses at random."""
    rows = simulated(queries=30, raters=3)
    judged = rows[rows["scorer"] == "judge"]
    noise = np.random.default_rng(5).uniform(0, 100, len(judged))
    metric = judged.assign(scorer="metric", scorer_kind="metric", value=noise)
    return pd.concat([rows, metric], ignore_index=True)


def failed(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Rows of a scorer all of whose answers are missing."""
    rows = frame[frame["scorer"] == "judge"]
    return rows.assign(scorer="failed", scorer_kind=kind, value=np.nan, missing_reason="refusal")


def answered(analysis: Analysis) -> list[tuple[object, ...]]:
    found = decisions(analysis, verdict_subjects(analysis))
    return [(d.use, d.target, d.answer, d.probability) for d in found]


@pytest.mark.parametrize("kind", ["judge", "metric"])
def test_a_judge_without_scores_changes_no_answer_and_no_claim(
    frame: pd.DataFrame, kind: str
) -> None:
    alone = analyse(ScoreTable.from_frame(frame, POINTS), options=QUICK)
    both = pd.concat([frame, failed(frame, kind)], ignore_index=True)
    beside = analyse(ScoreTable.from_frame(both, POINTS), options=QUICK)
    assert verdict_subjects(beside) == verdict_subjects(alone) == [("QR", "judge")]
    assert answered(beside) == answered(alone)
    of_claims = list(beside.claims.records())
    assert of_claims == list(alone.claims.records())
    # "Better than each of the metrics", with its support in report.json.
    joint = [record["joint"] for record in of_claims if record["statistic"] == "judge_minus_metric"]
    assert joint
    assert all(joint)
    assert "failed has no score on QR: it is compared with nobody there" in beside.warnings
    gaps = beside.estimates.select("missing_share", scorer="failed", scope="pooled")
    assert [gap.n_dropped for gap in gaps] == [len(failed(frame, kind))]


def test_the_only_judge_is_answered_for_though_it_has_no_score(frame: pd.DataFrame) -> None:
    people = frame[frame["scorer_kind"] == "human"]
    rows = pd.concat([people, failed(frame, "judge")])
    analysis = analyse(ScoreTable.from_frame(rows, POINTS), options=QUICK)
    assert verdict_subjects(analysis) == [("QR", "failed")]
