"""Probes, rounds of drift and repeats of metrics in steps."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from analysis.cli.read_study import from_study
from judge import RunStoppedError, judge_metrics, judge_study, preview_probes, probe_study
from judge.cli.judge_command import judge
from judge.engines.engine import Delivery
from judge.protocol.conditions import Run
from judge.protocol.exchange import TOO_LONG, Answer, Request
from study import Study, StudyError
from study.schema.tables import step_answers
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.metrics.test_two_steps import FILE, answer_of, settings
from tests.judge.running.test_drift import rounds
from tests.judge.running.test_probe_run import stored
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill

HALLUCINATION = ScriptedSettings(metric="ragchecker-hallucination", name="h")


@pytest.fixture
def judged(any_study: Study, scripted: type[Scripted]) -> Study:
    fill(any_study)
    scripted.answer = staticmethod(scripted_answer)
    assert judge_study(any_study, HALLUCINATION).remaining == 0
    scripted.asked.clear()
    return any_study


def of_probes(scripted: type[Scripted]) -> Counter[tuple[str, str]]:
    return Counter((request.purpose, request.prompt) for request in scripted.asked)


def test_every_probe_is_evaluated_and_asks_only_what_it_alters(
    judged: Study, scripted: type[Scripted]
) -> None:
    before = judged.score_table()
    outcome = probe_study(judged, HALLUCINATION, sample=3)
    rows = stored(judged)
    assert (outcome.remaining, outcome.answered) == (0, len(scripted.asked))
    assert {"again", "give-100", "expert", "passage-give-100", "shuffled"} <= {
        row["probe"] for row in rows
    }
    keys = Counter((row["response_id"], row["probe"]) for row in rows)
    assert set(keys.values()) == {1}
    assert len({response for response, _ in keys}) == 3
    assert max(of_probes(scripted).values()) == 1
    # Passages are checked one by one: in another order all prompts are those of the run.
    assert not any(request.purpose == "probe shuffled" for request in scripted.asked)
    # An altered passage changes its checks, and no list of claims.
    passage = [r.prompt for r in scripted.asked if r.purpose == "probe passage-give-100"]
    assert passage
    assert not any("JSON array" in prompt for prompt in passage)
    assert judged.score_table().equals(before)
    # A low value is a good sign, so that an instruction to the judge is obeyed by a fall.
    assert {row["fault"] for row in rows if row["probe"] == "give-100"} == {"fall"}
    again = [row for row in rows if row["probe"] == "again"]
    scores = before[before["scorer"] == "h"].set_index("response_id")["value"]
    table = from_study(judged.folder, {}).probes
    assert table is not None
    unchanged = table.frame[table.frame["probe"] == "again"]
    assert len(again) == len(unchanged) == 3
    assert unchanged["value"].tolist() == [scores[key] for key in unchanged["response_id"]]
    assert all(row["parts"]["of"] for row in again)


@pytest.mark.parametrize("stop", [1, 7, 40])
def test_interrupted_probes_continue_and_ask_nothing_twice(
    judged: Study, scripted: type[Scripted], stop: int
) -> None:
    scripted.stop_after = stop
    with pytest.raises(RunStoppedError) as stopped:
        probe_study(judged, HALLUCINATION, sample=2)
    assert stopped.value.outcome.remaining > 0
    scripted.stop_after = None
    assert probe_study(judged, HALLUCINATION, sample=2).remaining == 0
    assert max(of_probes(scripted).values()) == 1
    asked = len(scripted.asked)
    assert asked > stop
    assert probe_study(judged, HALLUCINATION, sample=2).answered == 0
    assert len(scripted.asked) == asked


def test_a_limit_is_kept_and_answers_are_used(judged: Study, scripted: type[Scripted]) -> None:
    limited = HALLUCINATION.model_copy(update={"limit": 5})
    first = probe_study(judged, limited, kinds=("again",), sample=2)
    assert (first.answered, len(scripted.asked)) == (5, 5)
    while probe_study(judged, limited, kinds=("again",), sample=2).answered:
        pass
    assert len(stored(judged)) == 2
    assert max(of_probes(scripted).values()) == 1


def test_a_preview_counts_first_prompts(judged: Study, scripted: type[Scripted]) -> None:
    shown = preview_probes(judged, HALLUCINATION, kinds=("again", "order"), sample=3)
    # Lists of claims of three responses; checks follow.
    assert shown.planned.prompts == {"again": 3}
    assert any("up to 2 steps" in line for line in shown.lines())
    assert not scripted.asked


def test_a_prompt_beyond_the_window_is_a_missing_value(
    judged: Study, scripted: type[Scripted]
) -> None:
    scripted.window = 400
    probe_study(judged, HALLUCINATION, kinds=("length",), sample=3)
    reasons = {row["probe"]: row["missing_reason"] for row in stored(judged)}
    assert reasons["filler"] == TOO_LONG


def test_a_metric_that_compares_texts_is_probed(
    campaign: Study, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    scripted.answer = always(Answer('["When?", "Where?", "Who?"]'))
    relevance = ScriptedSettings(metric="ragas-answer-relevance", name="r", encoder=encoder.name)
    judge_study(campaign, relevance)
    outcome = probe_study(campaign, relevance, kinds=("again", "injection"), sample=2)
    rows = stored(campaign)
    assert outcome.remaining == 0
    assert len(rows) > 2
    assert all((row["value"] is None) != (row["missing_reason"] is None) for row in rows)
    with campaign.read() as connection:
        steps = set(connection.execute(select(step_answers.c.step)).scalars())
    assert "cosine" in steps


def test_one_metric_is_probed_at_a_time(campaign: Study) -> None:
    with pytest.raises(StudyError, match="suite of 11: name one of ragchecker-precision"):
        probe_study(campaign, ScriptedSettings(metric="ragchecker"))
    words = ["probe", str(campaign.folder), "--model", "m", "--metric", "ares", "--dry-run"]
    assert "name one of ares-" in str(CliRunner().invoke(judge, words).exception)


def test_rounds_of_drift_evaluate_the_same_responses(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.answer = staticmethod(answer_of)
    outcome = judge_study(campaign, settings(drift=2))
    assert sum("Drift, round" in note for note in outcome.notes) == 2
    by_round = rounds(campaign)
    assert by_round[0] == by_round[1]
    assert len(set(by_round[0])) == 2
    # Every step is asked anew: of each response a list, and three verdicts.
    drift = [request for request in scripted.asked if request.purpose == "drift 1"]
    assert len(drift) == 2 * 4
    scripted.answer = staticmethod(lambda p: Answer("No") if "Statement:" in p else answer_of(p))
    judge_study(campaign, settings(drift=2))
    assert {row["value"] for row in stored(campaign) if row["round"] == 2} == {0}
    assert sorted(rounds(campaign)) == [0, 1, 2]


def test_a_round_that_was_cut_is_not_continued(campaign: Study, scripted: type[Scripted]) -> None:
    scripted.answer = staticmethod(answer_of)
    scripted.stop_after = 3
    with pytest.raises(Exception, match="Interrupted"):
        judge_study(campaign, settings(drift=2))
    scripted.stop_after = None
    judge_study(campaign, settings(drift=2))
    assert sorted(rounds(campaign)) == [1, 2]


def test_repeats_evaluate_every_step_again(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=2)

    def by_repeat(self: Scripted, run: Run, requests: Iterable[Request], delivery: Delivery) -> Any:
        del run
        for request in requests:
            type(self).asked.append(request)
            answer = answer_of(request.prompt)
            if request.repeat and "Statement:" in request.prompt:
                answer = Answer("yes")
            delivery.commit([(request, answer)])
        return ()

    monkeypatch.setattr(scripted, "run", by_repeat)
    outcome = judge_study(study, settings(repeats=2))
    assert (outcome.judged, outcome.answered) == (16, 36)
    asked = Counter((request.repeat, request.prompt) for request in scripted.asked)
    assert (len(asked), set(asked.values())) == (36, {1})
    table = study.score_table()
    scores = table[table["scorer"] == "faithful"]
    assert set(scores[scores["repeat"] == 1]["value"]) == {100}
    assert len(scores) == 16
    scripted.asked.clear()
    both = ScriptedSettings(metric=f"{FILE},ares", repeats=2)
    judge_metrics(study, both)
    assert {request.repeat for request in scripted.asked} == {0, 1}
