"""The choice between two responses, as models write it."""

import pytest

from judge.parsing.choices import read_choice

ANSWERS = [
    ("1", -1),
    ("2", 1),
    ("tie", 0),
    ("Tie.", 0),
    ("[1]", -1),
    ("[[2]]", 1),
    ("(2)", 1),
    ("**2**", 1),
    ("1.", -1),
    ("Response 1", -1),
    ("Response 2.", 1),
    ("response 2 is better.", 1),
    ("Answer: 2", 1),
    ("Better: 1", -1),
    ("The better response is 2.", 1),
    ("The better response is Response 2.", 1),
    ("Winner: Response 1", -1),
    ("Final answer: tie", 0),
    ("1\n\nResponse 1 addresses the question.", -1),
    ("2 - it cites the passages.", 1),
    ("2. Response 2 is more direct.", 1),
    ("Response 2 is better because it answers the question.", 1),
    ("I would choose response 1.", -1),
    ("Both responses are equally good.", 0),
    ("Neither response is better.", 0),
    ("Neither is better than the other.", 0),
    ("Response 1 is better written, but Response 2 is better grounded.", None),
    ("Response 1 is better in detail, but Response 2 is better overall.", None),
    ("12", None),
    ("1/2", None),
    ("1 or 2", None),
    ("0", None),
    ("3", None),
    ("", None),
    ("I cannot compare these.", None),
    ("Response 1 is not better.", None),
    ('{"choice": 1}', -1),
    ('{"better": "2"}', 1),
    ('{"winner":"tie"}', 0),
    ('```json\n{"answer": "Response 2"}\n```', 1),
    ("<think>Response 1 is better</think>\n2", 1),
    ("Response 1 says 2 things.", None),
    ("Response 1 gives 5 hours, response 2 gives 6.\n\nAnswer: 2", 1),
    ("Response 1 is vague. Response 2 states the date. Therefore, response 2 is better.", 1),
    ("1 is better", -1),
    ("The first response is better.", -1),
    ("the second", 1),
    ("1, because it is on topic", -1),
    ("1\n2", None),
    ("Answer: 1\nWait, answer: 2", None),
    ("A", None),
    ("Response 1 > Response 2", None),
    ("1 > 2", None),
    ("Overall, Response 1 is the better response.", -1),
    ("If accuracy matters, response 2 is better; otherwise response 1 is better.", None),
    ("Question Relevance: 2", 1),
    ("Choice: [2]", 1),
    ("<answer>1</answer>", -1),
    ("\\boxed{2}", 1),
    ("Is response 1 better? No.", None),
    ("Response 1\n", -1),
    ("tie (both answer)", 0),
    ("Tie - both give the date.", 0),
    ("Verdict: Response 1 wins.", -1),
    ("Response A", None),
    ("Both", 0),
    ("Response 1 is clearly better than Response 2.", -1),
    ("It is a tie.", 0),
    ("It's a tie.", 0),
    ("Response 2 is better, but only slightly.", 1),
]


@pytest.mark.parametrize(("answer", "value"), ANSWERS)
def test_an_answer_is_read_as_a_careful_reader_would(answer: str, value: float | None) -> None:
    parsed = read_choice(answer, None, ("Question Relevance",))
    assert parsed.value == value
    assert (parsed.reason is None) == (value is not None)


@pytest.mark.parametrize(
    ("answer", "finish_reason", "reason"),
    [
        ("", "stop", "empty_answer"),
        (None, "stop", "empty_answer"),
        ("Response 1 addresses", "length", "truncated"),
        ("<think>Response 1 is better", "length", "truncated"),
        ("I cannot compare these.", "stop", "refusal"),
        ("Response 1 is better in detail, but response 2 is on topic and is better.", "stop", None),
        ("The answer is 1 or 2.", "stop", "several_scores"),
        ("Response 1 is better in style, but response 2 is better in detail.", "stop",
         "several_scores"),
        ("Neither the question nor the passages matter here.", "stop", "no_score"),
    ],
)  # fmt: skip
def test_an_answer_without_a_choice_has_a_reason(
    answer: str | None, finish_reason: str, reason: str | None
) -> None:
    assert read_choice(answer, finish_reason).reason == reason


def test_a_choice_that_a_line_break_follows_counts_although_the_answer_is_cut() -> None:
    assert read_choice("2\n\nIt states the date that", "length").value == 1


def test_the_last_sentence_decides_where_the_answer_reasons_first() -> None:
    answer = "Response 1 is vague. Response 2 names the year. So response 2 is the better response."
    assert read_choice(answer).value == 1
