"""RAGChecker's metrics: the recorded example of its authors, identities, and what is missing."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sqlalchemy import select

from judge import (
    RunStoppedError,
    judge_metrics,
    judge_study,
    list_runs,
    show_response,
    show_run,
)
from judge.metrics.evaluation import Evaluation, KnownAnswer, evaluate
from judge.metrics.metric import Content, MetricInput, MetricValue, MissingValue, Prompt
from judge.metrics.registry import expanded, load_metric
from judge.protocol.exchange import Answer
from study import Study, StudyError
from study.schema.tables import judge_runs, step_answers
from tests.judge.small_studies import Scripted, ScriptedSettings, fill

UPSTREAM = {
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "claim-recall": "claim_recall",
    "context-precision": "context_precision",
    "context-utilization": "context_utilization",
    "noise-relevant": "noise_sensitivity_in_relevant",
    "noise-irrelevant": "noise_sensitivity_in_irrelevant",
    "hallucination": "hallucination",
    "self-knowledge": "self_knowledge",
    "faithfulness": "faithfulness",
}
"""Metrics of the suite, and their names in the files of the authors' package."""

QUESTION, RESPONSE, REFERENCE = "A question?", "A response.", "A reference."


def passage(number: int) -> str:
    return f"Passage {number}."


def content(passages: int, text: str = RESPONSE) -> Content:
    texts = tuple(passage(number) for number in range(passages))
    return Content(1, 1, b"x", QUESTION, (REFERENCE,), text, texts, 0, passages, True)


def metric_input(key: str, passages: int, text: str = RESPONSE) -> MetricInput:
    metric = load_metric(f"ragchecker-{key}")
    made = content(passages, text)
    return MetricInput(made, metric.constructs[0], metric.reads("CC"), made.passages or ())


class Checker:
    """Answers both steps from known claims and labels."""

    def __init__(self, claims: dict[str, list[str]], entails: dict[str, set[str]]) -> None:
        self.claims = claims
        """Claims by text."""
        self.entails = entails
        """Claims that each text entails."""
        self.steps: Counter[str] = Counter()

    def __call__(self, prompt: Prompt) -> KnownAnswer:
        self.steps[prompt.step] += 1
        text = prompt.parts[3]
        if prompt.step == "claims":
            return KnownAnswer(Answer(json.dumps(self.claims[text])), 1)
        labels = {}
        for line in prompt.parts[5].split("\n"):
            number, claim = line.split(". ", 1)
            labels[number] = "entailed" if claim in self.entails[text] else "neutral"
        return KnownAnswer(Answer(json.dumps(labels)), 1)


def value(key: str, checker: Checker, passages: int) -> MetricValue | MissingValue:
    made = metric_input(key, passages)
    result = evaluate(load_metric(f"ragchecker-{key}"), made, checker).result
    assert result is not None
    return result


def recorded(case: dict[str, Any]) -> Checker:
    """Return the checker that gives the labels of a recorded response.

    Recorded claims are triples, some of them equal: a number tells them apart.
    """
    claims = {
        RESPONSE: [f"r{n} {' '.join(c)}" for n, c in enumerate(case["response_claims"])],
        REFERENCE: [f"g{n} {' '.join(c)}" for n, c in enumerate(case["gt_answer_claims"])],
    }
    entails: dict[str, set[str]] = {RESPONSE: set(), REFERENCE: set()}
    for claim, label in zip(claims[RESPONSE], case["answer2response"], strict=True):
        if label == "Entailment":
            entails[REFERENCE].add(claim)
    for claim, label in zip(claims[REFERENCE], case["response2answer"], strict=True):
        if label == "Entailment":
            entails[RESPONSE].add(claim)
    for text, labels in ((RESPONSE, "retrieved2response"), (REFERENCE, "retrieved2answer")):
        for claim, row in zip(claims[text], case[labels], strict=True):
            for number, label in enumerate(row):
                found = entails.setdefault(passage(number), set())
                if label == "Entailment":
                    found.add(claim)
    return Checker(claims, entails)


