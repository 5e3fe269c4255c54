"""Metrics of Ragas, TruLens, CRUD-RAG and ARES: values computed by hand, and what is missing."""

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from judge import judge_metrics, judge_study
from judge.engines.engine import Ready
from judge.metrics.evaluation import KnownAnswer, evaluate
from judge.metrics.metric import Content, Metric, MetricInput, MetricValue, MissingValue, Prompt
from judge.metrics.registry import GROUP, PROMPTED_SUITES, expanded, load_metric
from judge.prompts.step_prompts import StepPrompts
from judge.prompts.template import PAPER
from judge.protocol.exchange import Answer
from judge.running.runs import run_of
from study import Study
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.small_studies import Scripted, ScriptedSettings, always, fill

PASSAGES = ("One is here. Two is here.", "Three is here.", "Four.")


def shown(
    metric: Metric,
    references: tuple[str, ...],
    text: str = "First. Second.",
    passages: Sequence[str] = PASSAGES,
) -> MetricInput:
    content = Content(1, 1, b"x", "A question?", references, text, tuple(passages), 0, 0, True)
    construct = metric.constructs[0]
    joined = "\n\n".join(passages)
    return MetricInput(content, construct, metric.reads(construct), tuple(passages), joined)


def result(
    key: str,
    *answers: str | Answer,
    text: str = "First. Second.",
    passages: Sequence[str] = PASSAGES,
    prompts: str = PAPER,
) -> MetricValue | MissingValue:
    """Evaluate a metric whose prompts get these answers, one after the other."""
    metric = load_metric(key, prompts)
    made = shown(metric, ("A reference.",), text, passages)
    given: dict[str, KnownAnswer] = {}
    waiting = [a if isinstance(a, Answer) else Answer(a) for a in answers]

    def known(prompt: Prompt) -> KnownAnswer:
        if prompt.hash not in given:
            given[prompt.hash] = KnownAnswer(waiting.pop(0), 1)
        return given[prompt.hash]

    found = evaluate(metric, made, known).result
    assert found is not None
    assert not waiting
    return found


def labels(*words: str) -> str:
    return json.dumps({str(n): word for n, word in enumerate(words, 1)})


LIST = json.dumps(["a", "b", "c"])
QUESTIONS = json.dumps(["When?", "Where?", "Why?"])


@pytest.mark.parametrize(
    ("key", "answers", "value"),
    [
        ("ragas-faithfulness", [LIST, labels("supported", "unsupported", "supported")], 2 / 3),
        ("ragas-context-recall", [LIST, labels("supported", "unsupported", "unsupported")], 1 / 3),
        # Useful at ranks 1 and 3: the mean of 1/1 and 2/3.
        ("ragas-context-precision", ["useful", "Useless.", "USEFUL"], (1 + 2 / 3) / 2),
        (
            "ragas-context-relevance",
            [labels("needed", "unneeded", "unneeded", "unneeded")],
            1 / 4,
        ),
        # A mean of cosines, of a question with each of three others.
        ("ragas-answer-relevance", [QUESTIONS, "1.0", "0.5", "-0.3"], (1 + 0.5 - 0.3) / 3),
        ("ragas-answer-relevance", ["Noncommittal."], 0.0),
        # A server that enforces the list.
        ("ragas-answer-relevance", ['{"questions": ["Noncommittal"]}'], 0.0),
        # Of three statements two are in the reference answer, which has a third one besides: TP 2,
        # FP 1, FN 1, and a cosine of .6.
        (
            "ragas-answer-correctness",
            [
                LIST,
                json.dumps(["a", "b", "d"]),
                labels("present", "present", "absent"),
                labels("present", "absent", "present"),
                "0.6",
            ],
            0.75 * 2 / (2 + (1 + 1) / 2) + 0.25 * 0.6,
        ),
        # Leaving these out would flatter a retriever or a system that fails completely.
        ("ragas-context-precision", ["useless"] * 3, 0.0),
        ("ragas-answer-correctness", ["[]", LIST, "0.6"], 0.25 * 0.6),
        ("crud-precision", [QUESTIONS, labels("a", "b", "c"), labels(*["unanswerable"] * 3)], 0.0),
        ("trulens-context-relevance", ["3", "0", "1."], 4 / 9),
        ("trulens-answer-relevance", ["2"], 2 / 3),
        ("trulens-groundedness", [labels("trivial", "2")], 2 / 3),
        ("trulens-groundedness", [labels("abstains", "0")], 1 / 2),
        # The reference answers two of three questions, the response one of these two.
        (
            "crud-recall",
            [QUESTIONS, labels("1989", "unanswerable", "rain"), labels("Unanswerable.", "snow")],
            1 / 2,
        ),
        # One of its two words is one of the reference's three: F1 of 1/2 and 1/3.
        (
            "crud-precision",
            [
                QUESTIONS,
                labels("1989", "in old Rome", "rain"),
                labels("1989", "near Rome", "unanswerable"),
            ],
            (1 + 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)) / 2,
        ),
        ("ares-context-relevance", ["Yes"], 1.0),
        ("ares-answer-faithfulness", ["no."], 0.0),
        ("ares-answer-relevance", ["**yes**"], 1.0),
    ],
)
def test_values_are_those_computed_by_hand(key: str, answers: list[str], value: float) -> None:
    found = result(key, *answers)
    assert isinstance(found, MetricValue)
    assert found.value == pytest.approx(value, abs=1e-12)


