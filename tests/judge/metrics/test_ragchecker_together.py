"""RAGChecker's metrics with all passages in one prompt."""

import json

import pytest

from judge import judge_metrics
from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import MetricValue, MissingValue, Prompt
from judge.metrics.registry import PROMPTED_SUITES, load_metric
from judge.prompts.answer_schema import follows, numbers_schema
from judge.protocol.exchange import Answer
from study import Study
from tests.judge.metrics.test_ragchecker import (
    REFERENCE,
    RESPONSE,
    Checker,
    metric_input,
    passage,
    scripted_answer,
)
from tests.judge.small_studies import Scripted, ScriptedSettings, fill

KEYS = [key.removeprefix("ragchecker-") for key in PROMPTED_SUITES["ragchecker-together"]]
CLAIMS = {RESPONSE: [f"r{n}" for n in range(6)], REFERENCE: ["g0", "g1"]}
ENTAILS = {
    REFERENCE: {"r0", "r1"},
    RESPONSE: {"g0"},
    passage(0): {"r0", "r2", "g0", "g1"},
    passage(1): {"r3"},
    passage(2): set[str](),
}


class TogetherChecker(Checker):
    """Names the passages that entail each claim."""

    def __call__(self, prompt: Prompt) -> KnownAnswer:
        if prompt.step != "check_together":
            return super().__call__(prompt)
        self.steps[prompt.step] += 1
        passages = [text.split("\n", 1)[1] for text in prompt.parts[3].split("\n\n")]
        claims = [line.split(". ", 1)[1] for line in prompt.parts[5].split("\n")]
        found = {
            str(n): [m for m, text in enumerate(passages, 1) if claim in self.entails[text]]
            for n, claim in enumerate(claims, 1)
        }
        return KnownAnswer(Answer(json.dumps(found)), 1)


@pytest.mark.parametrize("key", KEYS)
def test_values_are_those_of_the_same_entailments_apart(key: str) -> None:
    together, apart = TogetherChecker(CLAIMS, ENTAILS), Checker(CLAIMS, ENTAILS)
    made = metric_input(key, 3)
    found = evaluate(load_metric(f"ragchecker-{key}"), made, together).result
    alone = key.removeprefix("together-")
    assert (
        found == evaluate(load_metric(f"ragchecker-{alone}"), metric_input(alone, 3), apart).result
    )
    assert isinstance(found, MetricValue)
    assert together.steps.total() < apart.steps.total()


def test_faithfulness_by_hand() -> None:
    # Of six claims r0, r2 and r3 are entailed; six claims are two prompts.
    checker = TogetherChecker(CLAIMS, ENTAILS)
    metric = load_metric("ragchecker-together-faithfulness")
    found = evaluate(metric, metric_input("together-faithfulness", 3), checker).result
    assert found == MetricValue(0.5, parts={"counted": 3, "of": 6})
    assert checker.steps == {"claims": 1, "check_together": 2}


@pytest.mark.parametrize(
    "text",
    [
        '{"1": [1]}',
        '{"1": [1], "2": [], "3": []}',
        '{"1": [1], "2": [4]}',
        '{"1": [1], "2": [0]}',
        '{"1": [1, 1], "2": []}',
        '{"1": [1], "2": [true]}',
        '{"1": [1], "2": {}}',
        '{"1": [1], "2": 2}',
        '{"1": [1], "1": [2]}',
        "[[1], []]",
        "1: 1, 2",
        "",
    ],
)
def test_a_list_of_passages_is_read_whole_or_not_at_all(text: str) -> None:
    claims = {RESPONSE: ["r0", "r1"]}

    def known(prompt: Prompt) -> KnownAnswer:
        if prompt.step == "claims":
            return TogetherChecker(claims, {})(prompt)
        return KnownAnswer(Answer(text), 1)

    metric = load_metric("ragchecker-together-faithfulness")
    found = evaluate(metric, metric_input("together-faithfulness", 3), known).result
    assert isinstance(found, MissingValue)
    assert found.reason.startswith("numbers_")


def test_claims_are_shared_with_the_metrics_on_single_passages(
    study: Study, scripted: type[Scripted]
) -> None:
    def answer(prompt: str) -> Answer:
        if "numbered passages" in prompt:
            return Answer('{"1": [1], "2": []}')
        return scripted_answer(prompt)

    fill(study, queries=1)
    scripted.answer = staticmethod(answer)
    judge_metrics(study, ScriptedSettings(metric="ragchecker"))
    before = len(scripted.asked)
    outcomes = judge_metrics(study, ScriptedSettings(metric="ragchecker-together"))
    assert not any(outcome.missing or outcome.remaining for outcome in outcomes)
    # One prompt for the claims of each of four responses and for the reference's in each context.
    asked = [request.prompt for request in scripted.asked[before:]]
    assert len(asked) == len(set(asked)) == 4 + 2
    assert all("numbered passages" in prompt for prompt in asked)


def test_the_schema_of_the_check_is_what_is_read() -> None:
    metric = load_metric("ragchecker-together-faithfulness")
    asked = evaluate(
        metric, metric_input("together-faithfulness", 3), TogetherChecker(CLAIMS, ENTAILS)
    ).asked
    [schema] = {prompt.schema for prompt in asked if prompt.step == "check_together"} - {
        numbers_schema(1, 3)
    }
    assert schema is not None
    assert schema == numbers_schema(5, 3)
    read = {str(n): [1, 3] if n == 2 else [] for n in range(1, 6)}
    assert follows(read, schema.schema)
    for wrong in ({**read, "1": [4]}, {**read, "6": []}, {**read, "1": 1}):
        assert not follows(wrong, schema.schema)
