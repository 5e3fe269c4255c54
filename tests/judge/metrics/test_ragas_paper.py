"""Ragas in the words of its paper: what is read in answers without a stated format."""

import pytest

from judge import judge_study
from judge.metrics.metric import MetricValue, MissingValue
from judge.metrics.registry import load_metric
from judge.protocol.exchange import Answer
from study import Study, StudyError
from tests.judge.metrics.test_llm_suites import result
from tests.judge.scripted_encoder import ScriptedEncoder
from tests.judge.small_studies import Scripted, ScriptedSettings, store

PAPER = "ragas-paper-v1"
STATEMENTS = "1. It rains.\n2. It is cold."
PASSAGES = ("One is here. Two is here.", "Three is here. Four")


@pytest.mark.parametrize(
    ("key", "answers", "value"),
    [
        (
            "ragas-faithfulness",
            [STATEMENTS, "It rains: said. It is cold: not.\nFinal verdict: Yes. No."],
            1 / 2,
        ),
        (
            "ragas-faithfulness",
            ["It rains.\nIt is cold.", "Final verdicts for each statement in order:\n1. No\n2. No"],
            0.0,
        ),
        (
            "ragas-faithfulness",
            [STATEMENTS, "statement 1: said\nVerdict: Yes\nstatement 2: said\n**Verdict:** Yes"],
            1.0,
        ),
        ("ragas-answer-relevance", ["When does\nit rain?", "0.25"], 0.25),
        # Two of four sentences, in other capitals, and one that is not in the passages.
        ("ragas-context-relevance", ["- two is HERE.\n- Four\n- Five is here."], 2 / 4),
        ("ragas-context-relevance", ['"Insufficient Information."'], 0.0),
    ],
)
def test_values_are_those_computed_by_hand(key: str, answers: list[str], value: float) -> None:
    found = result(key, *answers, passages=PASSAGES, prompts=PAPER)
    assert isinstance(found, MetricValue)
    assert found.value == pytest.approx(value, abs=1e-12)


CUT = Answer("It rains.", finish_reason="length")


@pytest.mark.parametrize(
    ("key", "answers", "reason"),
    [
        ("ragas-faithfulness", ["Here are the statements:\nIt rains."], "statements_unreadable"),
        ("ragas-faithfulness", ["[]"], "no_statements"),
        ("ragas-faithfulness", [CUT], "statements_truncated"),
        ("ragas-faithfulness", [STATEMENTS, "Final verdict: Yes."], "labels_unreadable"),
        ("ragas-faithfulness", [STATEMENTS, "Final verdict: Yes, mostly."], "labels_unreadable"),
        ("ragas-faithfulness", ["1. It rains.\n3. It is cold."], "statements_misnumbered"),
        ("ragas-faithfulness", [STATEMENTS, "Verdict: Yes\nVerdict: No idea"], "labels_unreadable"),
        ("ragas-answer-relevance", [" "], "questions_unreadable"),
        ("ragas-context-relevance", [CUT], "sentences_truncated"),
        ("ragas-context-relevance", ["<think>\nWhich?"], "sentences_unreadable"),
    ],
)
def test_what_cannot_be_read_is_missing(key: str, answers: list[str | Answer], reason: str) -> None:
    assert result(key, *answers, prompts=PAPER) == MissingValue(reason)


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("1. It is stated.\n2. It is not.\n\nFinal verdict: Yes. No.", 1),
        ("**Final verdicts for each statement in order:** 1. Yes, 2. No", 1),
        ("Yes. No.", 1),
        ("yes, yes", 2),
        ("1. Yes\n2. No", 1),
        ("Statement 1: Yes\nStatement 2: **Yes**", 2),
        ("1. It says so. Verdict: Yes\n2. Verdict: **No**", 1),
        ("Final verdict for each statement in order (2): Yes. No.", 1),
        ("Final verdicts (2):\n1. Yes\n２. No", 1),
        ("Final verdict for each statement in order (3): Yes. No.", None),
        ("Final verdict (2): Yes, (1): No", None),
        ("Yes.", None),
        ("Yes. No. Yes.", None),
        ("1. Yes\n3. No", None),
        ("1. Yes\n1. No", None),
        ("Final verdict: 2. Yes, 1. No", None),
        ("1. Verdict: Yes\n3. Verdict: Yes", None),
        ("Yes, there is no doubt.", None),
        ("Final verdict: Yes, partly.", None),
        ("Ja. Nein.", None),
        ("I cannot say.", None),
    ],
)
def test_answers_have_one_verdict_for_each_statement_in_order(
    text: str, supported: int | None
) -> None:
    found = result("ragas-faithfulness", STATEMENTS, text, prompts=PAPER)
    if supported is None:
        assert found == MissingValue("labels_unreadable")
    else:
        assert found == MetricValue(supported / 2, parts={"counted": supported, "of": 2})


def test_sentences_in_other_words_are_no_extract() -> None:
    found = result("ragas-context-relevance", "It is here. So is that.", prompts=PAPER)
    assert found == MissingValue("not_verbatim", {"not_verbatim": 2})


def test_only_what_the_paper_defines_has_its_words() -> None:
    for key in ("ragas-context-recall", "ragas-context-precision", "ragas-answer-correctness"):
        with pytest.raises(StudyError, match=f"no prompt version '{PAPER}'; it has ragas-own-v1"):
            load_metric(key, PAPER)


def test_equal_answers_to_different_queries_are_asked_about_once_each(
    study: Study, scripted: type[Scripted], encoder: ScriptedEncoder
) -> None:
    # The prompt has the answer alone, so it is the same for all three queries.
    for n in (1, 2, 3):
        store(study, {"query_id": f"q{n}", "query": f"Q{n} ?", "system": "A", "response": "Yes."})
    scripted.answer = staticmethod(lambda _: Answer("Q2 ?"))
    settings = ScriptedSettings(metric="ragas-answer-relevance", prompts=PAPER, encoder="made-up")
    outcome = judge_study(study, settings)
    assert (outcome.judged, outcome.answered, outcome.missing) == (3, 3, {})
    # The cosines are 1/2, 1 and 1/2, from -1 to 1.
    values = study.score_table().sort_values("query_id")["value"]
    assert values.tolist() == pytest.approx([75, 100, 75])
    assert encoder.asked