def test_the_recorded_example_gives_its_recorded_values(shared_data: Path) -> None:
    file = shared_data / "ragchecker_example" / "checking_outputs.json"
    cases = json.loads(file.read_text())["results"]
    compared = 0
    for case in cases:
        passages = len(case["retrieved_context"])
        for key, name in UPSTREAM.items():
            result = value(key, recorded(case), passages)
            assert isinstance(result, MetricValue)
            assert result.value == case["metrics"][name], key
            compared += 1
    assert compared == 11 * 2


labels = st.integers(1, 8).flatmap(
    lambda claims: st.integers(1, 4).flatmap(
        lambda passages: st.tuples(
            st.lists(st.booleans(), min_size=claims, max_size=claims),
            st.lists(
                st.lists(st.booleans(), min_size=passages, max_size=passages),
                min_size=claims,
                max_size=claims,
            ),
        )
    )
)


@given(labels, st.data())
def test_shares_of_claims_add_up(
    response: tuple[list[bool], list[list[bool]]], data: st.DataObject
) -> None:
    by_reference, by_passages = response
    passages = len(by_passages[0])
    number = data.draw(st.integers(1, 7))
    rows = st.lists(st.booleans(), min_size=passages, max_size=passages)
    reference_rows = data.draw(st.lists(rows, min_size=number, max_size=number))
    case = {
        "response_claims": [["c"]] * len(by_reference),
        "gt_answer_claims": [["c"]] * number,
        "answer2response": [_label(entailed) for entailed in by_reference],
        "response2answer": [_label(data.draw(st.booleans())) for _ in range(number)],
        "retrieved2response": [[_label(x) for x in row] for row in by_passages],
        "retrieved2answer": [[_label(x) for x in row] for row in reference_rows],
    }
    values: dict[str, float] = {}
    for key in UPSTREAM:
        result = value(key, recorded(case), passages)
        if isinstance(result, MissingValue):
            assert key == "context-utilization"
            assert result.reason == "no_claims_in_context"
            assert not np.any(reference_rows)
        else:
            assert 0 <= result.value <= 1
            values[key] = result.value
    wrong = ("precision", "noise-relevant", "noise-irrelevant", "hallucination")
    assert sum(values[key] for key in wrong) == pytest.approx(1, abs=1e-12)
    source = ("faithfulness", "hallucination", "self-knowledge")
    assert sum(values[key] for key in source) == pytest.approx(1, abs=1e-12)


def _label(entailed: bool) -> str:
    return "Entailment" if entailed else "Neutral"


def answered(step: str, answer: Answer) -> Callable[[Prompt], KnownAnswer]:
    """Answer one step so, and the others properly, about six claims."""
    claims = [f"claim {number}" for number in range(6)]
    checker = Checker(dict.fromkeys((RESPONSE, REFERENCE), claims), {REFERENCE: {claims[0]}})

    def known(prompt: Prompt) -> KnownAnswer:
        return KnownAnswer(answer, 1) if prompt.step == step else checker(prompt)

    return known


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "claims_empty"),
        ("There are two claims: Nile is long. Nile is wide.", "claims_unreadable"),
        ('["one", 2]', "claims_not_text"),
        ('["one", ""]', "claims_not_text"),
        ('{"facts": ["one"]}', "claims_unreadable"),
        ('{"claims": ["one"], "claims": ["two"]}', "claims_unreadable"),
        ('["one", "two"', "claims_unreadable"),
        ('Here they are:\n["one"]', "claims_unreadable"),
        ("1. one\nand something else", "claims_unreadable"),
        ("[" * 100_000, "claims_unreadable"),
    ],
)
def test_a_list_of_claims_is_read_whole_or_not_at_all(text: str, reason: str) -> None:
    result = _precision(answered("claims", Answer(text)))
    assert result == MissingValue(reason)


