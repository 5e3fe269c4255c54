"""A suite that is stopped or loses its server: no prompt twice, no value missing, equal values."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import select

from judge import RunStoppedError, judge_metrics
from judge.engines.engine import Delivery
from judge.protocol.conditions import Run
from judge.protocol.exchange import Answer, Failure
from study import Study, StudyError
from study.schema.tables import judgments
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, fill

SUITE = ScriptedSettings(metric="ragchecker")


def values(study: Study) -> dict[tuple[str, ...], float]:
    table = study.score_table()
    rows = table[table["scorer"].str.contains("ragchecker")]
    index = rows.set_index(["scorer", "construct", "query_id", "system"])["value"]
    return {tuple(map(str, key)): value for key, value in index.to_dict().items()}


def missing(study: Study) -> list[str]:
    with study.read() as connection:
        reasons = connection.execute(select(judgments.c.missing_reason)).scalars()
        return [reason for reason in reasons if reason is not None]


def test_thirteen_stops_cost_no_prompt_and_no_value(
    study: Study, tmp_path: Path, scripted: type[Scripted]
) -> None:
    scripted.answer = staticmethod(scripted_answer)
    with Study.create(tmp_path / "straight") as straight:
        fill(straight, queries=2)
        judge_metrics(straight, SUITE)
        expected = values(straight)
    prompts = Counter(request.prompt for request in scripted.asked)
    scripted.asked.clear()
    fill(study, queries=2)
    random = Random(13)
    for _ in range(13):
        scripted.stop_after = random.randint(0, 2)
        with pytest.raises(RunStoppedError):
            judge_metrics(study, SUITE)
    scripted.stop_after = None
    judge_metrics(study, SUITE)
    assert Counter(request.prompt for request in scripted.asked) == prompts
    assert set(prompts.values()) == {1}
    assert values(study) == expected
    assert missing(study) == []


def test_a_server_that_goes_away_leaves_no_missing_value(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=2)
    scripted.answer = staticmethod(scripted_answer)
    run = scripted.run

    def goes_away(self: Scripted, current: Run, requests: object, delivery: Delivery) -> object:
        some = list(requests)  # type: ignore[call-overload]
        run(self, current, some[: len(some) // 2], delivery)
        for request in some[len(some) // 2 :]:
            delivery.failed(request, Failure("no_connection", "refused"))
        raise StudyError("The server does not answer.")

    monkeypatch.setattr(scripted, "run", goes_away)
    for _ in range(3):
        with pytest.raises(RunStoppedError):
            judge_metrics(study, SUITE)
        assert missing(study) == []
    monkeypatch.setattr(scripted, "run", run)
    outcomes = judge_metrics(study, SUITE)
    assert not any(outcome.remaining or outcome.run_missing for outcome in outcomes)
    assert max(Counter(request.prompt for request in scripted.asked).values()) == 1


def test_a_further_attempt_is_shared_by_the_metrics_of_a_suite(
    study: Study, scripted: type[Scripted]
) -> None:
    fill(study, queries=2)
    scripted.answer = staticmethod(lambda _: Answer("prose"))
    outcomes = judge_metrics(study, SUITE)
    assert all(outcome.run_missing for outcome in outcomes)
    scripted.asked.clear()
    scripted.answer = staticmethod(scripted_answer)
    again = judge_metrics(study, SUITE.model_copy(update={"retry_unparsed": True}))
    assert not any(outcome.remaining for outcome in again)
    assert max(Counter(request.prompt for request in scripted.asked).values()) == 1
