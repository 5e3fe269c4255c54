"""Rounds of drift: one fixed set of prompts, before and after each call of a run."""

from typing import Any

import pytest

from judge import RunStoppedError, judge_study, list_runs
from judge.engines.engine_settings import FilesSettings
from judge.protocol.exchange import Answer
from study import Study, StudyError
from tests.judge.running.test_probe_run import stored
from tests.judge.small_studies import Scripted, ScriptedSettings, fill

SETTINGS = ScriptedSettings(model="scripted", drift=4)


def rounds(study: Study) -> dict[int, list[tuple[int, str]]]:
    by_round: dict[int, list[tuple[int, str]]] = {}
    for row in stored(study):
        by_round.setdefault(row["round"], []).append((row["response_id"], row["construct_key"]))
    return by_round


def test_a_call_adds_a_round_before_and_one_after(
    campaign: Study, scripted: type[Scripted]
) -> None:
    outcome = judge_study(campaign, SETTINGS)
    assert sum("Drift, round" in note for note in outcome.notes) == 2
    first, second = (rounds(campaign)[n] for n in (0, 1))
    assert first == second
    assert len(set(first)) == 4
    # The rounds are not judgments, and the judge is asked in the run's own words.
    assert outcome.judged == 60
    asked = [request.prompt for request in scripted.asked]
    assert asked[:4] == asked[-4:]
    assert set(asked[:4]) <= set(asked[4:-4])
    assert {row["kind"] for row in stored(campaign)} == {"drift"}
    # One query after the other, as long as there are any.
    of_query = [response // 5 for response, _ in first[:3]]
    assert len(set(of_query)) <= 3


def test_a_call_with_nothing_to_judge_adds_one_round(
    campaign: Study, scripted: type[Scripted]
) -> None:
    judge_study(campaign, SETTINGS)
    scripted.answer = staticmethod(lambda prompt: Answer("7"))  # noqa: ARG005
    judge_study(campaign, SETTINGS)
    by_round = rounds(campaign)
    assert sorted(by_round) == [0, 1, 2]
    assert by_round[2] == by_round[0]
    assert {row["value"] for row in stored(campaign) if row["round"] == 2} == {7.0}


def test_the_set_stays_when_responses_come_in_or_a_round_was_cut(
    campaign: Study, scripted: type[Scripted]
) -> None:
    scripted.stop_after = 2
    with pytest.raises(RunStoppedError):
        judge_study(campaign, SETTINGS)
    scripted.stop_after = None
    cut = rounds(campaign)[0]
    assert len(cut) == 2
    fill(campaign, queries=9)
    judge_study(campaign, SETTINGS)
    by_round = rounds(campaign)
    assert by_round[1][:2] == cut
    assert by_round[1] == by_round[2]
    assert len(by_round[1]) == 4
    judge_study(campaign, SETTINGS.model_copy(update={"drift": 6}))
    assert rounds(campaign)[3][:4] == by_round[1]
    assert len(rounds(campaign)[3]) == 6


def test_without_it_nothing_is_asked_twice(campaign: Study, scripted: Any) -> None:
    judge_study(campaign, ScriptedSettings(model="scripted"))
    assert stored(campaign) == []


def test_engines_without_calls_have_no_drift(campaign: Study, tmp_path: Any) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"query_id": "q1", "system": "A", "construct": "QR", "answer": "7"}\n')
    with pytest.raises(StudyError, match="--drift: not available with the engine 'files'"):
        FilesSettings.checked(model="m", answers=(answers,), drift=3)
    assert list_runs(campaign) == []