@pytest.mark.parametrize(
    "text",
    [
        '["claim 0", "claim 1"]',
        '```json\n["claim 0",\n "claim 1"]\n```',
        "<think>\nTwo.\n</think>\n\n- claim 0\n- claim 1",
        "1. claim 0\n2. claim 1\n",
        '["claim\\n0", "  claim 1 "]',
        '{"claims": ["claim 0", "claim 1"]}',
    ],
)
def test_claims_are_read_from_json_and_from_lists(text: str) -> None:
    result = _precision(answered("claims", Answer(text)))
    assert isinstance(result, MetricValue)
    assert result.parts == {"counted": 1, "of": 2}


def test_a_list_that_was_cut_off_is_missing_even_if_it_can_be_read() -> None:
    cut = Answer("1. one\n2. tw", finish_reason="length")
    assert _precision(answered("claims", cut)) == MissingValue("claims_truncated")


FOUR = '"1": "entailed", "2": "neutral", "3": "neutral", "4": "neutral"'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (None, "empty"),
        ("", "empty"),
        ("```json\n```", "empty"),
        ("entailed", "unreadable"),
        (f'Here are the labels: {{{FOUR}, "5": "neutral"}}', "unreadable"),
        (f'{{{FOUR}, "5": "neut', "unreadable"),
        (json.dumps(["entailed"] * 5), "unreadable"),
        (f"{{{FOUR}}}", "too_few"),
        ("{}", "too_few"),
        (json.dumps({str(n): "neutral" for n in range(1, 7)}), "too_many"),
        (json.dumps({str(n): "neutral" for n in range(5)}), "unknown_number"),
        (f'{{{FOUR}, "claim 5": "neutral"}}', "unknown_number"),
        (f'{{{FOUR}, "4": "neutral"}}', "repeated"),
        (f'{{{FOUR}, "5": "neutral", "5": "neutral"}}', "repeated"),
        (json.dumps({str(n): "yes" for n in range(1, 6)}), "unknown"),
        (json.dumps({str(n): 1 for n in range(1, 6)}), "unknown"),
        (json.dumps({str(n): ["entailed"] for n in range(1, 6)}), "unknown"),
        ("1: entailed\n2: neutral\n3: neutral\n4: neutral\n4: neutral", "repeated"),
        ("1: entailed\n2: neutral\n3: neutral\n4: neutral\n5: neutral because", "unknown"),
    ],
)
def test_each_fault_of_labels_has_a_reason(text: str | None, fault: str) -> None:
    result = _precision(answered("check", Answer(text)))
    assert result == MissingValue(f"labels_{fault}")
    assert f"labels_{fault}" in load_metric("ragchecker-precision").reasons


def test_labels_that_were_cut_off_are_missing_even_if_they_can_be_read() -> None:
    cut = Answer(f'{{{FOUR}, "5": "neutral"}}', finish_reason="length")
    assert _precision(answered("check", cut)) == MissingValue("labels_truncated")


def _precision(known: Callable[[Prompt], KnownAnswer]) -> MetricValue | MissingValue | None:
    return evaluate(load_metric("ragchecker-precision"), metric_input("precision", 0), known).result


def test_labels_are_read_from_lines_in_any_order() -> None:
    claims = ["a", "b"]
    checker = Checker(dict.fromkeys((RESPONSE, REFERENCE), claims), {})
    lines = KnownAnswer(Answer("2. Neutral.\n1: ENTAILED"), 1)
    result = _precision(lambda p: lines if p.step == "check" else checker(p))
    assert result == MetricValue(0.5, parts={"counted": 1, "of": 2})