CUT = Answer(LIST, finish_reason="length")


@pytest.mark.parametrize(
    ("key", "answers", "reason"),
    [
        ("ragas-faithfulness", ["[]"], "no_statements"),
        ("ragas-faithfulness", ["There are none."], "statements_unreadable"),
        ("ragas-faithfulness", [CUT], "statements_truncated"),
        ("ragas-faithfulness", [LIST, labels("supported", "supported")], "labels_too_few"),
        ("ragas-context-recall", ["[]"], "no_reference_statements"),
        ("ragas-context-precision", ["useful", "useful", "not useful"], "labels_unreadable"),
        ("ragas-answer-relevance", ["[]"], "no_questions"),
        ("ragas-answer-relevance", ['["When?", "Where?"]'], "questions_unreadable"),
        ("ragas-answer-relevance", ["When?"], "questions_unreadable"),
        ("ragas-answer-relevance", [CUT], "questions_truncated"),
        (
            "ragas-answer-relevance",
            [QUESTIONS, "1.0", Answer(None, missing="not_finite"), "1.0"],
            "not_finite",
        ),
        ("ragas-answer-correctness", [LIST, "[]"], "no_reference_statements"),
        (
            "ragas-answer-correctness",
            [LIST, '["x"]', labels("present"), labels(*["present"] * 3), "1.0"],
            "labels_too_few",
        ),
        ("trulens-context-relevance", ["3", "0", "4"], "labels_unknown"),
        ("trulens-context-relevance", ["3", "0", "-1"], "labels_unknown"),
        ("trulens-answer-relevance", ["Between 2 and 3"], "labels_unreadable"),
        ("trulens-answer-relevance", ["2.5"], "labels_unknown"),
        ("trulens-groundedness", [labels("trivial", "trivial")], "no_statements"),
        ("trulens-groundedness", [labels("2")], "labels_too_few"),
        ("crud-recall", ["[]"], "no_questions"),
        ("crud-recall", ["Questions: none"], "questions_unreadable"),
        ("crud-recall", [QUESTIONS, labels(*["unanswerable"] * 3)], "no_questions"),
        ("crud-recall", [QUESTIONS, labels("a", "b")], "texts_too_few"),
        ("crud-recall", [QUESTIONS, labels("a", "b", " ")], "texts_not_text"),
        ("crud-recall", [QUESTIONS, '{"1": "a", "2": "b", "2": "c"}'], "texts_repeated"),
        ("ares-answer-relevance", ["yes and no"], "labels_unreadable"),
        ("ares-answer-relevance", [""], "labels_empty"),
    ],
)
def test_what_cannot_be_read_is_missing(key: str, answers: list[str | Answer], reason: str) -> None:
    assert result(key, *answers) == MissingValue(reason)


