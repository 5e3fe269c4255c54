"""The forecast of a suite: prompts by step, shared ones counted once, from a sample of queries."""

import json
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from judge import judge_metrics
from judge.protocol.exchange import Answer
from judge.running.preview import preview_metrics
from study import Study
from study.cli.root import cli
from tests.judge.metrics.test_ragchecker import scripted_answer
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, store


def fill_with_lengths(study: Study, queries: int) -> None:
    """Store queries with three systems and four passages each; texts differ in length."""
    random = Random(1)
    rows = []
    for q in range(queries):
        passages = [f"Passage {p} of {q}. " * random.randint(2, 9) for p in range(4)]
        for system in "ABC":
            rows.append(
                {
                    "query_id": f"q{q}",
                    "query": f"Question {q}?",
                    "references": [f"Reference {q}. " * random.randint(2, 12)],
                    "system": system,
                    "response": f"Response {q} of {system}. " * random.randint(1, 30),
                    "passages": passages,
                }
            )
    references = {row["query_id"]: row["references"] for row in rows}
    store(study, *({**row, "references": references[row["query_id"]]} for row in rows))


def claims_by_length(prompt: str) -> Answer:
    """Answer with a claim for about every 49 bytes (12.2 tokens) of a text."""
    if "List every claim" not in prompt:
        return scripted_answer(prompt)
    text = prompt.rsplit("Text:\n", 1)[1]
    noise = blake2b(text.encode(), digest_size=1).digest()[0] / 255
    number = max(1, round(len(text) / 49 * (0.8 + 0.4 * noise)))
    listed = json.dumps([f"Claim {n} of {text[:20]}" for n in range(number)])
    return Answer(listed, prompt_tokens=len(prompt) // 4, completion_tokens=12 * number)


def asked_by_step(prompts: list[str]) -> Counter[str]:
    return Counter("claims" if "List every claim" in p else "check" for p in prompts)


def test_a_sample_of_queries_tells_the_calls_that_follow(
    study: Study, scripted: type[Scripted]
) -> None:
    fill_with_lengths(study, 40)
    scripted.answer = staticmethod(claims_by_length)
    # The two need all claims and checks of the suite.
    names = "ragchecker-recall,ragchecker-noise-relevant"
    settings = ScriptedSettings(metric=names, price=(1, 2))
    before = preview_metrics(study, settings).forecast
    # Without an answer, first steps are exact: three responses and a reference answer of a query.
    assert [(s.step, s.known) for s in before.steps] == [("claims", 160), ("check", 0)]
    assert before.assumed
    assert not scripted.asked
    sample = judge_metrics(study, settings.model_copy(update={"estimate": 2}))
    asked = len(scripted.asked)
    assert [outcome.queries for outcome in sample] == [2, 2]
    assert all(outcome.run_judgments >= 6 for outcome in sample)
    forecast = sample[-1].by_step
    assert forecast is not None
    assert preview_metrics(study, settings).forecast == forecast
    # Asked again, the sample is complete.
    again = judge_metrics(study, settings.model_copy(update={"estimate": 2}))
    assert not any(outcome.answered for outcome in again)
    outcomes = judge_metrics(study, settings)
    assert not any(outcome.remaining for outcome in outcomes)
    rest = asked_by_step([request.prompt for request in scripted.asked[asked:]])
    assert forecast.calls == pytest.approx(rest.total(), rel=0.1)
    assert {s.step: s.calls for s in forecast.steps}["claims"] == rest["claims"]
    answers = (claims_by_length(request.prompt) for request in scripted.asked[asked:])
    tokens = sum(answer.prompt_tokens or 0 for answer in answers)
    assert forecast.prompt_tokens == pytest.approx(tokens, rel=0.1)
    assert preview_metrics(study, settings).forecast.calls == 0


def test_the_command_prints_one_document(
    study: Study, scripted: type[Scripted], tmp_path: Path
) -> None:
    fill(study, queries=4)
    scripted.answer = staticmethod(scripted_answer)

    def printed(*options: str) -> dict[str, Any]:
        words = ["judge", "run", str(study.folder), "--engine", "scripted", "--json"]
        result = CliRunner().invoke(cli, [*words, "--metric", "ragchecker", *options])
        assert result.exit_code == 0, result.output
        return dict(json.loads(result.output))

    shown = printed("--dry-run", "--price", "1", "2")
    assert set(shown["metrics"]) >= {"ragchecker-recall", "ragchecker-f1"}
    assert {step["step"]: step["known"] for step in shown["forecast"]["steps"]} == {
        "claims": 16,
        "check": 0,
    }
    assert shown["forecast"]["cost"] > 0
    done = printed()
    assert len(done["runs"]) == 11
    assert done["forecast"] is None
    words = ["judge", str(study.folder), "--engine", "scripted", "--metric", "ragchecker"]
    lines = CliRunner().invoke(cli, words).output.splitlines()
    assert f"Next: ccrs measure show {study.folder} RESPONSE" in lines


@pytest.mark.parametrize("answer", [lambda _: Answer("prose"), lambda _: Answer("")])
def test_answers_that_end_an_evaluation_end_its_prompts(
    study: Study, scripted: type[Scripted], answer: Callable[[str], Answer]
) -> None:
    fill(study, queries=6)
    scripted.answer = staticmethod(answer)
    settings = ScriptedSettings(metric="ragchecker-recall", estimate=2)
    [sample] = judge_metrics(study, settings)
    assert sample.by_step is not None
    assert [(s.step, s.calls) for s in sample.by_step.steps] == [("claims", 4)]