def test_a_response_without_text_makes_no_claims_and_recalls_nothing() -> None:
    claims = ["a", "b"]
    checker = Checker({REFERENCE: claims}, {passage(0): {"a"}})
    results = {
        key: evaluate(
            load_metric(f"ragchecker-{key}"), metric_input(key, 1, text=" "), checker
        ).result
        for key in UPSTREAM
    }
    of_reference = {"recall": 0.0, "claim-recall": 0.5, "context-precision": 1.0}
    silent = MetricValue(0.0, "no_claims")
    for key, result in results.items():
        if key in of_reference:
            assert isinstance(result, MetricValue)
            assert result.value == of_reference[key]
        elif key == "context-utilization":
            assert result == MetricValue(0.0, parts={"counted": 0, "of": 1})
        elif key in ("precision", "f1"):
            assert result == silent
        else:
            assert result == MissingValue("no_claims"), key


def test_one_step_asks_all_its_prompts_together_with_at_most_five_claims() -> None:
    asked: list[Evaluation] = []
    metric, made = load_metric("ragchecker-noise-relevant"), metric_input("noise-relevant", 2)
    lists = {RESPONSE: [f"r{n}" for n in range(6)], REFERENCE: ["g"]}

    def lists_only(prompt: Prompt) -> KnownAnswer | None:
        if prompt.step != "claims":
            return None
        return KnownAnswer(Answer(json.dumps(lists[prompt.parts[3]])), 1)

    asked = [evaluate(metric, made), evaluate(metric, made, lists_only)]
    assert [len(e.waiting) for e in asked] == [2, 2 + 2 * 2 + 2]
    # The claims are last: prompts on a text share their beginning.
    for waiting in asked[1].waiting:
        assert re.fullmatch(r"(1\. \w\d?)(\n\d\. r\d){0,4}", waiting.prompt.parts[5])
        assert waiting.prompt.parts[6] == ""


def scripted_answer(prompt: str) -> Answer:
    if "List every claim" in prompt:
        text = prompt.rsplit("Text:\n", 1)[1]
        return Answer(json.dumps([f"First: {text}", f"Second: {text}"]), prompt_tokens=100)
    claims = prompt.rsplit("Claims:\n", 1)[1].split("\n")
    labels = {str(n): "entailed" if n == 1 else "contradicted" for n in range(1, len(claims) + 1)}
    return Answer(json.dumps(labels), prompt_tokens=100)


def test_metrics_of_the_suite_share_the_answers_of_a_study(
    study: Study, scripted: type[Scripted]
) -> None:
    fill(study, queries=2)
    scripted.answer = staticmethod(scripted_answer)
    answered = {}
    for key in UPSTREAM:
        outcome = judge_study(study, ScriptedSettings(metric=f"ragchecker-{key}"))
        assert (outcome.remaining, outcome.missing) == (0, {})
        assert outcome.run == f"scripted ragchecker-{key}"
        answered[key] = outcome.answered
    prompts = Counter(request.prompt for request in scripted.asked)
    assert max(prompts.values()) == 1
    # A query has three different texts, a reference, and two contexts, of two passages and of one.
    assert answered["precision"] == 2 * (3 + 3)
    assert answered["recall"] == 2 * (1 + 3)
    assert answered["claim-recall"] == 2 * 3
    # The texts of A and B are checked by two passages each, those of C and D by one.
    assert answered["noise-relevant"] == 2 * (2 + 2 + 1 + 1)
    first = {"precision", "recall", "claim-recall", "noise-relevant"}
    assert {key for key, number in answered.items() if number} == first
    with study.read() as connection:
        rows = connection.execute(select(step_answers)).all()
    assert len(rows) == len(scripted.asked) == sum(answered.values())
    # Shares are on the scale of the construct, where they stand beside the judge's scores.
    by = study.score_table().groupby(["scorer", "construct"], observed=True)["value"]
    scores = {name: set(values) for name, values in by}
    assert scores["scripted ragchecker-precision", "AC"] == {50.0}
    assert scores["scripted ragchecker-claim-recall", "retrieval"] == {0.5}
    f1 = {construct for scorer, construct in scores if scorer == "scripted ragchecker-f1"}
    assert f1 == {"AC", "IR"}
    for run in list_runs(study):
        assert run.judgments == run.possible == (16 if run.name.endswith("-f1") else 8)
    details = show_run(study, "scripted ragchecker-claim-recall")
    assert (details.judgments, details.missing, details.left_out) == (8, 0, {})
    assert [figures.mean for figures in details.constructs] == [0.5]
    # What another run asked is shown with the run that used it.
    shown = show_response(study, "scripted ragchecker-hallucination", scores_key(study))
    [construct] = shown.constructs
    assert [step.step for step in construct.steps][:2] == ["claims", "check"]
    assert all(step.answer is not None for step in construct.steps)


