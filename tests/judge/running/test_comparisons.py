"""Metrics that compare texts by an encoder: stored, resumed, and named by the encoder."""

import json

import pytest

from judge import RunStoppedError, judge_metrics, judge_study, preview, show_response, show_run
from judge.protocol.exchange import Answer
from judge.running import rounds
from study import Study, StudyError
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.small_studies import Scripted, ScriptedSettings, fill, store

RELEVANCE = ScriptedSettings(metric="ragas-answer-relevance", encoder="made-up")
RUN = "scripted ragas-answer-relevance"


def questions(prompt: str) -> Answer:
    """Make three questions, which contain the text."""
    text = prompt.rsplit("Text:\n", 1)[1]
    made = [f"Question {n} {text.split()[1]}?" for n in (1, 2, 3)]
    return Answer(json.dumps(made), prompt_tokens=10)


def labeled(prompt: str) -> Answer:
    """List one statement, and find it present."""
    if "JSON array" in prompt:
        return Answer(json.dumps(["One."]))
    return Answer(json.dumps({"1": "present" if "looked for" in prompt else "supported"}))


def test_cosines_are_stored_and_shown_as_answers(
    study: Study, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    store(study, {"query_id": "q", "query": "a b", "system": "A", "response": "It is long"})
    made = ["a b", "b c", "long a"]
    scripted.answer = staticmethod(lambda _: Answer(json.dumps(made), prompt_tokens=10))
    outcome = judge_study(study, RELEVANCE)
    assert (outcome.answered, outcome.judged, outcome.missing) == (1, 1, {})
    assert outcome.tokens == {"prompt": 10}
    assert outcome.served == {"(not named)": 1}
    # Cosines 1, 1/2 and 1/2: their mean 2/3 is 5/6 of the way from -1 to 1.
    [value] = study.score_table()["value"]
    assert value == pytest.approx(100 * 5 / 6)
    [construct] = show_response(study, RUN, str(study.score_table()["response_id"][0])).constructs
    steps = [(step.step, step.answer and step.answer["text"]) for step in construct.steps]
    assert [name for name, _ in steps] == ["questions", "cosine", "cosine", "cosine"]
    assert [float(str(text).split()[0]) for _, text in steps[1:]] == pytest.approx([1, 0.5, 0.5])
    assert str(steps[3][1]).endswith(" truncated")
    assert construct.steps[1].prompt == 'Cosine of the vectors by words@1: ["a b", "a b"]'
    assert construct.judgments[0]["parts"] == {"questions": 3, "truncated": 1}
    details = show_run(study, RUN)
    assert details.decoding["encoder"] == "words@1"
    assert details.observed["encoder"] == "made up words@1"


def test_a_text_without_a_vector_is_missing_with_the_reason(
    study: Study, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    fill(study, queries=1)
    made = ["strange?", "Question 1?", "What is it?"]
    scripted.answer = staticmethod(lambda _: Answer(json.dumps(made)))
    assert judge_study(study, RELEVANCE).missing == {}
    made[0] = "a strange one"
    other = RELEVANCE.model_copy(update={"name": "other", "temperature": 1})
    assert judge_study(study, other).missing == {"not_finite": 4}
    assert encoder.asked


def test_what_was_compared_before_a_kill_is_not_compared_again(
    study: Study,
    scripted: type[Scripted],
    encoder: ScriptedEncoder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(study, queries=3)
    scripted.answer = staticmethod(questions)
    monkeypatch.setattr(rounds, "_BATCH", 2)
    kills = 0
    for stop in range(1, 100):
        encoder.stop_after = 3 * stop
        try:
            outcome = judge_study(study, RELEVANCE)
        except (KeyboardInterrupt, RunStoppedError):
            kills += 1
            continue
        break
    assert kills > 3
    assert (outcome.remaining, outcome.run_judgments) == (0, 12)
    assert len({request.prompt for request in scripted.asked}) == len(scripted.asked) == 9
    texts = len(encoder.asked)
    encoder.stop_after = None
    again = judge_study(study, RELEVANCE)
    assert (again.answered, again.judged, len(encoder.asked)) == (0, 0, texts)


def test_statements_are_shared_whatever_the_encoder(
    study: Study, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    fill(study, queries=1)
    scripted.answer = staticmethod(labeled)
    keys = "ragas-faithfulness,ragas-context-recall,ragas-answer-correctness"
    outcomes = judge_metrics(study, ScriptedSettings(metric=keys, encoder="made-up"))
    # Three texts: their statements and the reference's are listed once.
    lists = [r.prompt for r in scripted.asked if "JSON array" in r.prompt]
    assert len(lists) == len(set(lists)) == 4
    assert [outcome.remaining for outcome in outcomes] == [0, 0, 0]
    asked, compared = len(scripted.asked), len(encoder.asked)

    encoder.name = "words@2"
    correctness = ScriptedSettings(metric="ragas-answer-correctness", encoder="made-up")
    other = judge_study(study, correctness)
    assert other.run == "scripted ragas-answer-correctness (2)"
    assert "encoder 'words@1' there, 'words@2' now" in str(other.notes)
    assert len(scripted.asked) == asked
    assert len(encoder.asked) > compared
    assert judge_study(study, correctness).run == other.run


def test_an_encoder_is_named_where_one_is_needed_and_nowhere_else(
    study: Study, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    fill(study, queries=1)
    with pytest.raises(StudyError, match="ragas-answer-relevance needs an encoder: name it"):
        judge_study(study, ScriptedSettings(metric="ragas-answer-relevance"))
    with pytest.raises(StudyError, match="ragas-answer-correctness need an encoder"):
        judge_metrics(study, ScriptedSettings(metric="ragas"))
    with pytest.raises(StudyError, match=r"--encoder .* has no effect here: no text is compared"):
        judge_study(study, ScriptedSettings(metric="ragas-faithfulness", encoder="made-up"))
    assert not scripted.asked
    assert not encoder.asked
    # A preview needs none: it counts the prompts of the first step.
    assert preview(study, RELEVANCE).prompts == {"QR": 3}