def test_texts_without_content_are_not_asked_about() -> None:
    assert result("ragas-faithfulness", text=" ") == MissingValue("no_statements")
    assert result("ragas-answer-relevance", text=" ") == MetricValue(0.0, "noncommittal")
    assert result("ragas-answer-correctness", text=" ") == MetricValue(0.0, "empty_response")
    assert result("trulens-groundedness", text=" ") == MissingValue("no_statements")
    assert result("ragas-context-relevance", passages=[" "]) == MetricValue(0.0, "no_sentences")
    unanswered = result("crud-recall", QUESTIONS, labels("a", "b", "c"), text="")
    assert unanswered == MetricValue(0.0, parts={"counted": 0, "of": 3})
    empty = MetricValue(0.0, "no_passages_with_text")
    assert result("trulens-context-relevance", passages=[" ", ""]) == empty


def test_the_best_of_several_reference_answers_counts() -> None:
    known = {
        "One.": (labels("absent", "absent", "absent"), "0.2"),
        "Two.": (labels("present", "present", "present"), "1.0"),
    }

    def answers(prompt: Prompt) -> KnownAnswer:
        [reference] = [text for text in known if text in prompt.text] or [""]
        if prompt.step == "statements":
            text = json.dumps([reference] * 3) if reference else LIST
        else:
            text = known[reference][prompt.step == "cosine"]
        return KnownAnswer(Answer(text), 1)

    metric = load_metric("ragas-answer-correctness")
    found = evaluate(metric, shown(metric, ("One.", "Two.")), answers)
    assert found.result == MetricValue(1.0, parts={"f1": 1.0, "similarity": 1.0})
    # The statements of the response are asked for once, those of each reference answer as well.
    first = evaluate(metric, shown(metric, ("One.", "Two.")))
    assert len({waiting.prompt.hash for waiting in first.waiting}) == 3
    assert len({waiting.number for waiting in first.waiting}) == len(first.waiting)


def test_a_reference_answer_without_statements_is_left_out_of_the_best() -> None:
    def answers(prompt: Prompt) -> KnownAnswer:
        if prompt.step == "statements":
            return KnownAnswer(Answer("[]" if "One." in prompt.text else LIST), 1)
        return KnownAnswer(
            Answer("1.0" if prompt.step == "cosine" else labels(*["present"] * 3)), 1
        )

    metric = load_metric("ragas-answer-correctness")
    some = evaluate(metric, shown(metric, ("One.", "Two.")), answers).result
    assert isinstance(some, MetricValue)
    assert some.value == 1
    none = evaluate(metric, shown(metric, ("One.", "One. ")), answers).result
    assert none == MissingValue("no_reference_statements")


def test_many_statements_are_labeled_by_several_prompts() -> None:
    statements = json.dumps([f"statement {n}" for n in range(45)])
    answers = [labels(*["supported"] * n) for n in (20, 20, 5)]
    found = result("ragas-faithfulness", statements, *answers)
    assert found == MetricValue(1.0, parts={"counted": 45, "of": 45})


def test_each_metric_of_a_suite_is_registered_and_explains_its_reasons() -> None:
    registered = {entry.name for entry in entry_points(group=GROUP)}
    for suite, keys in PROMPTED_SUITES.items():
        assert expanded(suite) == keys
        assert set(keys) <= registered
        for key in keys:
            metric = load_metric(key)
            assert metric.key == key
            assert metric.scale.max == 1
            assert metric.reasons
            prompts = metric.prompts
            assert prompts is not None
            assert prompts.name == f"{suite.removesuffix('-together')}-own-v1"
    assert expanded("ares, F1x,ares") == (*PROMPTED_SUITES["ares"], "F1x")


def answered(prompt: str) -> Answer:
    """Answer as a model would that finds everything in order."""
    if "three different questions" in prompt:
        return Answer(QUESTIONS)
    if "JSON array" in prompt:
        return Answer('["One statement."]')
    if "JSON object" in prompt:
        number = len(prompt.rsplit(":\n", 1)[1].split("\n"))
        word = next((w for w in ("needed", "supported", "present") if f'"{w}"' in prompt), "3")
        return Answer(labels(*[word] * number))
    words = ("useful", "yes", "3")
    marks = ("useful or useless", "yes or no", "0, 1, 2 and 3")
    return Answer(next(w for w, mark in zip(words, marks, strict=True) if mark in prompt))