@pytest.mark.parametrize("suite", ["ragchecker", "ragchecker-faithfulness"])
def test_prompts_on_one_passage_follow_each_other(
    suite: str, study: Study, scripted: type[Scripted]
) -> None:
    fill(study, queries=2)
    scripted.answer = staticmethod(scripted_answer)
    judge_metrics(study, ScriptedSettings(metric=suite))
    places: dict[str, list[int]] = {}
    for place, request in enumerate(scripted.asked):
        text = request.prompt.split("Text:\n")[-1].split("\n\nClaims:\n")[0]
        if "assage" in text or "Another" in text:
            places.setdefault(text, []).append(place)
    assert len(places) == 2 * 3
    # A cache that holds one passage is enough, whichever texts and metrics the claims are of.
    checks = 3 if suite == "ragchecker" else 2
    for text, of_text in places.items():
        assert of_text == list(range(of_text[0], of_text[0] + checks)), text


def scores_key(study: Study) -> str:
    return str(study.score_table()["response_id"].iloc[0])


def test_a_suite_is_judged_on_one_engine_and_resumed(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=2)
    scripted.answer = staticmethod(scripted_answer)
    starts = Counter[str]()
    start = scripted.start

    def counted(self: Scripted, sample: Any) -> Any:
        starts["engine"] += 1
        return start(self, sample)

    monkeypatch.setattr(scripted, "start", counted)
    settings = ScriptedSettings(metric="ragchecker", name="mine")
    scripted.stop_after = 5
    with pytest.raises(RunStoppedError):
        judge_metrics(study, settings)
    scripted.stop_after = None
    outcomes = judge_metrics(study, settings)
    assert starts["engine"] == 2
    assert [outcome.run for outcome in outcomes] == [
        f"mine {key}" for key in expanded("ragchecker")
    ]
    with study.read() as connection:
        first = connection.execute(select(judge_runs.c.name).order_by(judge_runs.c.id)).scalar()
    # It asks all prompts on passages, so that those on one passage follow each other.
    assert first == "mine ragchecker-noise-relevant"
    assert len(outcomes) == len(UPSTREAM)
    assert all(outcome.run_judgments >= 8 and not outcome.missing for outcome in outcomes)
    prompts = Counter(request.prompt for request in scripted.asked)
    assert set(prompts.values()) == {1}
    assert not any(outcome.answered for outcome in judge_metrics(study, settings))


def test_a_suite_leaves_out_metrics_without_a_construct(
    study: Study, scripted: type[Scripted]
) -> None:
    fill(study, queries=1)
    scripted.answer = staticmethod(scripted_answer)
    settings = ScriptedSettings(metric="ragchecker", constructs=("IR",))
    runs = [outcome.run.split()[1] for outcome in judge_metrics(study, settings)]
    assert runs == ["ragchecker-recall", "ragchecker-f1", "ragchecker-context-utilization"]
    assert set(study.score_table()["construct"]) == {"IR"}
    with pytest.raises(StudyError, match=r"None of the metrics .* constructs QR"):
        judge_metrics(study, ScriptedSettings(metric="ragchecker", constructs=("QR",)))
