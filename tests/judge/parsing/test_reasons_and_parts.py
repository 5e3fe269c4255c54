"""What stands beside a score without contesting it, and what contests it all the same."""

import pytest

from judge.parsing.parse_answer import parse_answer
from study.base.scales import Scale


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        # Counts and parts beside a line that says that it is the score.
        ("Correct: 1\nIncorrect: 3\n\n**Score:** 25", 25),
        ("Flow within sentences: 95/100\nFlow between them: 84/100\n\nScore: 89", 89),
        ("Score: 75\n\n- Facts recalled: 15\n- Facts missing: 5", 75),
        ('{"facts": 11, "recalled": 7, "score": 64}', 64),
        ('{"parts": {"facts": 50, "names": 60}, "overall_score": 57}', 57),
        ('{"facts": [{"text": "born 1867", "present": true}], "score": 60}', 60),
        (
            "| Part | Points (max) |\n|---|---|\n| Facts | 44 (50) |\n| **Total** | **84 (100)** |",
            84,
        ),
        ("| Part | Weight | Score |\n|---|---|---|\n| Flow | 60 | 50 |\n| Total | 100 | 84 |", 84),
        ("| Question | Score |\n|---|---|\n| Is it relevant? | 90 |", 90),
        ("Score: 75 (3 of 4 facts)", 75),
        ("Score: 75; 3 of 4 facts are named.", 75),
        ("<reason>3 of 4</reason><final_score>75</final_score>", 75),
        ("Score: 40\n\nThe response says 35 instead of 42.", 40),
        ("Score: 85\n\nIt should be noted that 3 of 4 dates are right and 1 is not.", 85),
        ("Score: 55\n\nHalf of the text is filler; the other half is useful.", 55),
        ("| Response | Recall (0-100) |\n|---|---|\n| 1 | 74 |", 74),
        ("Score: <b>88</b>", 88),
        ("65/100\n\nIt is right about the rest, but 12 V and 5 A are wrong.", 65),
        # The last sentence of a reason with digits.
        ("3 of 5 → Score: 60", 60),
        ("It is about another treaty (1763 instead of 1783), so it is wrong: 12/100.", 12),
        ("It names 3 of 4 causes, which justifies a score of 75.", 75),
        ("It names 3 of 4 causes. I arrive at 75.", 75),
        ("It names 3 of 4 causes. A score of 75 seems fair.", 75),
        ("It names 3 of 4 causes. **75**", 75),
        ("It names 3 of 4 causes.\n=> 75", 75),
        ("It names 3 of 4 causes, and so the question relevance comes to 75.", 75),
        ("On the scale from 0 to 100 I rate the response at 75.", 75),
        ("Der Text nennt 3 von 4 Gründen. Ich würde daher 72 von 100 Punkten vergeben.", 72),
        ("La respuesta incluye 5 de los 6 datos, así que le asigno un 85.", 85),
        ("Elle cite 3 des 5 faits. Je lui attribue donc la note de 80.", 80),
        ("该回答涵盖了4个要点中的3个,评分为75分。", 75),
        ("4つのうち3つに答えています。よって75点とします。", 75),
    ],
)
def test_digits_of_a_reason_and_parts_do_not_contest_a_score(answer: str, value: float) -> None:
    assert parse_answer(answer, Scale()).value == value


@pytest.mark.parametrize(
    "answer",
    [
        "Contextual coherence: 85\nQuestion relevance: 60",
        "Score: 85\n\nEdit: 70",
        "Overall: 60\nScore: 80",
        "85\n\nCompleteness: 60%",
        '{"score": 80, "alternative": 60}',
        '{"score": 80, "facts": {"score": 40}}',
        '{"score": 4, "scale": 5}',
        '{"score": 55, "explanation": "I give it 85 out of 100."}',
        "It is right. The score is 85?",
        "<score>80</score>\n<reason>3 of 4</reason>\n<score>60</score>",
        "Score: 80 (I am not sure, it could be 60)",
        "I would give it a 70. However, since the date is wrong, 50.",
        "First I would say 70, but then again 60/100.",
        "85? Hmm. 70.",
        "Between 60 and 70, I'd say 65.",
        "If it had sources, I'd give it a 90.",
        "Si tuviera fuentes, le daría un 90.",
        "A perfect response would get 100/100.",
        "It doesn't deserve 100/100.",
        "The response scores itself 95/100.",
        "The response is about a film that receives a score of 90.",
        "It reports that the team's final score is 85.",
        "The response wants the score to be 100/100.",
        "According to the response, its score is 95/100.",
        "I'm sorry, I can't. Score: 50",
    ],
)
def test_another_score_a_correction_a_condition_or_a_refusal_contests_it(answer: str) -> None:
    assert parse_answer(answer, Scale()).value is None


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Recall = 3/4 = 0.75.\n\nScore: 75", 75),
        ("Recall = 0.5.\n\nScore: 75", None),
        ("It has one fact.\n\nScore: 1\n\nIt is right.\n\nScore: 100", None),
        ("Score: 0.75", None),
    ],
)
def test_a_share_of_the_scale_is_no_other_score(answer: str, value: float | None) -> None:
    assert parse_answer(answer, Scale(), form="rationale").value == value


@pytest.mark.parametrize("answer", ["Correct: 3", "Relevant: 4", "Incorrect (2)"])
def test_small_numbers_behind_a_grade_in_words_may_be_counts(answer: str) -> None:
    assert parse_answer(answer, Scale()).value is None
    assert parse_answer(f"{answer.rstrip(')')}0", Scale()).value is not None