def test_suites_are_judged_in_a_study(
    study: Study, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    fill(study, queries=2)
    scripted.answer = staticmethod(answered)
    settings = ScriptedSettings(metric="ragas,trulens,crud,ares", encoder="made-up")
    outcomes = judge_metrics(study, settings)
    assert len(outcomes) == 14
    assert not any(outcome.missing or outcome.remaining for outcome in outcomes)
    table = study.score_table()
    table = table[table["scorer"].str.startswith("scripted")]
    by = table.groupby(["scorer", "construct", "scorer_kind"], observed=True)["value"]
    values = {name: set(group) for name, group in by}
    assert values["scripted ragas-faithfulness", "CC", "metric"] == {100.0}
    assert values["scripted trulens-answer-relevance", "QR", "metric"] == {100.0}
    assert values["scripted crud-recall", "IR", "metric"] == {100.0}
    assert values["scripted crud-precision", "AC", "metric"] == {100.0}
    assert values["scripted ares-answer-faithfulness", "CC", "judge"] == {100.0}
    assert values["scripted ares-context-relevance", "retrieval", "metric"] == {1.0}
    assert len(values) == 14
    # "Question 1?" has no word of "When?", "Where?" and "Why?": cosine 0, the middle of -1 to 1.
    assert values["scripted ragas-answer-relevance", "QR", "metric"] == {50.0}
    assert encoder.asked


def test_each_metric_has_the_limit_of_its_own_prompts(
    study: Study, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=1)
    scripted.answer = staticmethod(answered)
    started: list[int] = []
    start = scripted.start

    def with_limit(self: Scripted, sample: Sequence[str]) -> Ready:
        ready = start(self, sample)
        decoding = {**(ready.conditions.decoding or {}), "max_tokens": started[-1]}
        return replace(ready, conditions=replace(ready.conditions, decoding=decoding))

    def created(self: Scripted, settings: ScriptedSettings, _: Study, prompts: StepPrompts) -> None:
        started.append(settings.max_tokens or prompts.max_tokens)
        self._settings = settings

    monkeypatch.setattr(scripted, "start", with_limit)
    monkeypatch.setattr(scripted, "__init__", created)
    both = ScriptedSettings(metric="ragas-faithfulness,ares-answer-faithfulness")
    names = [outcome.run for outcome in judge_metrics(study, both)]
    assert started == [512]
    limits = {request.planned.prompt.step: request.max_tokens for request in scripted.asked}
    assert limits == {"statements": 1500, "verdicts": None, "faithfulness": 16}
    with study.read() as connection:
        stored = [run_of(connection, name)["decoding"]["max_tokens"] for name in names]
    assert stored == [512, 16]
    # Alone it is the same run.
    alone = judge_study(study, ScriptedSettings(metric="ares-answer-faithfulness"))
    assert (alone.run, alone.begun, alone.answered) == (names[1], False, 0)
    judge_metrics(study, both.model_copy(update={"max_tokens": 99}))
    assert {request.max_tokens for request in scripted.asked if "yes or no" in request.prompt} == {
        16, None
    }  # fmt: skip


def test_prompts_with_another_system_message_have_an_engine_of_their_own(
    study: Study, scripted: type[Scripted], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(study, queries=1)
    systems: list[str] = []

    def created(self: Scripted, settings: ScriptedSettings, _: Study, prompts: StepPrompts) -> None:
        systems.append(prompts.system)
        self._settings = settings

    monkeypatch.setattr(scripted, "__init__", created)
    scripted.answer = always(Answer("yes"))
    source = Path(__file__).with_name("faithfulness.py")
    (tmp_path / "faithfulness.py").write_text(source.read_text())
    toml = source.with_suffix(".toml").read_text()
    (tmp_path / "faithfulness.toml").write_text(f'system = "Be brief."\n{toml}')
    own = tmp_path / "faithfulness.py"
    metrics = f"ares-answer-relevance,{own},ares-answer-faithfulness"
    outcomes = judge_metrics(study, ScriptedSettings(metric=metrics))
    assert systems == ["", "Be brief."]
    assert [outcome.run.split()[-1] for outcome in outcomes] == [
        "ares-answer-relevance", "faithfulness", "ares-answer-faithfulness"
    ]  # fmt: skip
