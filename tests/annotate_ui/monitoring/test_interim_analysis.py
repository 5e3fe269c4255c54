"""Interim analyses: computed in another process, one at a time, recorded, named in the report."""

import subprocess
import sys
import time
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, update

from analysis.cli.read_study import from_study
from analysis.pipeline.estimation import headline
from analysis.pipeline.sections import statistics
from analysis.render.limitations import not_established
from annotate_ui.monitoring.background_job import (
    Note,
    computing_lock,
    failure,
    read_note,
    running,
    start,
    write_note,
)
from annotate_ui.monitoring.interim_analysis import newest, run_interim_analysis
from annotate_ui.monitoring.stopping_rule import stopping_state
from study import Study, StudyError
from study.facts.ratings import interim_analysis_counts
from study.schema import now
from study.schema.tables import (
    assignments,
    interim_analyses,
    rater_answers,
    ratings,
    responses as response_table,
    scorer_answers,
)
from tests.annotate_ui.monitoring.simulated_campaign import Habit, simulate
from tests.annotate_ui.monitoring.test_stopping_rule import under

RATERS: dict[str, Habit] = {"a": "careful", "b": "careful", "c": "careful"}


def waited(study: Study, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while running(study) is not None:
        assert time.monotonic() < until, "the analysis takes too long"
        time.sleep(0.1)


def count_analyses(study: Study) -> int:
    with study.read() as connection:
        return len(connection.execute(select(interim_analyses.c.id)).all())


def add_judge(study: Study) -> None:
    with study.write() as connection:
        responses = connection.execute(select(response_table.c.id)).scalars().all()
        rows = [
            {
                "response_id": response,
                "construct_key": "QR",
                "construct_version": 1,
                "scorer": "J",
                "scorer_kind": "judge",
                "repeat": 0,
                "value": float(response % 11) * 10,
                "inclusion_prob": 1.0,
            }
            for response in responses
        ]
        connection.execute(insert(scorer_answers), rows)


@pytest.mark.parametrize("shared", [1, 2, 3])
def test_interim_figures_of_few_shared_queries_are_possible(
    study: Study, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate(
        study, {"a": "guesses", "b": "guesses"}, queries=9, systems=2, per_item=2, keys=("QR",)
    )
    frame = study.score_table()
    queries = sorted(frame["query_id"].unique())
    by_one = {"a": queries[shared::2], "b": queries[shared + 1 :: 2]}
    dropped = [
        query in by_one["b" if scorer == "a" else "a"]
        for query, scorer in zip(frame["query_id"], frame["scorer"], strict=True)
    ]
    so_far = frame[[not gone for gone in dropped]]
    monkeypatch.setattr(Study, "score_table", lambda _: so_far)
    declared = {statistic.id: statistic for statistic in statistics()}
    for figure in run_interim_analysis(study, "agreement", "command").figures:
        low, high = figure["ci_low"], figure["ci_high"]
        if low is None:
            assert figure["reason"]
            continue
        assert low <= high
        assert all(declared[figure["statistic"]].contains(end) for end in (low, high))
        assert shared > 1 or figure["statistic"] not in {"icc", "krippendorff_alpha"}


def test_an_interim_analysis_has_intervals_and_is_recorded(any_study: Study) -> None:
    simulate(any_study, RATERS, queries=20, systems=2, keys=("QR", "CC"))
    add_judge(any_study)
    analysis = run_interim_analysis(any_study, "agreement", "command")
    assert analysis.not_for_stopping
    (alpha,) = analysis.of("krippendorff_alpha", "QR")
    assert alpha["ci_low"] < alpha["value"] < alpha["ci_high"]
    (icc,) = analysis.of("icc", "CC")
    assert icc["target"] == "raters_like_these"
    assert len(analysis.of("rater_against_others", "QR")) == 3
    assert len(analysis.of("rater_against_others", "QR", "within_query")) == 3
    # The judge is not there unless it is asked for.
    assert "J" not in {name for figure in analysis.figures for name in figure["scorers"]}
    assert newest(any_study, "agreement") == analysis
    assert newest(any_study, "judge") is None
    judged = run_interim_analysis(any_study, "judge", "command", "J")
    # The verdict's measure of order.
    (difference,) = judged.of("human_ceiling_difference", "QR", "within_query")
    assert difference["params"]["measure"] == "kendall_tau_b"
    assert judged.of("bias", "QR")
    stopping = run_interim_analysis(any_study, "stopping", "page")
    assert stopping.stopping is not None
    assert not stopping.not_for_stopping
    assert stopping.as_json()["computed_at"].startswith(str(now().year))
    assert count_analyses(any_study) == 3


def test_analyses_before_the_last_value_are_interim_and_in_the_report(study: Study) -> None:
    simulate(study, RATERS, queries=20, systems=2, keys=("QR",), share=0.8)
    run_interim_analysis(study, "agreement", "command")
    with study.read() as connection:
        assert interim_analysis_counts(connection) == {}
    with study.write() as connection:
        old = connection.execute(select(ratings).limit(1)).one()._mapping
        new = {name: old[name] for name in old if name not in {"id", "construct_key"}}
        connection.execute(insert(rater_answers).values(**new, construct_key="CC"))
    with study.read() as connection:
        assert interim_analysis_counts(connection) == {"agreement": 1}
    source = from_study(study.folder, {})
    sentences = not_established(headline(source.scores, None, source.options))
    assert any(
        "design was sequential" in sentence and "computed 1 time " in sentence
        for sentence in sentences
    )


def test_an_analysis_that_cannot_be_computed_is_refused_and_not_recorded(study: Study) -> None:
    with pytest.raises(StudyError, match="People have not entered a value"):
        run_interim_analysis(study, "agreement", "command")
    with pytest.raises(StudyError, match="Unknown kind of interim analysis"):
        run_interim_analysis(study, "bets", "command")
    with pytest.raises(StudyError, match="Name the judge"):
        run_interim_analysis(study, "judge", "command")
    simulate(study, RATERS, queries=5, systems=2, keys=("QR",))
    add_judge(study)
    with pytest.raises(StudyError, match="Did you mean 'J'"):
        run_interim_analysis(study, "judge", "command", "j")
    assert count_analyses(study) == 0


def test_an_analysis_is_computed_in_a_separate_process(study: Study) -> None:
    simulate(study, RATERS, queries=12, systems=2, keys=("QR",))
    start(study, "agreement")
    assert running(study) == "agreement"
    # While one runs, no other is started.
    start(study, "stopping")
    waited(study)
    analysis = newest(study, "agreement")
    assert analysis is not None
    assert analysis.requested_in == "page"
    assert newest(study, "stopping") is None
    assert failure(study) is None
    assert read_note(study.folder) is not None


def test_a_failed_analysis_has_its_reason(study: Study) -> None:
    start(study, "agreement")
    waited(study)
    failed = failure(study)
    assert failed is not None
    assert "People have not entered a value" in (failed.failed or "")
    assert newest(study, "agreement") is None


def test_a_process_that_vanished_is_reported_and_does_not_block(study: Study) -> None:
    long_ago = (now() - timedelta(minutes=3)).isoformat()
    write_note(study.folder, Note("judge", long_ago))
    assert running(study) is None
    failed = failure(study)
    assert failed is not None
    assert "without an error message" in (failed.failed or "")
    with computing_lock(study.folder):
        assert running(study) == "judge"
    write_note(study.folder, Note("judge", (now() - timedelta(hours=1)).isoformat()))
    assert running(study) is None


def test_an_analysis_that_takes_too_long_is_ended_and_reported(study: Study) -> None:
    code = (
        "import sys, time, datetime; from pathlib import Path\n"
        "from annotate_ui.monitoring import background_job\n"
        "background_job.LONGEST = datetime.timedelta(seconds=.5)\n"
        "background_job._analyse = lambda *_: time.sleep(60)\n"
        "sys.exit(background_job.main(Path(sys.argv[1]), 'agreement', None))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(study.folder)], timeout=30, check=False)
    assert done.returncode == 1
    failed = failure(study)
    assert failed is not None
    assert "not finished after" in (failed.failed or "")


def test_two_layouts_are_never_pooled(study: Study) -> None:
    simulate(study, RATERS, queries=40, systems=2, keys=("QR",))
    with study.write() as connection:
        side_by_side = (
            update(assignments).where(assignments.c.response_id <= 20).values(layout="side_by_side")
        )
        connection.execute(side_by_side)
    analysis = run_interim_analysis(study, "agreement", "command")
    assert "two layouts, which are not pooled" in (analysis.note or "")
    (alpha,) = analysis.of("krippendorff_alpha", "QR")
    assert alpha["n_queries"] == 30
    (state,) = stopping_state(under(study, half_width=5, constructs=("QR",))).constructs
    assert (state.queries, state.queries_complete) == (30, 40)


def test_agreement_of_a_large_campaign_takes_seconds(study: Study) -> None:
    simulate(study, RATERS, queries=300)
    began = time.process_time()
    run_interim_analysis(study, "agreement", "command")
    # Measured: .7 s of processor time with 300 queries, 4 systems, 3 raters, 5 constructs.
    assert time.process_time() - began < 10
